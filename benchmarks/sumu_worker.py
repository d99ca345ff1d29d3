"""Sample DAGs with sumu, in its own environment: python sumu_worker.py table.npz iterations.

Prints a line of JSON: processor seconds, and the shares of arcs, row by row.

The prior of sumu 0.1.2 favours small parent sets; here it is uniform, as ours. Its table of
scores fails with current versions of Cython, and is filled here with its own scores. Its sums over
parent sets are differences: what is lost by cancellation stops its chains for good, as on sachs.
They are enumerated here, at the same speed.
"""

import json
import sys
import time

import numpy as np
from sumu import gadget

RESTRICTED = gadget.CandidateRestrictedScore


def uniform(scores: "gadget.LocalScore") -> None:
    """Give all networks the same prior probability."""
    scores._prior = np.zeros(scores.data.n)


def score_table(scores: "gadget.LocalScore", candidates: np.ndarray) -> np.ndarray:
    """Return the score of each node for each subset of its candidate parents."""
    nodes, most = candidates.shape
    found = np.empty((nodes, 2**most))
    for node in range(nodes):
        for subset in range(2**most):
            own = [candidates[node, i] for i in range(most) if subset >> i & 1]
            found[node, subset] = scores._local(node, np.array(own, dtype=np.int32))
        scores.clear_cache()
    return found


class Sums:
    """The sums over parent sets of sumu, by enumeration."""

    def __init__(self, scores: np.ndarray, candidates: np.ndarray, most: int) -> None:
        self._own = RESTRICTED(scores, candidates, most)
        self._scores, self._sets = scores, np.arange(2**most)

    def sum(self, node: int, before: int, last: int) -> float:
        """Return the logarithm of the sum over the sets before with a member of the last layer."""
        if last == 0:
            return self._own.sum(node, before, last)
        among = (self._sets & ~before == 0) & (self._sets & last != 0)
        return float(np.logaddexp.reduce(self._scores[node][among]))


def main(path: str, iterations: int) -> None:
    gadget.LocalScore.precompute_prior = uniform
    gadget.LocalScore.all_candidate_restricted_scores = score_table
    gadget.CandidateRestrictedScore = Sums
    np.random.seed(1)
    codes = np.ascontiguousarray(np.load(path)["codes"].T.astype(np.int32))
    nodes = codes.shape[1]
    started = time.process_time()
    sampler = gadget.Gadget(
        data=gadget.Data(codes),
        scoref="bdeu",
        ess=1,
        max_id=-1,
        K=min(nodes - 1, 10),
        d=2,
        cp_algo="greedy-lite",
        cp_path=None,
        mc3_chains=4,
        burn_in=iterations // 4,
        iterations=iterations,
        thinning=10,
        tolerance=2**-32,
    )
    dags, _ = sampler.sample()
    seconds = time.process_time() - started
    arcs = np.zeros((nodes, nodes))
    for dag in dags:
        for node, *parents in dag:
            for parent in parents[0] if parents else ():
                arcs[parent, node] += 1
    print(json.dumps({"seconds": seconds, "arcs": (arcs / len(dags)).tolist()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
