"""The codes that a command exits with, beside 0; `tumble --help` lists them."""

BAD_INPUT, FAULT, NOTHING_LEFT, NOT_SHOWN, STOPPED = 2, 3, 4, 5, 130
