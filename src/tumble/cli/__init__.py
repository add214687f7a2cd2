"""The command line: `tumble init | run | ask | tell | skip | try | void | amend | status | …`

Exit codes: 0 done; 2 the input can't be used (file, key and remedy are named, nothing was written); 3 the rig
needs someone to look at it; 4 nothing is left to ask for; 5 done, but not all of its output could be written;
130 stopped by Ctrl-C, run it again to go on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tumble.cli.codes import STOPPED


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; Ctrl-C while it is being loaded gets the same answer."""
    try:
        from tumble.cli.app import run
    except KeyboardInterrupt:
        print("tumble: stopped; run it again to go on", file=sys.stderr)
        sys.exit(STOPPED)
    run(arguments)
