"""Ctrl-C and its kin from the first moment on.

What kes is made of takes tenths of a second to import. An interrupt meanwhile would end in a
traceback from the middle of some library, or be lost in one. So it ends the process at once, as
nothing is there yet to be saved. As soon as a command has begun, it raises `KeyboardInterrupt`,
and the command saves what it has. `kill` (SIGTERM) and a terminal that closes (SIGHUP) do the same.
"""

# What the module signal wraps, which takes milliseconds to import.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all of this
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last
_AGAIN = 0.01
"""Seconds after which an interrupt comes again that could not be raised when it came."""

_ours: list[int] = []
_received: list[int] = []


def quit_on_interrupt() -> None:
    """Let interrupts end the process at once, but for those that whoever started it ignores."""
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    _ours[:] = [own for own in known if signal.getsignal(own) != signal.SIG_IGN]
    for number in _ours:
        signal.signal(number, _quit)


def raise_on_interrupt() -> None:
    """Let them raise `KeyboardInterrupt`, if they ended the process before."""
    for number in _ours:
        signal.signal(number, _raise)
    if _ours:
        sys.unraisablehook = _come_again


def ignore_interrupts() -> None:
    """Let nothing disturb the end of the process."""
    for number in _ours:
        signal.signal(number, signal.SIG_IGN)


def exit_code() -> int:
    """Return the exit code after an interrupt, as shells have it: 130 for Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def _quit(number: int, frame: "FrameType | None") -> "NoReturn":
    os.write(2, b"Error: interrupted\n")
    os._exit(128 + number)


def _raise(number: int, frame: "FrameType | None") -> "NoReturn":
    _received.append(number)
    raise KeyboardInterrupt


def _come_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that was raised in a callback or a destructor, where it goes nowhere."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import _thread
    from threading import Timer

    Timer(_AGAIN, _thread.interrupt_main, _received[-1:]).start()
