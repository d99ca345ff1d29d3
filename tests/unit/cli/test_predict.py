"""``kes predict``: predictions in a file, and how good they are."""

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis.averaging import EnsembleInterrupted


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
    assert "missing values in 1 of 6 rows" in err
    assert "none of the states" in err
    assert "'smoker': 'perhaps' in 1 row." in err
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


def test_lacking_columns_and_unknown_states_are_named(printed, tmp_path):
    table = pd.read_csv("data.csv").head(30).drop(columns="noise")
    table.loc[:11, "smoker"] = [f"s{i}" for i in range(12)]
    table.loc[12:14, "smoker"] = "often"
    table.loc[0, "cancer"] = "perhaps"
    table.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = printed("predict", "data.kes.json.gz", tmp_path / "new.csv", "--target=cancer")
    assert code == 0
    assert "1 variable not in " in err
    assert "summed out: 'noise'." in err
    assert "'smoker': 'often' in 3 rows, 'smoker': 's0' in 1 row" in err  # the most frequent first
    assert "and 3 more." in err  # 13 values, of which ten are shown
    assert "missing values in" not in err
    assert "not compared: 'cancer': 'perhaps' in 1 row." in err
    assert "29 rows with a known value" in err


def test_rows_that_were_learned_from_are_recognized(printed, tmp_path):
    def noted(table, *words):
        table.to_csv(tmp_path / "new.csv", index=False)
        code, _, err = printed("predict", *words, tmp_path / "new.csv", "--target=cancer")
        assert code == 0
        return "was learned from these rows; kes learn --target cancer" in err

    table = pd.read_csv("data.csv")
    assert noted(table.iloc[::-1], "data.kes.json.gz")  # in any order
    assert not noted(table.drop(columns="cancer"), "data.kes.json.gz")  # nothing is compared
    assert not noted(table.head(300), "data.kes.json.gz")
    other = table.assign(smoker=table["smoker"].to_numpy()[::-1])
    assert not noted(other, "data.kes.json.gz")
    kes.load("data.kes.json.gz").best.fit("data.csv").save(tmp_path / "a.json")
    assert not noted(table, tmp_path / "a.json")  # a network does not know its rows


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


# --- averages ---


def test_an_average_is_fitted_saved_and_asked(printed, tmp_path):
    out = tmp_path / "average.json"
    words = ("fit", "data.kes.json.gz", "--average", "--members", 3, "--out", out)
    code, said, _ = printed(*words)
    assert code == 0
    assert "3 members" in said
    average = kes.load("data.kes.json.gz").ensemble("data.csv", members=3)
    assert kes.read_network(out) == average
    code, said, _ = printed("query", out, "cancer")
    assert code == 0
    for state, share in average.probability("cancer").items():
        assert f"{state}" in said
        assert f"{share:.6g}" in said
    assert f"members differ by {average.spread('cancer')['yes']:.4f}" in said


def test_an_average_predicts_with_its_spread(printed, tmp_path):
    for data, target in (("data", "cancer"), ("numbers", "effect")):
        average = kes.load(f"{data}.kes.json.gz").ensemble(f"{data}.csv", members=3)
        average.save(tmp_path / "a.json")
        code, said, _ = printed(
            "predict", tmp_path / "a.json", f"{data}.csv", "--target", target, "--out", "p.csv"
        )
        assert code == 0
        assert f"predictions of {target}" in said
        found = pd.read_csv("p.csv")
        *_, spread = average.predict(f"{data}.csv", target, spread=True)
        if data == "data":
            shares = average.predict("data.csv", target, probabilities=True)
            assert found[[f"P({s})" for s in average.states[target]]].to_numpy() == pytest.approx(
                shares
            )
            spread = spread[np.arange(len(shares)), shares.argmax(axis=1)]
        else:
            means = average.predict("numbers.csv", target)
            assert found[target].to_numpy() == pytest.approx(means)
            assert (found["low"] < found[target]).all()
            assert (found[target] < found["high"]).all()
        assert found["spread"].to_numpy() == pytest.approx(spread)


def test_members_go_to_numbered_files_of_other_formats(printed, tmp_path):
    out = tmp_path / "m.bif"
    code, said, _ = printed("fit", "data.kes.json.gz", "--average", "--members", 2, "--out", out)
    assert code == 0
    assert "m-01.bif and 1 more" in said
    assert kes.read_network(tmp_path / "m-02.bif").nodes == kes.load("data.kes.json.gz").names


def test_an_average_says_how_probable_cases_are(printed, tmp_path):
    average = kes.load("data.kes.json.gz").ensemble("data.csv", members=2)
    average.save(tmp_path / "a.json")
    code, said, _ = printed("score", "data.csv", tmp_path / "a.json")
    assert code == 0
    expected = average.log_likelihood("data.csv")
    assert said == f"{expected:.4f}  natural logarithm of the probability of the cases\n"
    code, _, err = printed("score", "data.csv", tmp_path / "a.json", "--criterion", "aic")
    assert code == 2
    assert "--criterion" in err


def test_averages_are_refused_where_a_graph_is_needed(printed, tmp_path):
    kes.load("data.kes.json.gz").ensemble("data.csv", members=2).save(tmp_path / "a.json")
    code, _, err = printed("plot", tmp_path / "a.json", "--out", tmp_path / "a.svg")
    assert code == 2
    assert "members" in err
    assert printed("fit", tmp_path / "a.json", "--average")[0] == 2
    code, _, err = printed("fit", "data.kes.json.gz", "--average", "--optimum", 0)
    assert code == 2
    assert "--optimum" in err
    for own in (("--members", 3), ("--budget", "3s"), ("--jobs", 1), ("--progress",)):
        code, _, err = printed("fit", "data.kes.json.gz", *own)
        assert code == 2
        assert f"{own[0]} belongs to --average" in err


def test_members_of_numbers_are_refused_before_the_work(printed, tmp_path, monkeypatch):
    def no_work(*_, **__):
        raise AssertionError("it is refused before")

    monkeypatch.setattr("kes.analysis.averaging.average_of", no_work)
    out = tmp_path / "m.bif"
    code, _, err = printed("fit", "numbers.kes.json.gz", "--average", "--out", out)
    assert code == 2
    assert "discrete networks only" in err


def test_an_interrupted_average_is_saved(printed, tmp_path, monkeypatch):
    finished = kes.load("data.kes.json.gz").ensemble("data.csv", members=2)

    def interrupted(*_, **__):
        raise EnsembleInterrupted(finished)

    monkeypatch.setattr("kes.results.optima.Optima.ensemble", interrupted)
    out = tmp_path / "average.json"
    code, said, err = printed("fit", "data.kes.json.gz", "--average", "--out", out)
    assert code == 130
    assert "Interrupted after 2 of 20 networks" in err
    assert "2 members" in said
    assert kes.read_network(out) == finished


def test_an_average_shows_progress_and_keeps_its_budget(printed, tmp_path):
    words = ("fit", "data.kes.json.gz", "--average", "--members", 10**6, "--budget", "0.5s")
    code, said, err = printed(*words, "--progress", "--jobs", 1)
    assert code == 0
    assert "AveragedNetwork" in said
    assert "/1000000 members" in err
