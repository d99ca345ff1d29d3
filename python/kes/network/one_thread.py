"""Products of matrices on one thread, so that results do not depend on how many there are.

numpy leaves products of matrices to a BLAS library. It sums large ones in parts, one for each of
its threads, so that the last digits depend on their number; and its threads wait actively for each
other, which is slow where other work runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_lock, _limit, _inside = Lock(), ExitStack(), [0]


@contextmanager
def one_thread() -> Iterator[None]:
    """Have products of matrices done on one thread.

    The number of threads belongs to the process. Where several threads of it are in here at a time,
    the first sets the number, and the last restores it.
    """
    with _lock:
        if not _inside[0]:
            _limit.enter_context(_controller().limit(limits=1, user_api="blas"))
        _inside[0] += 1
    try:
        yield
    finally:
        with _lock:
            _inside[0] -= 1
            if not _inside[0]:
                _limit.close()


@cache
def _controller() -> ThreadpoolController:
    """Find the libraries, once: that takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
