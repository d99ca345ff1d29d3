"""The reproduction of the paper: its machinery, and what its runs must show."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.cli import run
from kes.data.random_stream import Stream
from kes.errors import Interrupted
from kes.paper import document, reproduce, runner
from kes.paper.document import Section
from kes.paper.experiments import KS, LN10, PRINTED
from kes.paper.reproduction import EXPERIMENTS
from kes.paper.runner import DATABASES, Bench, Cell, Library, Outcome, Sample

pytest.importorskip("matplotlib", reason="the figures need matplotlib")

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
COIL = SHARED / "coil" / "ticdata2000.csv.gz"
LEUKEMIA = SHARED / "golub" / "golub72_expression.csv.gz"
needs_coil = pytest.mark.skipif(not COIL.exists(), reason="the CoIL data cannot be shipped")
needs_leukemia = pytest.mark.skipif(
    not LEUKEMIA.exists(), reason="the leukemia data cannot be shipped"
)
SMALL = Cell(Sample("alarm", rows=200), k=0.4, runs=12)


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    """Where the user's copies are must not depend on who runs the tests."""
    monkeypatch.delenv("KES_COIL", raising=False)
    monkeypatch.delenv("KES_LEUKEMIA", raising=False)


def do(folder, cell, seed=0, show=lambda progress: None):
    dataset = Library(None, None).find(cell.sample)
    return Bench(folder, seed=seed, n_jobs=2).do(cell, dataset, show)


def learned(cell, seed=0):
    data = kes.datasets.alarm(cell.sample.rows, Stream(0))
    return kes.learn(data, k=cell.k, runs=cell.runs, random_state=seed, improve=False, edge_prior=0)


# --- cells --------------------------------------------------------------------------------------


def test_a_cell_is_the_result_of_learn(tmp_path):
    outcome, optima = do(tmp_path, SMALL), learned(SMALL)
    assert kes.load(tmp_path / "alarm-200-draw0-bic-k0.4.kes.json.gz") == optima
    np.testing.assert_array_equal(outcome.scores, optima.run_scores)
    assert outcome.above == int((optima.run_scores > optima.ges.score + 1e-6).sum())
    assert outcome.below == int((optima.run_scores < optima.ges.score - 1e-6).sum())
    better = {o.graph for o in optima if o.score > optima.ges.score + 1e-6}
    assert (outcome.models, outcome.models_above) == (len(optima.of_runs), len(better))
    assert outcome.short == 0  # the exact boundary always ends in a local optimum


def test_runs_that_are_there_are_not_done_again(tmp_path, monkeypatch):
    first = do(tmp_path, SMALL)
    monkeypatch.setattr(runner, "search", None)  # would fail if called
    again = do(tmp_path, SMALL)
    assert again.values() == first.values()
    fewer = do(tmp_path, replace(SMALL, runs=5))
    np.testing.assert_array_equal(fewer.scores, first.scores[:5])
    assert fewer.models == len(learned(replace(SMALL, runs=5)).of_runs)


def test_more_runs_are_added_to_those_that_are_there(tmp_path):
    do(tmp_path, replace(SMALL, runs=5))
    assert do(tmp_path, SMALL).cost.runs == SMALL.runs
    assert kes.load(tmp_path / f"{SMALL.name}.kes.json.gz") == learned(SMALL)


def test_a_result_of_another_search_is_replaced(tmp_path):
    do(tmp_path, SMALL, seed=1)
    do(tmp_path, SMALL, seed=0)
    assert kes.load(tmp_path / f"{SMALL.name}.kes.json.gz") == learned(SMALL, seed=0)


def test_an_interrupt_leaves_what_was_done(tmp_path):
    many = replace(SMALL, runs=100_000)

    def stop(progress):
        if progress.unit == "runs" and progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        do(tmp_path, many, show=stop)
    done = len(caught.value.optima.runs)
    assert 0 < done < many.runs
    assert len(kes.load(tmp_path / f"{SMALL.name}.kes.json.gz").runs) == done
    assert kes.load(tmp_path / f"{SMALL.name}.kes.json.gz").extend(
        3, kes.datasets.alarm(200, Stream(0))
    ) == learned(replace(SMALL, runs=done + 3))


def test_cells_that_share_counts_show_what_they_show_alone(tmp_path):
    dataset = kes.datasets.alarm(200, Stream(0))
    shared = Bench(tmp_path, seed=0, n_jobs=1)
    for k in KS:
        outcome = shared.do(replace(SMALL, k=k), dataset, lambda progress: None)
        alone = learned(replace(SMALL, k=k))
        np.testing.assert_array_equal(outcome.scores, alone.run_scores)


