"""`python -m tumble`, the same as the command `tumble`."""

from tumble.cli import main

main()
