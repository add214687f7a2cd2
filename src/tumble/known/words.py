"""The words of a known constraint, and one message for what can't be read: the sentence, and where it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias, cast

from tumble.errors import InputError

Kind: TypeAlias = Literal["number", "text", "name", "sign", "end"]
LONGEST = 1000  # characters of a constraint
SHOWN = 60  # characters that a message shows of it
WORD = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<text>"[^"]*"|'[^']*')
      | (?P<name>[^\W\d]\w*|`[^`]+`)
      | (?P<sign>\*\*|<=|>=|==|!=|[-+*/()<>,])
    )""",
    re.VERBOSE,
)
HINTS = {
    "^": "a power is written **",
    "=": "write <= or >=, or == for a choice",
    "≤": "write <=",
    "≥": "write >=",
    "&": "write 'and'",
    "|": "write 'or'",
    "[": "a parameter is written by its name alone",
    ".": "a name with other characters stands in backticks: `feed.rate`",
}


@dataclass(frozen=True)
class Word:
    """A word of a constraint, and its place: `kind`, `text` without quotes, `start` and `end`."""

    kind: Kind
    text: str
    start: int
    end: int
    quoted: bool = False  # a name in backticks is never a function or a key word


def refuse(text: str, start: int, end: int, what: str) -> NoReturn:
    """Raise an `InputError`: the sentence `what`, and the part of `text` that it is about, marked."""
    first = max(0, min(start - SHOWN // 3, len(text) - SHOWN))
    shown = "".join(c if c.isprintable() else " " for c in text[first : first + SHOWN])
    left = "…" if first else ""
    marks = " " * (len(left) + start - first) + "^" * max(1, min(end, first + SHOWN) - start)
    right = "…" if first + SHOWN < len(text) else ""
    raise InputError(f"{what}\n    {left}{shown}{right}\n    {marks}")


def split(text: str) -> list[Word]:
    """The words of a constraint, with an end; `InputError` where a character belongs to none."""
    if len(text) > LONGEST:
        refuse(text, LONGEST, LONGEST + 1, f"a known constraint has at most {LONGEST} characters: split it")
    words, at = [], 0
    while match := WORD.match(text, at):
        kind = cast(Kind, match.lastgroup)
        start, at = match.span(kind)
        found = match[kind]
        quoted = found[0] in "\"'`"
        words.append(Word(kind, found[1:-1] if quoted else found, start, at, quoted))
    rest = len(text) - len(text[at:].lstrip())
    if rest < len(text):
        hint = HINTS.get(text[rest], "a known constraint has names, numbers, arithmetic and comparisons")
        if text[rest] in "\"'`":
            hint = "the closing quote is missing"
        refuse(text, rest, rest + 1, f"can't read {text[rest]!r} here: {hint}")
    return [*words, Word("end", "", len(text), len(text))]
