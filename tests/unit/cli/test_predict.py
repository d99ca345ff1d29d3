"""``kes predict``: predictions in a file, and how good they are."""

import numpy as np
import pandas as pd
import pytest

import kes


@pytest.fixture(autouse=True)
def home(cli_home, monkeypatch):
    monkeypatch.chdir(cli_home)
    return cli_home


def test_predictions_are_those_of_the_network(printed, tmp_path):
    network = kes.load("data.kes.json.gz").best.fit("data.csv")
    out = tmp_path / "p.csv"
    words = ("predict", "data.kes.json.gz", "data.csv", "--target", "cancer", "--out", out)
    code, said, err = printed(*words)
    assert code == 0
    assert "predictions of cancer" in said
    assert "AUC" in err  # the table has the target itself
    found = pd.read_csv(out)
    expected = network.predict("data.csv", "cancer", probabilities=True)
    names = [f"P({state})" for state in network.states["cancer"]]
    assert found[names].to_numpy() == pytest.approx(expected)
    assert list(found["cancer"]) == list(network.predict("data.csv", "cancer"))


def test_gaps_and_unknown_values_are_summed_out(printed, tmp_path):
    table = pd.read_csv("data.csv").head(6).astype(object)
    table.loc[1, "smoker"] = None
    table.loc[2, "smoker"] = "perhaps"
    table.drop(columns=["cancer"]).to_csv(tmp_path / "new.csv", index=False)
    words = ("predict", "data.kes.json.gz", tmp_path / "new.csv", "--target", "cancer")
    code, out, err = printed(*words)
    assert code == 0
    assert "2 of 6 rows" in err
    network = kes.load("data.kes.json.gz").best.fit("data.csv")
    found = [float(line.split(",")[-1]) for line in out.splitlines()[1:]]
    last = network.states["cancer"][-1]
    for row, value in zip(table.to_dict("records"), found, strict=True):
        known = {
            name: row[name]
            for name in network.nodes
            if name != "cancer" and row[name] in network.states[name]
        }
        assert value == pytest.approx(network.probability({"cancer": last}, known))


def test_numbers_come_with_an_interval(printed):
    code, out, err = printed("predict", "numbers.kes.json.gz", "numbers.csv", "--target", "effect")
    assert code == 0
    assert "R²" in err
    rows = np.array([line.split(",") for line in out.splitlines()[1:]], dtype=float)
    network = kes.load("numbers.kes.json.gz").best.fit("numbers.csv")
    means, deviations = network.predict("numbers.csv", "effect", deviations=True)
    assert rows[:, 0] == pytest.approx(means)
    assert rows[:, 2] - rows[:, 1] == pytest.approx(2 * 1.959964 * deviations, rel=1e-6)


def test_the_target_of_learn_is_the_default(printed, tmp_path):
    result = tmp_path / "a.kes.json"
    words = ("learn", "data.csv", "--runs", 3, "--target", "cancer", "--out", result)
    code, out, _ = printed(*words)
    assert code == 0
    assert "AUC" in out
    assert "kes predict" in out
    code, out, _ = printed("predict", result, "data.csv")
    assert (code, out.splitlines()[0].split(",")[0]) == (0, "cancer")


def test_wrong_commands(printed):
    assert printed("predict", "data.kes.json.gz", "data.csv")[0] == 2
    code, _, err = printed("predict", "data.kes.json.gz", "data.csv", "--target", "cancr")
    assert code == 2
    assert "did you mean 'cancer'" in err
    code, _, err = printed("predict", "data.kes.json.gz", "data.kes.json.gz", "--target", "cancer")
    assert code == 2
    assert "data.csv" in err
