"""From the text of a known constraint to what it means. Python's own evaluation is never used.

    constraint = every ("or" every)*
    every      = comparison ("and" comparison)*
    comparison = sum (("<=" | ">=" | "<" | ">" | "==" | "!=") sum)*
    sum        = product (("+" | "-") product)*
    product    = sign (("*" | "/") sign)*
    sign       = ("+" | "-") sign | power
    power      = atom ["**" sign]
    atom       = number | text | parameter | function "(" sum ("," sum)* ")" | "(" constraint ")"

Operators bind as they do in Python. `and` binds before `or`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

import numpy as np

from tumble import checks
from tumble.errors import InputError
from tumble.known.nodes import All, Any, Array, Call, Chain, Chosen, Column, Columns, Compared, Constant, Node
from tumble.known.words import Word, refuse, split
from tumble.parameters import Categorical, Choice, Fixed, Float, Parameter

FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log10": np.log10,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
SEVERAL = ("min", "max")  # functions of two or more numbers
VALUES: Mapping[str, Choice] = {"True": True, "true": True, "False": False, "false": False, "None": None}
ORDER = ("<=", ">=", "<", ">")
COMPARISONS = (*ORDER, "==", "!=")
DEEPEST = 30  # brackets inside brackets
EXAMPLE = 'write for example "speed * feed <= 900"'
PartKind: TypeAlias = Literal["number", "choice", "value", "truth"]
ARTICLES: Mapping[PartKind, str] = {
    "number": "a number", "choice": "a choice", "value": "a choice", "truth": "a comparison"
}  # fmt: skip


@dataclass(frozen=True)
class KnownConstraint:
    """A constraint between parameters that is known beforehand.

    Parameters
    ----------
    text
        As it was written.
    names
        The parameters that it names.
    root
        What it means, as a function of the values.
    """

    text: str
    names: tuple[str, ...]
    root: Node = field(repr=False, compare=False)

    def excess(self, columns: Columns) -> Array:
        """By how much each setting misses it; at most 0 where it holds.

        Parameters
        ----------
        columns
            The values (M,) by name; for a categorical of other things than numbers, the place of the choice.

        Returns
        -------
        Array
            Shape (M,); infinite where it can't be computed.
        """
        count = len(next(iter(columns.values())))
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(self.root(columns), (count,)))


@dataclass(frozen=True)
class Part:
    """A part of the text that was read, and where it stands."""

    kind: PartKind
    node: Node
    start: int
    end: int
    name: str = ""  # of the parameter, where it is one
    value: Choice = None  # where it is a choice, or a number, that is written out
    exact: bool = True  # whether no real number is involved


def read_known(text: object, parameters: Mapping[str, Parameter]) -> KnownConstraint:
    """The constraint that a text describes.

    Parameters
    ----------
    text
        A comparison of parameters: ``"speed * feed <= 900"``.
    parameters
        The parameters that it may name.

    Returns
    -------
    KnownConstraint
        What it means.

    Raises
    ------
    InputError
        If it can't be read; the message marks the word.

    Examples
    --------
    >>> from tumble.space import Float
    >>> read_known("x <= 2 * y", {"x": Float(0, 1), "y": Float(0, 1)}).names
    ('x', 'y')
    """
    if not isinstance(text, str):
        raise InputError(f"a known constraint must be text, not {checks.show(text)}; {EXAMPLE}")
    if not text.strip():
        raise InputError(f"a known constraint is empty; {EXAMPLE}")
    return Parser(text, parameters).whole()


class Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.text, self.parameters = text, parameters
        self.words, self.at, self.depth = split(text), 0, 0
        self.names: dict[str, None] = {}

    # -- the grammar, top down ---------------------------------------------------------------------------

    def whole(self) -> KnownConstraint:
        """The constraint."""
        part = self.constraint()
        if self.word.kind != "end":
            self.unexpected()
        if part.kind != "truth":
            what = "nothing is compared: a known constraint has <=, >=, < or >"
            refuse(self.text, part.start, part.end, what)
        if not self.names:
            refuse(self.text, 0, len(self.text), "no parameter is named, so that there is nothing to keep")
        return KnownConstraint(self.text, tuple(self.names), part.node)

    def constraint(self) -> Part:
        """Comparisons of which one must hold."""
        return self.joined("or", lambda: self.joined("and", self.comparison, All), Any)

    def joined(self, key: str, read: Callable[[], Part], join: type[All] | type[Any]) -> Part:
        """Comparisons with a key word between them."""
        parts = [read()]
        while self.word.kind == "name" and self.word.text == key and not self.word.quoted:
            self.step()
            parts.append(read())
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            if part.kind != "truth":
                what = f"{key!r} stands between comparisons, not beside {ARTICLES[part.kind]}"
                refuse(self.text, part.start, part.end, what)
        return Part("truth", join(tuple(p.node for p in parts)), parts[0].start, parts[-1].end)

    def comparison(self) -> Part:
        """A sum, or sums with comparisons between them."""
        parts, signs = [self.sum()], []
        while self.word.kind == "sign" and self.word.text in COMPARISONS:
            signs.append(self.step())
            parts.append(self.sum())
        if not signs:
            return parts[0]
        pairs = zip(parts, signs, parts[1:], strict=False)
        return Part(
            "truth", All(tuple(self.compared(*pair) for pair in pairs)), parts[0].start, parts[-1].end
        )

    def sum(self) -> Part:
        """Products that are added."""
        return self.chain({"+": np.add, "-": np.subtract}, self.product)

    def product(self) -> Part:
        """Factors."""
        return self.chain({"*": np.multiply, "/": np.divide}, self.sign)

    def chain(self, operations: Mapping[str, np.ufunc], read: Callable[[], Part]) -> Part:
        """Numbers with operators of one rank between them."""
        parts, used = [read()], []
        while self.word.kind == "sign" and self.word.text in operations:
            used.append(operations[self.step().text])
            parts.append(read())
        if not used:
            return parts[0]
        rest = tuple(zip(used, [p.node for p in parts[1:]], strict=True))
        return self.number(Chain(parts[0].node, rest), parts)

    def sign(self) -> Part:
        """A power, or one with a sign."""
        if self.word.kind != "sign" or self.word.text not in "+-":
            return self.power()
        word = self.step()
        inner = self.deeper(word, self.sign)
        if inner.kind == "number" and isinstance(inner.value, float) and word.text == "-":
            return Part("number", Constant(-inner.value), word.start, inner.end, value=-inner.value)
        node: Node = Call(np.negative, (inner.node,)) if word.text == "-" else inner.node
        return self.number(node, [inner], word.start)

    def power(self) -> Part:
        """An atom, or one to the power of another; a ** b ** c is a ** (b ** c)."""
        base = self.atom()
        if self.word.kind != "sign" or self.word.text != "**":
            return base
        exponent = self.deeper(self.step(), self.sign)
        return self.number(Call(np.power, (base.node, exponent.node)), [base, exponent])

    def atom(self) -> Part:
        """What has no operator of its own."""
        word = self.word
        if word.kind == "number":
            self.step()
            value = float(word.text)
            if not np.isfinite(value):
                refuse(self.text, word.start, word.end, "the number is too large for floating point")
            return Part("number", Constant(value), word.start, word.end, value=value)
        if word.kind == "text":
            self.step()
            return Part("value", Constant(np.nan), word.start, word.end, value=word.text)
        if word.kind == "name":
            return self.named()
        if word.text != "(":
            self.unexpected()
        part = self.deeper(self.step(), self.constraint)
        closing = self.expect(")")
        return Part(part.kind, part.node, word.start, closing.end, part.name, part.value, part.exact)

    def named(self) -> Part:
        """A parameter, a function, or one of the words of VALUES."""
        word = self.step()
        if not word.quoted and self.word.text == "(" and self.word.kind == "sign":
            return self.call(word)
        if word.text in self.parameters:
            return self.parameter(word, self.parameters[word.text])
        if word.text in VALUES and not word.quoted:
            return Part("value", Constant(np.nan), word.start, word.end, value=VALUES[word.text])
        if word.text == "pi" and not word.quoted:
            return Part("number", Constant(float(np.pi)), word.start, word.end, value=float(np.pi))
        self.unknown(word)

    def parameter(self, word: Word, parameter: Parameter) -> Part:
        """A parameter: a number, or one of its choices."""
        self.names[word.text] = None
        node, place = Column(word.text), (word.start, word.end)
        choices = choices_of(parameter)
        if choices is not None and not all(map(is_number, choices)):
            return Part("choice", node, *place, name=word.text)
        return Part("number", node, *place, name=word.text, exact=not isinstance(parameter, Float))

    def call(self, word: Word) -> Part:
        """A function and its arguments."""
        if word.text not in FUNCTIONS:
            self.unknown_function(word)
        arguments = [self.deeper(self.step(), self.sum)]
        while self.word.kind == "sign" and self.word.text == ",":
            self.step()
            arguments.append(self.sum())
        closing = self.expect(")")
        if (len(arguments) > 1) != (word.text in SEVERAL):
            needed = "two numbers or more" if word.text in SEVERAL else "one number"
            what = f"{word.text} takes {needed}, but {len(arguments)} came"
            refuse(self.text, word.start, closing.end, what)
        node = Call(FUNCTIONS[word.text], tuple(a.node for a in arguments))
        return self.number(node, arguments, word.start, closing.end, exact=word.text in ("abs", *SEVERAL))

    # -- what the parts come to --------------------------------------------------------------------------

    def number(
        self, node: Node, parts: list[Part], start: int | None = None, end: int | None = None,
        exact: bool = True,
    ) -> Part:  # fmt: skip
        """A number that is made of numbers; anything else is refused."""
        for part in parts:
            if part.kind != "number":
                what = f"arithmetic needs a number, but {ARTICLES[part.kind]} came"
                if part.kind in ("choice", "value"):
                    what += '; a choice is compared: material == "steel"'
                refuse(self.text, part.start, part.end, what)
        exact = exact and all(part.exact for part in parts)
        start, end = parts[0].start if start is None else start, parts[-1].end if end is None else end
        return Part("number", node, start, end, exact=exact)

    def compared(self, left: Part, sign: Word, right: Part) -> Node:
        """One comparison."""
        for part in (left, right):
            if part.kind == "truth":
                what = "a comparison can't be compared again; write 'and' between two of them"
                refuse(self.text, part.start, part.end, what)
        if left.kind == right.kind == "number":
            self.check_equality(left, sign, right)
            return Compared(left.node, sign.text, right.node)
        if sign.text in ORDER:
            part = right if left.kind == "number" else left
            what = 'choices have no order: compare them with == or !=, for example material == "steel"'
            refuse(self.text, part.start, part.end, what)
        if right.kind == "choice" and left.kind != "choice":
            left, right = right, left
        if left.kind != "choice" or (right.kind != "value" and not is_number(right.value)):
            what = 'a choice is compared with one that is written out, for example material == "steel"'
            refuse(self.text, right.start, right.end, what)
        return Chosen(left.name, self.place(left, right), sign.text == "==")

    def check_equality(self, left: Part, sign: Word, right: Part) -> None:
        """Refuse an equality that leaves no room: one that involves a real number."""
        if sign.text in ORDER or (left.exact and right.exact):
            return
        what = "an equality of real numbers leaves nothing to search: give a range, low <= … <= high"
        refuse(self.text, sign.start, sign.end, what)

    def place(self, part: Part, wanted: Part) -> int:
        """Which of the choices of a parameter is meant."""
        choices = choices_of(self.parameters[part.name]) or ()
        for k, choice in enumerate(choices):
            if isinstance(choice, bool) is isinstance(wanted.value, bool) and choice == wanted.value:
                return k
        if isinstance(self.parameters[part.name], Fixed):
            return -1  # it is held at something else
        listed = ", ".join(checks.show(choice) for choice in choices)
        refuse(self.text, wanted.start, wanted.end, f"{part.name} must be one of {listed}")

    # -- moving on, and what can't be read ---------------------------------------------------------------

    @property
    def word(self) -> Word:
        """The word that comes next."""
        return self.words[self.at]

    def step(self) -> Word:
        """Take the word that comes next."""
        self.at += 1
        return self.words[self.at - 1]

    def deeper(self, word: Word, read: Callable[[], Part]) -> Part:
        """Read what stands inside a bracket, or after a sign or a power."""
        self.depth += 1
        if self.depth > DEEPEST:
            refuse(self.text, word.start, word.end, f"brackets and signs are nested deeper than {DEEPEST}")
        part = read()
        self.depth -= 1
        return part

    def expect(self, sign: str) -> Word:
        """Take this sign."""
        if self.word.kind != "sign" or self.word.text != sign:
            self.unexpected(f"expected {sign!r} here")
        return self.step()

    def unexpected(self, expected: str = "") -> NoReturn:
        """Refuse the word that comes next."""
        word = self.word
        if word.kind == "end":
            what = "the constraint ends too early"
        else:
            what = f"did not expect {word.text!r} here"
            before = self.words[self.at - 1] if self.at else word
            if word.kind in ("name", "number") and before.kind in ("name", "number"):
                what += ": an operator is missing, such as *"
        refuse(self.text, word.start, word.end, f"{what}; {expected}" if expected else what)

    def unknown(self, word: Word) -> NoReturn:
        """Refuse a name."""
        if word.text == "not":
            refuse(self.text, word.start, word.end, "'not' is not known: turn the comparison round")
        written = [n if n.isidentifier() else f"`{n}`" for n in self.parameters]
        hint = checks.nearest(word.text, written) or f"known are {', '.join(written)}"
        part = word.text.replace("_", "").lower()
        longer = [n for n in self.parameters if not n.isidentifier() and part in n.lower()]
        is_case = word.text.lower() in map(str.lower, self.parameters)
        if longer and not word.quoted and not is_case:
            hint = f"a name with other characters stands in backticks: `{longer[0]}`"
        refuse(self.text, word.start, word.end, f"there is no parameter {word.text!r}; {hint}")

    def unknown_function(self, word: Word) -> NoReturn:
        """Refuse a function."""
        if word.text in self.parameters:
            what = f"{word.text!r} is a parameter, not a function: write * for a product"
        else:
            what = f"there is no function {word.text!r}; known are {', '.join(FUNCTIONS)}"
        refuse(self.text, word.start, word.end, what)


def choices_of(parameter: Parameter) -> tuple[Choice, ...] | None:
    """What a parameter that is no range can be."""
    if isinstance(parameter, Fixed):
        return (parameter.value,)
    return parameter.choices if isinstance(parameter, Categorical) else None


def is_number(value: object) -> bool:
    """Whether a choice is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
