"""Random damage to bytes, to JSON and to the text of a formula."""

from __future__ import annotations

import copy
import math
import random
import re
from typing import Any

TOKENS = [
    *(
        b"\0",
        b"\x1b[2J",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        "\u2028\u202e".encode(),
        b"\r",
        b"\n",
    ),
    *(b"nan", b"-inf", b"1e999", b"-0.0", b"9" * 400, b"9" * 5000, b"1" + b"0" * 30, b"0x", b"true", b"null"),
    *(b"[" * 3000, b"{a=" * 1500, b'{"a":' * 1500, b"x" * 20_000),
    *(b'"', b"{}", b"=", b",", b"%00", b"@", b":", b"/", b"?"),
]
PIECES = [
    *(
        b"9**9**9**9**9",
        b" ** 1e308",
        b" ** -1e308",
        b"1e308 * 10",
        b" / 0",
        b"0 ** 0",
        b"** 0.5",
        b"-",
        b"**",
    ),
    *(b".__class__", b".__class__.__mro__[1].__subclasses__()", b'__import__("os")', b"lambda: speed", b"()"),
    *(b"open('x')", b"exec('1')", b"speed.real", b"speed[0]", b"[x for x in speed]", b":=", b"{speed}"),
    *(b"(" * 40, b"(" * 5000, b")" * 29, b"-" * 25, b"-" * 5000, b"abs(" * 29, b"2**" * 29, b"1+" * 400),
    *(
        b"speed",
        b" flutes",
        b"`speed`",
        b" and ",
        b" not ",
        b" <= ",
        b"!=",
        b"speed <= 1000 and ",
        b"#",
        b";",
    ),
    *(b"True", b"None", b"pi", b"1_000", b"0x1F", b"1j", b"07", b"f'{speed}'", b"'" * 3),
    *(c.encode() for c in ("\u0663", "\u2264", "\uff11", "\u00b2", "sp\u0435ed")),
]
WORD = re.compile(rb"[\w.]+|[-+*/<>=!]+|\S")
LIKE = {  # what may stand for a number, a name, a function, an operator, a comparison
    rb"[\d.]+": [
        b"0",
        b"1e-300",
        b"-3",
        b"1e300",
        b"9**9**9**9",
        b"speed",
        b"(1 / 0)",
        b"(2 - flutes)",
        b"pi",
    ],
    rb"speed|feed|flutes": [b"speed", b"feed", b"flutes", b"3", b"-flutes", b"(speed)", b"`feed`", b"bit"],
    rb"sqrt|abs|log10|exp|sin": [b"sqrt", b"log", b"tan", b"atan", b"exp", b"-", b"max", b"eval"],
    rb"[-+*/]+": [b"+", b"-", b"*", b"/", b"**", b"- -", b"* -", b"%", b"//"],
    rb"<=?|>=?|==|!=": [b"<=", b">=", b"<", b">", b"==", b"!=", b"=", b"<= 400 <="],
    rb"and|or": [b"and", b"or", b"and not", b"&"],
}
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, math.nan, math.inf, -math.inf, 10**400, 2**60, 5e-324, 1e308),
    *("", "text", "nan", "\0", "\ud800", "\x1b[2J", "x" * 5000),
    *([], [[]], {}, [None], {"a": {}}, [1, "a", None]),
]


def mutate_bytes(source: bytes, rng: random.Random) -> bytes:
    """One to four of: a flipped bit, a span deleted, doubled or moved, something odd put in or in place."""
    data = bytearray(source)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        start = rng.randrange(len(data) + 1)
        end = min(start + rng.choice((1, 1, 2, 8, 40)), len(data))
        match rng.randrange(6):
            case 0:
                if start < len(data):
                    data[start] ^= 1 << rng.randrange(8)
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = data[start:end]
            case 3:
                span = data[start:end]
                del data[start:end]
                place = rng.randrange(len(data) + 1)
                data[place:place] = span
            case 4:
                data[start:start] = rng.choice(TOKENS)
            case _:
                data[start:end] = rng.choice(TOKENS)
    return bytes(data)


def mutate_known(source: bytes, rng: random.Random) -> bytes:
    """The text of a formula with damaged bytes, with odd pieces put in or in place, or with other words."""
    match rng.randrange(3):
        case 0:
            return mutate_bytes(source, rng)
        case 1:
            data = bytearray(source)
            for _ in range(rng.choice((1, 1, 2, 3))):
                start = rng.randrange(len(data) + 1)
                data[start : start + rng.choice((0, 0, 1, 5, 10))] = rng.choice(PIECES)
            return bytes(data)
    words = WORD.findall(source)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        place = rng.randrange(len(words))
        alike = [others for kind, others in LIKE.items() if re.fullmatch(kind, words[place])]
        words[place] = rng.choice(alike[0]) if alike else words[place]
    return b" ".join(words)


def mutate_json(source: Any, rng: random.Random) -> Any:
    """One to three values, somewhere inside, that are dropped, doubled, deepened, or of another type."""
    whole = copy.deepcopy(source)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(whole))
        if not places:
            break
        holder, key = rng.choice(places)
        match rng.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.insert(key, holder[key])
            case 2:
                holder[key] = [holder[key]] if rng.random() < 0.5 else _deep(rng.choice((3, 50, 500)))
            case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                holder[key] = holder[key] * rng.choice((-1, 0, 1e6, 1e-6)) + rng.choice((0, 1, 0.5))
            case _:
                holder[key] = copy.deepcopy(rng.choice(VALUES))
    return whole


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Every place inside: what holds it, and its key or index."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    found = [(node, key) for key in keys]
    for _, key in list(found):
        found += _places(node[key]) if not _is_deep(node[key]) else []
    return found


def _is_deep(node: Any, limit: int = 20) -> bool:
    while limit and isinstance(node, list) and node:
        node, limit = node[0], limit - 1
    return not limit


def _deep(levels: int) -> list[Any]:
    node: list[Any] = []
    for _ in range(levels):
        node = [node]
    return node
