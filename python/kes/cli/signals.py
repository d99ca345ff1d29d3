"""Interrupts (Ctrl-C, SIGTERM, SIGHUP) from the first moment on.

Importing kes takes tenths of a second. An interrupt during that time would end in a traceback from
some library, or be lost in one, so it ends the process at once: there is nothing to save yet. As
soon as a command has started, interrupts raise `KeyboardInterrupt`, and the command saves its work.
"""

# The module signal wraps it and takes milliseconds to import.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last
_DELAY = 0.01
"""Seconds until an interrupt is repeated that could not be raised."""

_ours: list[int] = []
_received: list[int] = []
_exiting: list[bool] = []


def quit_on_interrupt() -> None:
    """Let interrupts end the process at once, except those that the parent process ignores."""
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    _ours[:] = [own for own in known if signal.getsignal(own) != signal.SIG_IGN]
    for number in _ours:
        signal.signal(number, _quit)


def raise_on_interrupt() -> None:
    """Let interrupts raise `KeyboardInterrupt`."""
    _exiting.clear()
    for number in _ours:
        signal.signal(number, _raise)
    if _ours:
        sys.unraisablehook = _repeat


def ignore_interrupts() -> None:
    """Ignore interrupts while the process exits."""
    _exiting.append(True)  # first: to change a handler calls it for signals that have arrived
    for number in _ours:
        signal.signal(number, signal.SIG_IGN)


def exit_code() -> int:
    """Return the exit code after an interrupt, by the convention of shells: 130 for Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def _quit(number: int, frame: "FrameType | None") -> "NoReturn":
    os.write(2, b"Error: interrupted\n")
    os._exit(128 + number)


def _raise(number: int, frame: "FrameType | None") -> None:
    if not _exiting:
        _received.append(number)
        raise KeyboardInterrupt


def _repeat(unraisable: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that was raised in a callback or a destructor, where it is ignored."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import _thread
    from threading import Timer

    Timer(_DELAY, _thread.interrupt_main, _received[-1:]).start()
