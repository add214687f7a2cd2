"""What a request may say, as JSON; a key that is not known is refused: it is a slip."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

Results = dict[str, float]
MOST_AT_ONCE = 256  # trials of one asking
EMPTY = "failed is empty: send true or why it failed, and leave it out where it did not"


def _why(failed: Any) -> Any:
    """Why a trial failed, "" where nobody says why, None where it did not fail.

    Empty text may mean either, and neither is recorded on a guess.
    """
    if isinstance(failed, bool):
        return "" if failed else None
    if isinstance(failed, str) and not failed.strip():
        raise PydanticCustomError("empty", EMPTY)
    return failed


KINDS = {"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1}, {"type": "null"}]}
Why: TypeAlias = Annotated[str | None, BeforeValidator(_why), WithJsonSchema(KINDS)]


def _why_or_not(failed: Any) -> Any:
    """As `_why`, but False stays: a trial that was told as failed did not fail after all."""
    if not isinstance(failed, bool | str | None):
        raise PydanticCustomError("string_type", "text is expected")
    return False if failed is False else _why(failed)


WhyOrNot: TypeAlias = Annotated[
    str | Literal[False] | None, BeforeValidator(_why_or_not), WithJsonSchema(KINDS)
]


def _value(value: Any) -> Any:
    """A parameter's value; what is none is refused here, in one sentence for all of its kinds."""
    if not isinstance(value, bool | int | float | str):
        raise PydanticCustomError("value_type", "a value is expected")
    return value


Value: TypeAlias = Annotated[bool | int | float | str, BeforeValidator(_value)]


class Body(BaseModel):
    """A JSON object with known keys of the right types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Ask(Body):
    """The next trial, or several."""

    n: int | None = Field(
        default=None, ge=1, le=MOST_AT_ONCE, description='How many; the answer is then {"trials": [...]}.'
    )


class Tell(Body):
    """What came of a trial."""

    trial: int = Field(description="Its number.", examples=[7])
    results: Results = Field(
        default_factory=dict, description="What was measured, by name.", examples=[{"cost": 3.2}]
    )
    failed: Why = Field(default=None, description="Why it failed, or true; leave it out where it did not.")
    transient: bool = Field(default=False, description="With failed: the infrastructure's fault, not billed.")
    if_surprising: Literal["record", "refuse"] = Field(
        default="record",
        description='A value far from its prediction: "record" it with a warning, or "refuse" it.',
    )


class Skip(Body):
    """A trial that is withdrawn."""

    trial: int = Field(description="Its number.")
    reason: str = Field(default="", description="Why.")
    never: bool = Field(default=False, description="Whether the search is to keep away from its setting.")


class Void(Body):
    """A told trial that is taken out."""

    trial: int = Field(description="Its number.")
    reason: str = Field(default="", description="Why.")


class Amend(Body):
    """Other results for a told trial."""

    trial: int = Field(description="Its number.")
    results: Results = Field(default_factory=dict, description="Those that change, by name.")
    failed: WhyOrNot = Field(
        default=None,
        description="Why it failed, or true; false: it did not fail after all; leave it out to keep either.",
    )


class Try(Body):
    """A setting of one's own."""

    parameters: dict[str, Value] = Field(
        description="Every parameter by name; fixed ones need not be.",
        examples=[{"speed": 1000}],
    )
