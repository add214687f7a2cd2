"""tumble under an Ax `Client` (extra `ax`): see `generation_strategy`."""

from .node import (
    StudyFinished,
    TumbleNode,
    WaitForResults,
    generation_strategy,
    optimizer,
    suggestion,
)

__all__ = [
    "StudyFinished",
    "TumbleNode",
    "WaitForResults",
    "generation_strategy",
    "optimizer",
    "suggestion",
]
