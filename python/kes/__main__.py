"""Run the command line as ``python -m kes``."""

from kes.cli import main

main()
