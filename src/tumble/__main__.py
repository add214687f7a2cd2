"""The command `tumble`, and `python -m tumble`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C while it is still being loaded gets the same answer as later."""
    try:
        from tumble.cli import main as run
    except KeyboardInterrupt:
        print("tumble: stopped; run it again to go on", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
