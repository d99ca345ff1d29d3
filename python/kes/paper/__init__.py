"""The evaluation of [Nielsen 2003], done again: every table, figure and claim.

`reproduce` runs the experiments and writes what they show, as Markdown, JSON and figures, with the
printed values beside ours. ``kes paper`` is its command line.

- `samples`: the five databases;
- `bench`: does runs, keeps them in files, takes up where an interrupt stopped;
- `table1`, `figure1`, `sizes`, `neighbourhoods`, `theorems`, `erratum`: the experiments;
- `document`: what is written.
"""

from kes.paper.reproduction import EXPERIMENTS, reproduce
from kes.paper.samples import DATABASES

__all__ = ["DATABASES", "EXPERIMENTS", "reproduce"]
