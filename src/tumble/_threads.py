"""One BLAS thread while a suggestion is worked out.

Its matrices are small: waking a second thread costs more than it saves, and on a machine that is shared with
the trials themselves it costs a factor of ten.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block, and restore what was set."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