def test_both_neighbourhoods_have_cells_of_their_own():
    names = [cell.name for experiment in EXPERIMENTS.values() for cell in experiment.cells(10)]
    cells = {cell for experiment in EXPERIMENTS.values() for cell in experiment.cells(10)}
    assert len(set(names)) == len(cells)  # cells of two experiments are the same or apart


# --- what is printed ----------------------------------------------------------------------------


def test_printed_rows_agree_with_the_prose_of_the_paper():
    """Section 4.3 states some figures a second time, in words."""
    ses = {name: rows[0] for name, rows in PRINTED.items()}
    distinct = {name: row.above[1] + row.below[1] for name, row in ses.items()}
    assert distinct == {"alarm": 1000, "trap": 840, "all": 1000, "aml": 1000, "coil": 994}
    shares = [round(row.above[0] / 10) for row in PRINTED["all"][1:3]]
    assert shares == [22, 66]
    real = [PRINTED[name] for name in ("all", "aml", "coil")]
    for place, (low, high) in ((1, (3, 22)), (2, (22, 66))):
        found = [rows[place].above[0] / 10 for rows in real]
        assert (int(min(found)), round(max(found))) == (low, high)
    for rows in PRINTED.values():
        assert all(row.above[0] + row.below[0] <= 1000 for row in rows[:3])
        # Better runs than GES exist exactly where the best score is higher.
        assert all((row.above[0] > 0) == (row.best > rows[3].best) for row in rows[:3])


# --- documents ----------------------------------------------------------------------------------

ONE = Section("one", "One", "new", {"a": 1})


def test_marked_parts_are_filled_and_prose_is_kept(tmp_path):
    path = tmp_path / "doc.md"
    path.write_text("before\n<!-- kes paper: one -->\nold \\1\n<!-- end -->\nafter\n")
    document.fill(path, [replace(ONE, markdown="new \\1"), replace(ONE, key="two")])
    assert path.read_text() == "before\n<!-- kes paper: one -->\nnew \\1\n<!-- end -->\nafter\n"


def test_a_document_without_marks_is_refused(tmp_path):
    path = tmp_path / "doc.md"
    path.write_text("prose only")
    with refused("<!-- kes paper: one -->", file=path):
        document.fill(path, [ONE])
    with refused(file=tmp_path / "none.md"):
        document.fill(tmp_path / "none.md", [ONE])


def test_earlier_experiments_stay_in_the_files(tmp_path):
    document.write(tmp_path, [ONE], {"runs": 1})
    document.write(tmp_path, [replace(ONE, key="two", title="Two", values={})], {"runs": 2})
    results = json.loads((tmp_path / "results.json").read_text())
    assert results == {"runs": 2, "experiments": {"one": {"a": 1}, "two": {}}}
    assert re.findall("## (.*)", (tmp_path / "reproduction.md").read_text()) == ["One", "Two"]


def outcomes(experiment, runs=6):
    """Invented outcomes for all cells of an experiment."""
    rng = np.random.default_rng(0)
    zero = Outcome(-10.0, -11.0, 1, 2, 5, 1, 2, 0, np.zeros(runs), runner.Cost(runs, 2.0, 3.0))
    return {cell: replace(zero, scores=rng.normal(size=runs)) for cell in experiment.cells(runs)}


@pytest.mark.parametrize("key", ["figure1", "sample-size", "sampled"])
def test_figures_have_labelled_axes_and_a_legend(key, tmp_path):
    experiment = EXPERIMENTS[key]
    section = experiment.section(outcomes(experiment))
    [draw] = section.figures.values()
    figure = draw()
    assert figure.get_size_inches()[0] <= 7  # two columns of a paper
    assert len(figure.legends) == 1
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert re.search(r"\(.+\)", axes.get_ylabel())  # with its unit


@pytest.mark.parametrize("key", ["table1", "bdeu"])
def test_tables_have_a_row_per_cell(key):
    experiment = EXPERIMENTS[key]
    text = experiment.section(outcomes(experiment)).markdown
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(DATABASES) * len(KS)
    assert f"| {-10 / LN10:.1f} |" in rows[2]
    assert "took 40 s (60 s of processor time)" in text


# --- the command --------------------------------------------------------------------------------


