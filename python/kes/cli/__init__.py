"""The command line: ``kes learn data.csv --runs 1000 --out a.kes.json.gz``.

Exit codes: 0 for success, 2 for invalid input, 130 after Ctrl-C, 1 for unexpected errors. Results
go to standard output, everything else to standard error.
"""

import os
import sys

from kes.cli.signals import exit_code, ignore_interrupts, quit_on_interrupt

TYPE_CHECKING = False  # as in `signals`
if TYPE_CHECKING:
    from typing import NoReturn

    from kes.cli.commands import kes as kes
    from kes.cli.commands import run as run


def main() -> "NoReturn":
    """Run the command line and exit."""
    quit_on_interrupt()  # before anything large is imported
    # Matrices are small here. The threads of numpy wait actively for each other, which takes many
    # times as long where something else runs; the threads of kes are its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    for stream in ("stdout", "stderr"):  # None if a shell closed it: >&-
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w"))  # noqa: SIM115 - for good
    from kes.cli.commands import run

    try:
        code = run()
        ignore_interrupts()
    except KeyboardInterrupt:  # in the last instant; Python would die of the signal
        ignore_interrupts()
        code = exit_code()
    solver = sys.modules.get("kes.exact.linear_program")
    if solver is not None and solver.is_running():  # Python would wait for it
        os._exit(code)
    sys.exit(code)


def __getattr__(name: str) -> object:
    if name in ("kes", "run"):
        from kes.cli import commands

        return getattr(commands, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
