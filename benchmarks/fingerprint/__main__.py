"""`python -m benchmarks.fingerprint`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import fingerprint
from benchmarks.fingerprint.comparing import comparison, report
from benchmarks.fingerprint.running import ROOT, collect, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the hashes, or compare them; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fingerprint", description=fingerprint.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout to compare with")
    parser.add_argument("--only", action="append", default=[], metavar="DOOR", help="may be given again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--as-in-0.1.0", action="store_true", dest="old", help="search with its settings")
    parser.add_argument("--numbers", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.numbers is not None:
        write(chosen.only, chosen.seed, chosen.numbers)
        return 0
    here = collect(ROOT, chosen.only, chosen.seed, as_in_0_1_0=chosen.old)
    if chosen.against is None:
        print(report(here))
        return int(any(p.error for p in here.values()))
    text, same = comparison(here, collect(chosen.against, chosen.only, chosen.seed, as_in_0_1_0=chosen.old))
    print(text)
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
