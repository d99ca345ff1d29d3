"""Errors of users in the shell, and messages in the terms of the shell."""

import click
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.cli import run
from kes.cli.commands import COMMANDS
from kes.cli.commands import kes as group
from kes.cli.parsing import _SYNONYMS

GOOD = {"a": [0, 1, 0, 1, 1, 0], "b": ["x", "y", "x", "y", "x", "x"]}

TABLES = {
    "empty.csv": ("", "empty"),
    "header.csv": ("a,b\n", "row"),
    "one_row.csv": ("a,b\n1,2\n", "row"),
    "holes.csv": ("a,b\n1,\n2,x\n,y\n", "missing"),
    "ragged.csv": ("a,b\n1,2\n1,2,3\n", "line 3"),
    "twice.csv": ("a,a\n1,2\n2,1\n", "'a'"),
    "marks.csv": ("a,b\n0.25,1\nNA,2\n0.75,1\n", "'NA' read as missing"),
}


@pytest.mark.parametrize("name", TABLES)
def test_files_that_cannot_be_used(name, tmp_path, capsys):
    content, message = TABLES[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert run(["learn", str(tmp_path / name)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert message in shown.err
    assert "Traceback" not in shown.err


def test_no_file(tmp_path, capsys):
    assert run(["learn", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "1.5"], "'--k': 1.5 is not in the range"),
        (["--k", "nan"], "Error: --k must be a number from 0 to 1"),
        (["--k", "0,8"], "'--k': '0,8' has a decimal comma; write 0.8"),
        (["--k", "x,y"], "'--k': 'x,y' is not a valid float"),
        (["--ess", ",5"], "'--ess': ',5' has a decimal comma; write .5"),
        (["--runs", "0"], "'--runs': 0 is not in the range"),
        (["--ess", "0"], "'--ess': 0.0 is not in the range"),
        (["--criterion", "bci"], "'--criterion': 'bci' is not one of"),
        (["--seed", str(2**64)], "Error: --seed must be less than 2**64"),
        (["--jobs", str(2**64)], "Error: --jobs must be an integer of at most"),
        (["--max-parents", str(2**64)], "Error: --max-parents must be an integer of at most"),
        (["--budget", "5x"], "Error: --budget: '5x' is not a valid duration; give seconds, or"),
        (["--budget", "0"], "Error: --budget must be a number greater than 0 (seconds), not 0.0"),
        (["--improve-budget", "-1s"], "Error: --improve-budget: '-1s' is not a valid duration"),
        (["--improve-tasks", "5", "--no-improve"], "--improve-tasks cannot be combined"),
        (["--improve-budget", "1s", "--no-improve"], "--improve-budget cannot be combined"),
        (["--failures", "3"], "--failures needs --neighbourhood sampled"),
        (["--missing", "drop", "--missing", "state"], "exclude each other"),
        (["--two-phase", "--neighbourhood", "sampled"], "--two-phase needs the exact"),
        (["--two-phase", "--neighbourhood", "sampled"], "or use --neighbourhood exact"),
        (["--example", "alarm"], "Give either a data file or --example alarm"),
        (["--rows", "5"], "--rows is for --example"),
        (["--weights", "nope"], "nope"),
        (["--nonsense"], "No such option '--nonsense'.\n"),
        (["--max_parents", "3"], "No such option '--max_parents'. Did you mean '--max-parents'?"),
        (["--criterium", "aic"], "No such option '--criterium'. Did you mean '--criterion'?"),
        (["--n-jobs", "3"], "Did you mean '--jobs'?"),
        (["--random-state", "3"], "Did you mean '--seed'?"),
        (["--time-limit", "3"], "Did you mean '--budget'?"),
        (["--out", "."], "is a folder; give the name of a file"),
        (["--out", "nowhere/a.json"], "there is no folder nowhere"),
    ],
)
def test_command_line(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(GOOD).to_csv("data.csv", index=False)
    assert run(["learn", "data.csv", *arguments]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_command_line_without_data(capsys):
    assert run(["learn"]) == 2
    assert "Give either a data file or --example alarm" in capsys.readouterr().err


def test_an_example_shows_which_arguments_lack(capsys):
    assert run(["effects", "a.kes.json.gz"]) == 2
    shown = capsys.readouterr().err
    assert "Missing argument 'X'. For example: kes effects a.kes.json.gz smoker cancer" in shown
    assert run(["fit"]) == 2
    assert "For example: kes fit " in capsys.readouterr().err, "its own, not another command"


def test_the_example_is_not_read_in_any_way(capsys):
    words = ["--columns", "HR,HRBP", "--discretize", "3", "--weights", "foo"]
    assert run(["learn", "--example", "alarm", *words]) == 2
    shown = capsys.readouterr().err
    assert "not supported with --example" in shown
    assert all(word in shown for word in words[::2])


def test_long_budgets_for_improving_are_lengths_of_time(tmp_path, capsys):
    """Seconds in the notation 1.08e+06 are not."""
    pd.DataFrame(GOOD).to_csv(tmp_path / "data.csv", index=False)
    words = ["--runs", "1", "--improve-budget", "300h", "--budget", "0.1s"]
    assert run(["learn", str(tmp_path / "data.csv"), *words]) == 0
    assert "not a valid duration" not in capsys.readouterr().err


def test_unexpected_failures_are_told_in_one_line(tmp_path, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("the roof is on fire")

    monkeypatch.setattr("kes.api.search", broken)
    pd.DataFrame(GOOD).to_csv(tmp_path / "data.csv", index=False)
    assert run(["learn", str(tmp_path / "data.csv")]) == 1
    assert capsys.readouterr().err == "Error: unexpected RuntimeError: the roof is on fire\n"


def test_a_panic_of_the_core_is_told_in_one_line(tmp_path, capsys, monkeypatch):
    class PanicException(BaseException):
        """As pyo3 defines it."""

    def broken(*_, **__):
        raise PanicException("index out of bounds")

    monkeypatch.setattr("kes.api.search", broken)
    pd.DataFrame(GOOD).to_csv(tmp_path / "data.csv", index=False)
    assert run(["learn", str(tmp_path / "data.csv")]) == 1
    assert "Error: unexpected PanicException: index out of bounds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("lern", "No such command 'lern'. Did you mean 'learn'?\n"),
        ("Certify", "No such command 'Certify'. Did you mean 'certify'?\n"),
        ("classify", "No such command 'classify'. Did you mean 'predict'?\n"),
        ("xyzzy", "No such command 'xyzzy'.\n"),
        ("--versoin", "No such option '--versoin'. Did you mean '--version'?\n"),
    ],
)
def test_no_such_command(given, message, capsys):
    assert run([given]) == 2
    assert capsys.readouterr().err.endswith(f"Error: {message}")


def test_missing_values_are_told_with_the_options_of_the_shell(tmp_path, capsys):
    (tmp_path / "holes.csv").write_text("a,b\n1,\n2,x\n1,y\n", encoding="utf-8")
    assert run(["learn", str(tmp_path / "holes.csv")]) == 2
    shown = capsys.readouterr().err
    assert "drop incomplete rows with --missing drop, or make" in shown
    assert "missing=" not in shown


def test_advice_about_missing_values_keeps_what_was_typed(tmp_path, capsys):
    table = tmp_path / "holes.csv"
    table.write_text("a,b,c\n1,NA,?\n2,x,z\n1,y,z\n", encoding="utf-8")
    assert run(["learn", str(table), "--missing", "NA,?"]) == 2
    shown = capsys.readouterr().err
    assert 'from the model with --missing NA,"?",em' in shown
    few = ("--runs", "2", "--no-improve", "--no-prove")
    assert run(["learn", str(table), *few, "--missing", "NA,em"]) == 0
    assert 'if that means missing: --missing NA,"?",em' in capsys.readouterr().err
    assert run(["learn", str(table), *few, "--missing", "NA,?,drop,fill"]) == 0
    shown = capsys.readouterr().err
    assert "'fill' occurs nowhere in the table; known ways are drop, state, em" in shown
    assert "na_values" not in shown


def test_columns_without_a_name(tmp_path, capsys):
    table, out = tmp_path / "a.csv", str(tmp_path / "a.kes.json.gz")
    table.write_text(",a\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(60)))
    few = ("--runs", "2", "--no-improve", "--no-prove")
    assert run(["learn", str(table), *few]) == 0
    assert '--continuous "column 1"' in capsys.readouterr().err
    assert run(["learn", str(table), *few, "--continuous", "column 1", "--out", out]) == 0
    assert kes.load(out).names == ("column 1", "a")
    assert run(["learn", str(table), *few, "--drop", "column 1"]) == 0
    assert "Note" not in capsys.readouterr().err
    assert run(["learn", str(table), *few, "--drop", ""]) == 2
    assert 'a column without a name is called "column 1"' in capsys.readouterr().err


def test_python_gets_the_names_of_python_again(capsys):
    assert run(["learn", "--example", "alarm", "--seed", str(2**64)]) == 2
    with refused(option="random_state"):
        kes.learn(pd.DataFrame(GOOD), random_state=2**64)


def shared(name):
    """The option of each command that has it."""
    return {
        command: param
        for command in ("learn", "certify", "report", "paper")
        for param in group.get_command(click.Context(group), command).params
        if param.name == name
    }


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("example", {"learn", "certify", "report"}),
        ("rows", {"learn", "certify", "report"}),
        ("weights", {"learn", "certify", "report"}),
        ("missing", {"learn", "certify", "report"}),
        ("criterion", {"learn", "certify"}),
        ("ess", {"learn", "certify"}),
        ("max_parents", {"learn", "certify"}),
        ("random_state", {"learn", "paper"}),
        ("n_jobs", {"learn", "certify", "paper"}),
        ("progress", {"learn", "certify", "paper"}),
    ],
)
def test_shared_options_mean_the_same(name, commands):
    found = shared(name)
    assert set(found) == commands
    assert len({param.help for param in found.values()}) == 1
    assert len({repr(param.type) for param in found.values()}) == 1


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("sample net.bif --cases 10", "Did you mean '--rows'?"),
        ("sample net.bif -n 10", "Did you mean '--rows'?"),
        ("learn data.csv -n 10", "Did you mean '--runs'?"),
        ("learn data.csv --output a.json", "Did you mean '--out'?"),
        ("learn data.csv -o a.json", "Did you mean '--out'?"),
        ("learn data.csv --threads 2", "Did you mean '--jobs'?"),
        ("learn data.csv --exclude id", "Did you mean '--drop'?"),
        ("learn data.csv --na_values NA", "Did you mean '--missing'?"),
        ("learn data.csv --score bic", "Did you mean '--criterion'?"),
        ("stability a.json --bootstraps 9", "Did you mean '--resamples'?"),
        ("fit a.json --pseudocount 1", "Did you mean '--prior'?"),
        (
            "convert a.bif --out b.net",
            "TARGET is given without an option: kes convert SOURCE TARGET",
        ),
        ("convert a.bif -o b.net", "TARGET is given without an option: kes convert SOURCE TARGET"),
        ("convert --input a.bif", "SOURCE is given without an option: kes convert SOURCE TARGET"),
        ("effects a.json --from b", "X is given without an option: kes effects RESULT X Y"),
        ("learn --data data.csv", "DATA is given without an option: kes learn [DATA]"),
        ("score --model a.bif x.csv", "MODEL is given without an option: kes score DATA MODEL"),
        ("query a.bif --given b=1", "is given without an option: kes query MODEL QUESTION..."),
    ],
)
def test_words_of_other_programs_are_understood(words, advice, capsys):
    assert run(words.split()) == 2
    assert capsys.readouterr().err.rstrip("\n").endswith(advice)


def test_every_synonym_leads_to_something_that_a_command_has():
    own = set()
    for name in COMMANDS:
        for param in group.get_command(click.Context(group), name).params:
            own |= {*param.opts, *param.secondary_opts, str(param.name).upper()}
    assert {name for names in _SYNONYMS for name in names} <= own
