"""What can go wrong, as a tree with one root.

    TumbleError
    ├── InputError (also a ValueError)     what was passed cannot be used; nothing was changed
    ├── TrialsExhausted                    no trial is left to ask for
    └── BudgetExhausted                    no failure is left, and going on would risk more than may be
        └── BudgetReserved                 every failure left is reserved by a trial in flight

`Failure` stands beside the tree: a *user's* function raises it to say that a trial failed.
"""


class TumbleError(Exception):
    """Root of everything that tumble raises."""


class InputError(TumbleError, ValueError):
    """Something that was passed cannot be used, and nothing was changed.

    The message says what was expected, what came, and what to do.
    """


class TrialsExhausted(TumbleError):
    """Every trial is told or in flight, so that none is left to ask for."""


class BudgetExhausted(TumbleError):
    """The budget of failures lets no trial start.

    Every failure is spent and `on_exhausted` is "stop"; or more trials failed than may; or every failure is
    spent and no setting is safe enough. The message says which, and how to go on.
    """


class BudgetReserved(BudgetExhausted):
    """Trials in flight may use every failure that is left: tell or skip one of them first."""


class Failure(Exception):
    """A function raises it to say that its trial failed.

    Parameters
    ----------
    reason
        Why it failed: text, or an exception, whose text counts, or its name where it has none.
    constraints
        What was measured before the failure, in order or by name; None where nothing was.

    Examples
    --------
    >>> raise Failure("bit broke", {"torque": 3.0})
    Traceback (most recent call last):
    ...
    tumble.errors.Failure: bit broke
    """

    def __init__(self, reason: object = "failed", constraints: object = None) -> None:
        self.reason = reason if isinstance(reason, str) else str(reason) or type(reason).__name__
        super().__init__(self.reason)
        self.constraints = constraints
