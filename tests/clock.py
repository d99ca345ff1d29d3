"""Limits of time that mean the same on a busy machine as on a quiet one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

WORK = 0.05
"""Seconds of the processor that are worked to see how long that takes."""


def slowness() -> float:
    """Return how many times as long as its work a piece of work takes now: 1 on a quiet machine."""
    began, worked = time.monotonic(), time.thread_time()
    while time.thread_time() - worked < WORK:
        pass
    return max(1.0, (time.monotonic() - began) / WORK)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the body takes longer than that, where others leave it the processor."""
    before = slowness()
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    allowed = seconds * max(before, slowness())
    assert took < allowed, f"{took:.1f} s, where {allowed:.1f} s would have been patient"
