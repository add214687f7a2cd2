"""`python -m tumble.cli`, the same as `tumble`."""

from tumble.cli import main

main()
