"""Sample DAGs with sumu, in its own environment: python sumu_worker.py table.npz iterations.

Prints a line of JSON: processor seconds, and the shares of arcs, row by row.

The prior of sumu 0.1.2 favours small parent sets; here it is uniform, as ours. Its table of
scores fails with current versions of Cython, and is filled here with its own scores. If the sum
over the parent sets of a node is lost by cancellation, it fails; here its own enumeration is used.
"""

import json
import sys
import time

import numpy as np
from sumu import gadget


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


def drawn(
    self: "gadget.DAGR",
    v: int,
    layers: list[set[int]],
    score: bool = False,
    sample=gadget.DAGR.sample_pset,
) -> tuple:
    """Draw the parents of a node."""
    try:
        return sample(self, v, layers, score=score)
    except UnboundLocalError:  # the sum is lost, and all parents are candidates
        place = next(i for i, layer in enumerate(layers) if v in layer)
        before = set().union(*layers[:place])
        parents = tuple(sorted(self._sample_pset_brute(v, before, layers[place - 1])))
        family = (v, parents)
        own = self.score.score_array[v][gadget.bm(parents, ix=self.C[v])]
        return (family, own) if score else family


def main(path: str, iterations: int) -> None:
    gadget.LocalScore.precompute_prior = uniform
    gadget.LocalScore.all_candidate_restricted_scores = score_table
    gadget.DAGR.sample_pset = drawn
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
