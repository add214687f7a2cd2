"""`python -m tumble`, the same as `tumble`."""

from tumble.cli import main

if __name__ == "__main__":
    main()
