"""How outcomes, probabilities and counts look, the same at every door."""

import math
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

# Blue, vermilion, orange and grey: told apart with every kind of colour vision, on white and on black.
SAFE, FAILED, CRASHED, NEUTRAL = "#0a84d0", "#d55e00", "#e69f00", "#666666"

NOT_SEEN = "no value was seen yet"
DIGITS = 5  # of a number, where nothing asks for more
FEWEST = 4  # beside an axis
EXACT = 12  # of a number that somebody wrote
ALL = 17  # that float64 has
LONGEST = 1e12  # from which on a number is not written with all digits before its point
SURE = 0.9999  # a probability above it is not told apart from others above it


def number(value: float, digits: int = DIGITS) -> str:
    """A number with so many digits, and never with fewer than stand before its point.

    Examples
    --------
    >>> number(3.14159265), number(101325.4), number(2500.03994, 8)
    ('3.1416', '101325', '2500.0399')
    """
    whole = len(f"{abs(value):.0f}") if abs(value) < LONGEST else 0
    return f"{value:.{max(digits, whole)}g}"


def digits_within(low: float, high: float) -> int:
    """How many digits the numbers of a range need: one more for each power of ten that its ends are above it.

    Examples
    --------
    >>> digits_within(500.0, 4000.0), digits_within(2500.0, 2500.4)
    (5, 8)
    """
    more = math.floor(math.log10(max(abs(low), abs(high)) / (high - low)))
    return min(DIGITS + max(0, more), ALL)


def told_apart(values: Sequence[float]) -> list[str]:
    """Numbers beside an axis: with four digits, or with as many as make different numbers look different.

    Examples
    --------
    >>> told_apart([0.0, 2.5, 5.0]), told_apart([2500.0, 2500.2, 2500.4])
    (['0', '2.5', '5'], ['2500', '2500.2', '2500.4'])
    """
    for digits in range(FEWEST, ALL):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            return texts
    return [f"{value:.{ALL}g}" for value in values]


def percent(p: float) -> str:
    """A probability in percent with four digits. A model is never certain: nothing is rounded up to 100 %.

    Examples
    --------
    >>> percent(0.97), percent(0.9995), percent(1.0)
    ('97 %', '99.95 %', '>99.99 %')
    """
    return ">99.99 %" if p > SURE else f"{100.0 * p:.4g} %"


def safety(p: float) -> str:
    """P(safe) as a sentence says it.

    Examples
    --------
    >>> safety(0.97), safety(1.0)
    ('P(safe) = 97 %', 'P(safe) > 99.99 %')
    """
    return "P(safe) > 99.99 %" if p > SURE else f"P(safe) = {percent(p)}"


def count(n: int, one: str, many: str | None = None) -> str:
    """So many of something: 1 trial, 2 trials."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def all_are(n: int, noun: str) -> str:
    """All 20 trials are, or the only trial is."""
    return f"the only {noun} is" if n == 1 else f"all {n} {noun}s are"


def as_word(path: Path) -> str:
    """A path as one word of a command, to be typed or pasted into a shell.

    A byte that is no letter is written as bash and zsh read it: its number between $' and '.

    Examples
    --------
    >>> as_word(Path("drill.toml")), as_word(Path("my drill.toml")), as_word(Path("-drill.toml"))
    ('drill.toml', "'my drill.toml'", './-drill.toml')
    """
    word = f"./{path}" if str(path).startswith("-") else str(path)
    return shlex.quote(word) if word.isprintable() else f"$'{_in_numbers(os.fsencode(word))}'"


def _in_numbers(word: bytes) -> str:
    """A word with the octal number of each byte that is no letter of ASCII, or means something to a shell."""
    return "".join(chr(b) if 32 <= b < 127 and chr(b) not in "\\'" else f"\\{b:03o}" for b in word)
