"""Peers of `over_time.py`, run in their own environment: print arcs from earlier values as JSON."""

import json
import resource
import sys

import numpy as np

LEVEL = 0.01


def pcmci(data: np.ndarray, *, discrete: bool) -> list[tuple[int, int]]:
    """Run PCMCI+ with one lag; the series are samples of one process."""
    from tigramite import data_processing
    from tigramite.pcmci import PCMCI

    if discrete:
        from tigramite.independence_tests.gsquared import Gsquared

        test = Gsquared(significance="analytic")
    else:
        from tigramite.independence_tests.parcorr import ParCorr

        test = ParCorr()
    series = dict(enumerate(data))
    kinds = {i: np.ones(part.shape, dtype=int) for i, part in series.items()} if discrete else None
    frame = data_processing.DataFrame(series, analysis_mode="multiple", data_type=kinds)
    found = PCMCI(frame, test, verbosity=0).run_pcmciplus(tau_min=0, tau_max=1, pc_alpha=LEVEL)
    graph = found["graph"]
    n = graph.shape[0]
    return [(a, b) for a in range(n) for b in range(n) if graph[a, b, 1] == "-->"]


def granger(data: np.ndarray) -> list[tuple[int, int]]:
    """Regress each variable on all values a step before; t-tests at a level over all pairs."""
    import statsmodels.api as sm

    n = data.shape[2]
    before = sm.add_constant(data[:, :-1].reshape(-1, n))
    found = []
    for b in range(n):
        p = sm.OLS(data[:, 1:, b].reshape(-1), before).fit().pvalues[1:]
        found += [(a, b) for a in range(n) if p[a] < LEVEL]
    return found


def main() -> None:
    which, path, limit = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    data = np.load(path)
    searches = {
        "pcmci": lambda: pcmci(data, discrete=False),
        "pcmci-discrete": lambda: pcmci(data.astype(int), discrete=True),
        "granger": lambda: granger(data),
    }
    print(json.dumps(searches[which]()))


if __name__ == "__main__":
    main()
