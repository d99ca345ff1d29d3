"""Runs may end in any order, in batches of any kind, from any number of searches: the record is
the same."""

import random
import time
from dataclasses import replace

import pytest

from kes.budget import Budget, Improve
from kes.search.collector import Collector
from kes.search.record import Batch, Improving, Model, Offspring, Record
from kes.settings import Settings

# Models 0, 1, 2, ... are told apart by one arc; the score of each is its number.
MODELS = [(([(0, number + 1)], []), float(number), True) for number in range(6)]
ENDS = [2, 0, 2, 3, 1, 3, 3, 0, 5, 4, 4, 1]
"""The model in which each run ends."""


@pytest.fixture
def blank():
    return Record(
        settings=Settings(k=0.5, criterion="bic", ess=None, seed=0),
        names=tuple("abcdefg"),
        states=(("n", "y"),) * 7,
        fingerprint="",
        cases=10.0,
        tolerance=1e-9,
        ges=Model.from_core(*MODELS[2]),
    )


def deliver(collector, runs):
    """Play the core: number the models in the order they turn up in this call."""
    receive, order = collector.receiver(), []
    while runs:
        size = random.randint(1, 4)
        batch, runs = runs[:size], runs[size:]
        new = [end for end in dict.fromkeys(ENDS[run] for run in batch) if end not in order]
        order += new
        go_on = receive(batch, [order.index(ENDS[run]) for run in batch], [MODELS[m] for m in new])
        if not go_on:
            break


def straight(blank, runs):
    """Runs in order, written down by hand."""
    order = list(dict.fromkeys(ENDS[:runs]))
    models = tuple(Model.from_core(*MODELS[end]) for end in order)
    return models, tuple(order.index(end) for end in ENDS[:runs])


@pytest.mark.parametrize("seed", range(20))
def test_any_order_gives_the_same_record(blank, seed):
    random.seed(seed)
    runs = random.sample(range(12), 12)
    cut = random.randint(0, 12)
    collector = Collector(blank, Budget(runs=12))
    deliver(collector, runs[:cut])
    deliver(collector, runs[cut:])
    record = collector.record()
    assert (record.models, record.runs) == straight(blank, 12)
    assert collector.stopped


@pytest.mark.parametrize("seed", range(10))
def test_an_unfinished_search_is_a_prefix_and_what_is_ahead(blank, seed):
    random.seed(seed)
    runs = random.sample(range(12), 8)
    collector = Collector(blank, Budget(runs=12))
    deliver(collector, runs)
    ready = next(run for run in range(13) if run not in runs)
    assert collector.ready == ready
    assert collector.done == 8
    record = collector.record(ahead=True)
    assert [run for run, _ in record.ahead] == sorted(run for run in runs if run > ready)
    finished = record.finished()
    assert finished == collector.record()
    assert (finished.models, finished.runs) == straight(blank, ready)

    resumed = Collector(record, Budget(runs=12))
    assert sorted([*runs, *resumed.pending()]) == list(range(12))
    deliver(resumed, random.sample(list(resumed.pending()), 4))
    assert (resumed.record().models, resumed.record().runs) == straight(blank, 12)


@pytest.mark.parametrize(
    ("patience", "length"),
    [
        (1, 2),  # run 1 (score 0) is no better than run 0 (score 2)
        (2, 3),  # nor is run 2 (score 2 again)
        (3, 7),  # run 3 is better (3), runs 4, 5 and 6 are not
        (4, 8),
        (5, 12),  # run 8 is better (5), and the three after it are not enough
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_patience_looks_at_runs_in_order(blank, patience, length, seed):
    random.seed(seed)
    collector = Collector(blank, Budget(runs=12, patience=patience))
    deliver(collector, random.sample(range(12), 12))
    assert len(collector.record().runs) == length
    assert collector.stopped


def test_runs_that_are_there_are_never_dropped(blank):
    first = Collector(blank, Budget(runs=6))
    deliver(first, list(range(6)))
    again = Collector(first.record(), Budget(runs=3, patience=1))
    assert again.stopped
    assert again.record() == first.record()


def test_scores_that_differ_by_rounding_are_on_one_level(blank):
    collector = Collector(blank, Budget(runs=3, patience=1))
    receive = collector.receiver()
    receive([0, 1], [0, 1], [(([(0, 1)], []), 2.0, True), (([(0, 2)], []), 2.0 + 1e-12, True)])
    assert len(collector.record().runs) == 2


def test_infinite_scores_have_levels(blank):
    worst, best = blank.level(float("-inf")), blank.level(float("inf"))
    assert worst < blank.level(-1e200) < blank.level(1.0) < blank.level(1e200) < best
    assert blank.level(1e300) == best, "too many tolerances to count"


def test_budget_is_not_up_before_a_run_has_ended(blank):
    """A second is always allowed; otherwise half is left to improve on GES."""
    collector = Collector(blank, Budget(runs=12, seconds=1e-9))
    assert not collector.stopped
    for improve, share in ((False, 1.0), (True, 0.5)):
        for budget, most in ((1e-9, 1.0), (4.0, 4.0), (60.0, 60.0)):
            for spent, over in ((share * most - 0.4, False), (share * most + 0.4, True)):
                began = time.monotonic() - spent
                allowed = Budget(runs=12, seconds=budget, improve=Improve(improve))
                assert Collector(blank, allowed, started=began).stopped == over
    deliver(collector, [3])
    assert not collector.stopped
    deliver(collector, [0])
    assert collector.stopped
    assert collector.record().runs == (0,)


@pytest.mark.parametrize(
    ("improve", "runs_end"),
    [
        (False, 10.0),
        ("2s", 8.0),
        ("1h", 5.0),  # no more than half is left for it
        (1, 9.0),  # a task may take as long as ten runs
        (100, 5.0),
    ],
)
def test_a_part_of_the_budget_is_left_for_improving(improve, runs_end):
    budget = Budget.parse(budget=10.0, improve=improve)
    assert not budget.ends_runs(50, run_seconds=0.1, spent=runs_end - 0.01)
    assert budget.ends_runs(50, run_seconds=0.1, spent=runs_end + 0.01)


def test_what_was_made_of_a_run_that_waits_for_others_waits_too(blank):
    """Runs 0, 1 and 3 have ended: what is made of the first two alone can be shown."""
    collector = Collector(blank, Budget(runs=12))
    deliver(collector, [0, 1, 3])
    record = collector.record(ahead=True)
    waiting, shown = (
        Offspring(Model.from_core(*MODELS[model]), "recombined", parents, task)
        for task, (model, parents) in enumerate([(4, (0, 2)), (5, (0, 1))])
    )
    improved = replace(
        record, offspring=(waiting, shown), improving=Improving(batches=(Batch(2, "learn"),))
    )
    assert [run for run, _ in record.ahead] == [3]
    assert improved.finished().offspring == (shown,)


def test_watchers_see_every_batch(blank):
    seen = []
    collector = Collector(blank, Budget(runs=12), watchers=[lambda now: seen.append(now.done)])
    deliver(collector, list(range(12)))
    assert seen == sorted(seen)
    assert seen[-1] == 12
