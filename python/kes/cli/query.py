"""``kes query``: ask a network for probabilities and means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import network_of
from kes.cli.parsing import Integer
from kes.cli.query_syntax import Asked, parse
from kes.data.dataset import Dataset
from kes.errors import listed
from kes.network import BayesianNetwork, GaussianNetwork, MixedNetwork
from kes.network.fitting import Fitted
from kes.network.query import Moments, Probability

_DIFFERENCE = 0.05
"""Show the share of a state in the data if it differs more than this."""

_EXAMPLES = """
\b
Examples:
  kes query a.kes.json.gz "P(cancer | smoker=yes)"
  kes query best.bif "P(cancer=yes, cough=yes | smoker=yes, age=old)"
  kes query flowers.json "height | width=1.2"
"""


@click.command(
    "query",
    cls=options.Command,
    short_help="Ask a network for probabilities, or for means.",
    epilog=_EXAMPLES,
)
@options.model
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option(
    "--draws",
    type=Integer(min=1),
    metavar="N",
    default=10_000,
    show_default=True,
    help="Number of draws if a network of both kinds of variables has no exact answer.",
)
@options.add("random_state")
def command(
    *,
    model: Path,
    questions: tuple[str, ...],
    data: str | None,
    optimum: int,
    draws: int,
    random_state: int,
) -> None:
    """Ask MODEL, a network or a result with its data, for probabilities and means.

    A question names one variable, for its distribution (of a continuous variable, mean and standard
    deviation), or states of several variables, for their joint probability. The evidence follows
    after a bar. Quote names and states with special characters: "'a b'=1".
    """
    network, table = network_of(model, data, optimum)
    asked = [parse(question, network) for question in questions]
    blocks = [[*_answers(network, question, table, draws, random_state)] for question in asked]
    texts = zip(asked, blocks, strict=True)
    say("\n\n".join("\n  ".join([question.text, *lines]) for question, lines in texts))
    if any("±" in line for lines in blocks for line in lines):
        say("\n± is the standard error of the simulation")


def _answers(
    network: Fitted, asked: Asked, table: Dataset | None, draws: int, seed: int
) -> Iterator[str]:
    target, known = asked.target, asked.known
    if isinstance(target, str) and not network.states[target]:
        yield from _moments(network, target, asked, draws, seed)
        return
    assert not isinstance(network, GaussianNetwork), "it has no states"
    how = {"draws": draws, "seed": seed} if isinstance(network, MixedNetwork) else {}
    found = network.probability(target, known, **how)
    if isinstance(found, dict):
        width = max(len(str(state)) for state in found)
        yield from (f"{state!s:<{width}}  {_formatted(share)}" for state, share in found.items())
    else:
        yield _formatted(found)
    if table is None or known:
        return
    if isinstance(found, dict):
        yield from _differences(table, str(target), {str(s): float(p) for s, p in found.items()})
    elif len(target) == 1 and not isinstance(target, str):
        [(node, state)] = target.items()
        yield from _differences(table, node, {str(state): float(found)})


def _differences(table: Dataset, node: str, said: Mapping[str, float]) -> Iterator[str]:
    """Name the states of a node whose shares in the data differ from what the network says."""
    states = map(str, table.states[table.names.index(node)])
    different = [
        f"{state} {share:.3f}"
        for state, share in zip(states, table.state_shares(node), strict=True)
        if abs(share - said.get(state, share)) > _DIFFERENCE
    ]
    if different:
        yield f"in the data: {listed(different, show=str)}; kes report checks the model"


def _moments(network: Fitted, target: str, asked: Asked, draws: int, seed: int) -> Iterator[str]:
    assert not isinstance(network, BayesianNetwork), "its nodes have states"
    if isinstance(network, MixedNetwork):
        found: Moments = network.conditional(target, asked.known, draws=draws, seed=seed)
    else:
        found = network.conditional(target, asked.known)
    scale = "" if network.transform is None else "  (of the normal scores of its ranks)"
    error = f" ± {found.error[0]:.2g}" if found.error[0] else ""
    yield f"mean       {found.mean[0]:.6g}{error}{scale}"
    yield f"deviation  {found.deviation[0]:.6g}"


def _formatted(probability: float | Probability) -> str:
    """Format a probability, with the standard error if it was simulated."""
    if not isinstance(probability, Probability):
        return f"{probability:.6f}"
    return str(probability) if probability.error else f"{probability.value:.6f}"
