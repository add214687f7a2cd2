"""What Python says of a known constraint: its own parser, and real numbers for whole ones.

It is what `tumble.known` is compared with. Only texts that `tumble.known` took are given to it.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.LtE: operator.le, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.Gt: operator.gt,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log10": np.log10, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "atan": np.arctan, "min": min, "max": max,
}  # fmt: skip
NEAR = 1e-9  # sides that are nearer to each other than that, relative to them, may be rounded either way


class Unclear(Exception):
    """Python and `tumble.known` may differ: another grammar, no finite number, or a tie by rounding."""


def holds(text: str, setting: Mapping[str, Any]) -> bool:
    """Whether a setting keeps a constraint; `Unclear` where Python can't tell."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return bool(_value(ast.parse(text.strip(), mode="eval").body, setting))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Unclear(str(error)) from error


def _value(node: ast.AST, setting: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return _real(value)
        case ast.Name(id="pi") if "pi" not in setting:
            return np.float64(np.pi)
        case ast.Name(id=name) if name in ("true", "false") and name not in setting:
            return name == "true"
        case ast.Name(id=name):
            return _real(setting[name])
        case ast.BinOp(left=left, op=op, right=right):
            return _finite(OPERATORS[type(op)](_value(left, setting), _value(right, setting)))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)](_value(operand, setting))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _finite(FUNCTIONS[name](*(_value(a, setting) for a in args)))
        case ast.BoolOp(op=op, values=parts):
            each = [bool(_value(part, setting)) for part in parts]
            return all(each) if isinstance(op, ast.And) else any(each)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, setting) for side in (left, *others)]
            each = [_compared(*pair) for pair in zip(sides, ops, sides[1:], strict=False)]
            return all(each)
    raise Unclear(type(node).__name__)


def _compared(left: Any, op: ast.cmpop, right: Any) -> bool:
    if isinstance(left, np.float64) and isinstance(right, np.float64):
        near = abs(left - right) <= NEAR * max(abs(left), abs(right))
        if near and left != right:
            raise Unclear("a tie")
    return bool(OPERATORS[type(op)](left, right))


def _real(value: Any) -> Any:
    """A real number for a whole one; choices as they are."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return np.float64(value) if is_number else value


def _finite(value: Any) -> Any:
    if not np.isfinite(value):
        raise Unclear("not finite")
    return value