def test_missing_data_are_skipped_and_said_so(tmp_path, capsys):
    command = ["paper", "--only", "table1,trap,coil", "--runs", "3", "--out", str(tmp_path)]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert "Skipped CoIL" in shown.err
    assert "archive.ics.uci.edu" in shown.err
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results["skipped"]) == {"coil"}
    assert len(results["experiments"]["table1"]) == len(KS)
    assert "| Trap |" in (tmp_path / "reproduction.md").read_text()


def test_nothing_to_do_is_an_error(tmp_path, capsys):
    assert run(["paper", "--only", "coil", "--out", str(tmp_path)]) == 2
    assert "KES_COIL" in capsys.readouterr().err
    assert run(["paper", "--only", "coli", "--out", str(tmp_path)]) == 2
    assert "'coli' is not one of table1, figure1" in capsys.readouterr().err


def test_an_unknown_name_is_an_error_also_without_a_command_line(tmp_path):
    with refused("did you mean 'coil'", option="only"):
        reproduce(tmp_path, only=["coli"])


def test_progress_counts_all_runs(tmp_path):
    stages = []
    reproduce(tmp_path, only=["table1", "trap"], runs=2, progress=stages.append)
    assert stages[0].wanted == stages[-1].done == 2 * len(KS)
    assert [s.done for s in stages] == sorted(s.done for s in stages)


def test_theorems_and_erratum_need_no_data(tmp_path):
    reproduce(tmp_path, only=["theorems", "erratum"])
    found = json.loads((tmp_path / "results.json").read_text())["experiments"]
    for row in found["theorems"]["theorem 3"].values():
        assert all(hits == of for hits, of in row)
    ends = found["theorems"]["example 1"]
    assert all(elsewhere == 0 for _, _, elsewhere in ends.values())  # Theorem 4
    assert all(min(ends[f"{v} k=0"][:2]) > 0 for v in ("printed", "deceptive"))  # Theorem 5
    assert ends["printed k=1"][:2] == [1000, 0]  # the erratum: not trapped
    assert ends["deceptive k=1"][:2] == [0, 1000]
    assert [row[0] for row in found["theorems"]["example 2"].values()] == [2, 4, 8, 16]
    erratum = found["erratum"]
    assert erratum["moves of GES"]["printed"][1].startswith("+ XU given Y")
    assert erratum["moves of GES"]["deceptive"][1].startswith("+ XU:")
    for parameters, distance in erratum["nearest"].values():
        assert 0 < distance < 2 * parameters[2] + 0.05
        assert parameters[2] > 0


# --- what the runs must show --------------------------------------------------------------------


def shares(data, ks, runs):
    """Share of the runs above GES for each k."""
    found = []
    for k in ks:
        optima = kes.learn(data, k=k, runs=runs, improve=False)
        found.append(float(np.mean(optima.run_scores > optima.ges.score + 1e-6)))
    return found


@needs_coil
def test_coil_shows_what_it_must():
    data = kes.datasets.coil(COIL)
    ses, middle, greedy = (kes.learn(data, k=k, runs=1000, improve=False) for k in (0, 0.4, 0.8))
    assert ses.ges.score / LN10 == pytest.approx(-10966.6, abs=0.1)
    above = [int((o.run_scores > o.ges.score + 1e-6).sum()) for o in (ses, middle, greedy)]
    for found, (low, high) in zip(above, ((3, 22), (65, 130), (100, 170)), strict=True):
        assert low <= found <= high
    assert len(ses.of_runs) >= 970
    # The optimum of exact dynamic programming over all subsets of the 24 variables.
    assert middle.best.score / LN10 == pytest.approx(-10961.69, abs=0.01)


@pytest.mark.parametrize("draw", range(5))
def test_trap_shows_what_it_must(draw):
    ses, middle, greedy = shares(kes.datasets.trap(seed=draw), (0, 0.4, 0.8), runs=300)
    assert ses >= 0.98
    assert middle >= 0.75
    assert 0.25 <= greedy <= 0.80


@needs_leukemia
def test_all_shows_what_it_must():
    """About 14 % of the runs with k=0.4 are above GES: so near to a bound of 10 %, a sample of a
    few hundred runs could fall on either side of it by chance alone.
    """
    data = kes.datasets.leukemia(LEUKEMIA, "ALL")
    [ses] = shares(data, (0,), runs=10)
    [middle] = shares(data, (0.4,), runs=1000)
    [greedy] = shares(data, (0.8,), runs=200)
    assert ses == 0
    assert 0.10 <= middle <= 0.25
    assert 0.45 <= greedy <= 0.70
