"""Old names still work, and warn."""

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
                warn_renamed(f"{cls.__name__}.{old}", new_names[old], stacklevel=3)
                given[new_names[old]] = given.pop(old)
            plain_init(self, *args, **given)

        cls.__init__ = init  # type: ignore[method-assign, assignment]
        return renamed_attributes(**new_names)(cls)

    return decorate


def renamed_attributes(**new_names: str) -> Callable[[type[T]], type[T]]:
    """A decorator of classes: the attributes can be read under their old names too.

    Parameters
    ----------
    **new_names
        The new name of an attribute by its old one.
    """

    def decorate(cls: type[T]) -> type[T]:
        def read_old_name(self: T, name: str) -> Any:
            if name not in new_names:
                raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
            warn_renamed(f"{cls.__name__}.{name}", new_names[name], stacklevel=3)
            return getattr(self, new_names[name])

        cls.__getattr__ = read_old_name  # type: ignore[attr-defined]
        return cls

    return decorate


def warn_renamed(old: str, new: str, stacklevel: int) -> None:
    """Warn that `old` is called `new` now; stacklevel 2 points at the caller, 3 at the caller's caller."""
    warnings.warn(f"{old} is now called {new}; write {new}", DeprecationWarning, stacklevel=stacklevel + 1)
