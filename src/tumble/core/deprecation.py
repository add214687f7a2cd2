"""Old names of fields: they still work, and warn."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def renamed_fields(**new_names: str) -> Callable[[type[T]], type[T]]:
    """A decorator of dataclasses: the constructor and the attributes accept the old names too.

    Parameters
    ----------
    **new_names
        The new name of a field by its old one. Where a caller passes both, the old name wins, because
        `dataclasses.replace` always passes the new one.
    """

    def decorate(cls: type[T]) -> type[T]:
        plain_init: Callable[..., None] = cls.__init__

        @wraps(plain_init)
        def init(self: T, *args: Any, **given: Any) -> None:
            for old in new_names.keys() & given.keys():
                _warn(cls, old, new_names[old])
                given[new_names[old]] = given.pop(old)
            plain_init(self, *args, **given)

        def read_old_name(self: T, name: str) -> Any:
            if name not in new_names:
                raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
            _warn(cls, name, new_names[name])
            return getattr(self, new_names[name])

        cls.__init__ = init  # type: ignore[method-assign, assignment]
        cls.__getattr__ = read_old_name  # type: ignore[attr-defined]
        return cls

    return decorate


def _warn(cls: type, old: str, new: str) -> None:
    message = f"{cls.__name__}.{old} is now called {new}; write {new}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
