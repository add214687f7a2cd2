"""What can go wrong, as a tree with one root.

    TumbleError
    ├── InputError (also a ValueError)     what was passed cannot be used; nothing was changed
    ├── TrialsExhausted                    no trial is left to ask for
    └── BudgetExhausted                    no failure is left and on_exhausted="stop"
        └── BudgetReserved                 every failure left is reserved by a trial in flight

`Failure` stands beside the tree: a *user's* function raises it to say that a trial failed.
"""


class TumbleError(Exception):
    """Root of everything that tumble raises."""


class InputError(TumbleError, ValueError):
    """An argument that cannot be used; the message says what was expected, what came and what to do."""


class TrialsExhausted(TumbleError):
    """All trials are told or in flight."""


class BudgetExhausted(TumbleError):
    """All failures are spent and the study is to stop there."""


class BudgetReserved(BudgetExhausted):
    """Each failure left is reserved by a trial in flight: tell one of them first."""


class Failure(Exception):
    """Raised by the user's function when the trial failed: `raise tumble.Failure("bit broke")`.

    constraints: what was measured before the failure, `None` where nothing was.
    """

    def __init__(self, reason: str = "failed", constraints: object = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.constraints = constraints
