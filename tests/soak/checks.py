"""Invariants of a case. Each check raises AssertionError, or counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest

import kes

from .case import Case


class Checks:
    """The checks of one case, in a folder for its files."""

    def __init__(self, case: Case, folder: Path, rng: np.random.Generator) -> None:
        self.case, self.folder, self.rng = case, folder, rng
        self.data = case.table()
        self.optima = case.learn(self.data)
        # Oracles add numbers of the size of the score, in double precision.
        self.slack = 8 * self.optima.record.tolerance + 1e-10 * max(map(abs, case.score_range))
        self.bytes = self.saved(self.optima)

    def saved(self, optima: kes.Optima) -> bytes:
        path = self.folder / "a.kes.json"
        optima.save(path)
        return path.read_bytes()

    def near(self, found: float, expected: float) -> bool:
        return found == expected or abs(found - expected) <= self.slack

    # --- against brute force ---

    def scores(self) -> int:
        for optimum in self.optima:
            assert self.near(optimum.score, self.case.score[self.case.number(optimum.graph)])
        return len(self.optima)

    def boundary(self) -> int:
        """All neighbours of the best model and of some other, with their gains."""
        case = self.case
        others = [m for m, ok in enumerate(case.admissible) if ok and case.score[m] > -inf]
        chosen = {case.number(self.optima.best.graph), int(self.rng.choice(others))}
        at = {name: i for i, name in enumerate(case.names)}
        total = 0
        for model in sorted(chosen):
            found = kes.inclusion_boundary(
                case.graph(model),
                self.data,
                max_parents=case.options["max_parents"],
                knowledge=case.knowledge,
                **case.scoring,
            )
            expected = case.neighbours(model)
            gains = {}
            for one in found:
                given = tuple(sorted(at[v] for v in one.given))
                gains[one.kind == "insert", at[one.x], at[one.y], given] = one.delta
            assert len(found) == len(gains)
            assert gains.keys() == expected.keys()
            for triple, target in expected.items():
                assert self.near(gains[triple], case.score[target] - case.score[model])
            total += len(found)
        return total

    def local_optima(self) -> int:
        """No admissible neighbour of the end of a run scores higher."""
        for optimum in self.optima.of_runs:
            model = self.case.number(optimum.graph)
            assert self.case.admissible[model]
            assert optimum.is_local_optimum
            for target in self.case.neighbours(model).values():
                assert self.case.score[target] <= self.case.score[model] + self.slack
        return len(self.optima.of_runs)

    def certificate(self) -> int:
        case = self.case
        certificate = kes.certify(
            self.data,
            max_parents=case.options["max_parents"],
            knowledge=case.knowledge,
            n_jobs=1,
            optima=self.optima if self.rng.random() < 0.5 else None,
            **case.scoring,
        )
        assert certificate.proven
        assert self.near(certificate.score, case.best)
        model = case.number(certificate.graph)
        assert case.admissible[model]
        assert self.near(case.score[model], case.best)
        return 1

    def proof(self) -> int:
        """The search proves it itself, and what it lacks joins the result; on any threads."""
        one, two = (self.case.learn(self.data, prove=True, n_jobs=threads) for threads in (1, 2))
        assert one.proven
        assert self.near(one.best.score, self.case.best)
        assert self.saved(one) == self.saved(two)
        return 1

    def improve(self) -> int:
        """More tasks: never a worse best, never above the optimum, the models of runs untouched."""
        better = self.optima.improve(tasks=40, n_jobs=1)
        assert better.best.score >= self.optima.best.score
        assert better.best.score <= self.case.best + self.slack
        assert list(better.run_scores) == list(self.optima.run_scores)
        for optimum in better:
            assert self.case.admissible[self.case.number(optimum.graph)]
        return len(better)

    # --- against itself ---

    def files(self) -> int:
        path = self.folder / "b.kes.json.gz"
        self.optima.save(path)
        again = kes.load(path)
        assert again == self.optima
        assert self.saved(again) == self.bytes
        return 1

    def threads(self) -> int:
        assert self.saved(self.case.learn(self.data, n_jobs=2)) == self.bytes
        return 1

    def split(self) -> int:
        """Some runs, then the rest, once through a file: the same bytes as all at once."""
        first = int(self.rng.integers(1, self.case.runs))
        part = self.case.learn(self.data, runs=first)
        path = self.folder / "part.kes.json"
        part.save(path)
        for one in (part, kes.load(path)):
            whole = one.extend(self.case.runs - first, data=self.data, n_jobs=1)
            assert self.saved(whole) == self.bytes
        return 2

    def rows(self) -> int:
        order = self.rng.permutation(self.data.rows)
        assert self.saved(self.case.learn(self.case.table(order))) == self.bytes
        return 1

    def repeated(self) -> int:
        """A weight that is a whole number is a number of rows."""
        weights = self.case.weights
        if weights is None or (weights % 1).any():
            return 0
        rows = np.repeat(np.arange(self.data.rows), weights.astype(int))
        again = self.case.learn(self.data.take(rows))
        assert [(o.graph, o.score, o.hits) for o in again] == [
            (o.graph, o.score, o.hits) for o in self.optima
        ]
        return 1

    def completion(self) -> int:
        """Gaps that are filled in by EM: rows in any order, threads in any number."""
        if self.rng.random() > 0.15:
            return 0
        frame = self.data.to_pandas()
        for name in frame:
            frame[name] = frame[name].where(self.rng.random(len(frame)) > 0.1)
        order = self.rng.permutation(len(frame))
        weights = self.case.weights

        def learn(rows: np.ndarray, threads: int) -> bytes:
            return self.saved(
                self.case.learn(
                    frame.iloc[rows],
                    missing="em",
                    completions=3,
                    kinds={
                        name: "discrete" if r else "continuous"
                        for name, r in zip(self.case.names, self.case.cardinalities, strict=True)
                    },
                    weights=None if weights is None else weights[rows],
                    n_jobs=threads,
                )
            )

        assert learn(np.arange(len(frame)), 1) == learn(order, 2)
        return 1


CHECKS: tuple[Callable[[Checks], int], ...] = (
    Checks.scores,
    Checks.boundary,
    Checks.local_optima,
    Checks.certificate,
    Checks.proof,
    Checks.improve,
    Checks.files,
    Checks.threads,
    Checks.split,
    Checks.rows,
    Checks.repeated,
    Checks.completion,
)


def examine(case: Case, folder: Path, rng: np.random.Generator) -> Counter[str]:
    """Do all checks of a case; the counts of what was compared."""
    if case.twins or case.impossible:
        expected = "collinear columns" if case.twins else "required parents"
        with pytest.raises(kes.KesError, match=expected):
            case.learn(case.table())
        return Counter(refused=1)
    checks = Checks(case, folder, rng)
    return Counter({check.__name__: check(checks) for check in CHECKS})
