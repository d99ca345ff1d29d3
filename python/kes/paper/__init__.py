"""The evaluation of [Nielsen 2003], reproduced: every table, figure and claim.

`reproduce` runs the experiments and writes Markdown, JSON and figures that show the printed values
beside ours. ``kes paper`` is its command line.

- `runner`: loads the databases, does the runs, keeps them in files and resumes after an interrupt;
- `experiments`, `theorems`: Table 1 and the figures; the theorems and an erratum to Example 1;
- `document`: writes tables and figures.
"""

from kes.paper.reproduction import EXPERIMENTS, reproduce
from kes.paper.runner import DATABASES

__all__ = ["DATABASES", "EXPERIMENTS", "reproduce"]
