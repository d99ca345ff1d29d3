"""``kes query``: what a network says of a variable, given others."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click

from kes.cli import options
from kes.cli.model import network_of
from kes.cli.questions import Asked, parse
from kes.cli.screen import say
from kes.cli.values import Whole
from kes.network import BayesianNetwork, GaussianNetwork, MixedNetwork
from kes.network.fitting import Fitted
from kes.network.moments import Moments, Probability

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
    type=Whole(min=1),
    metavar="N",
    default=10_000,
    show_default=True,
    help="Draws where a network with both kinds of variables has no exact answer.",
)
@options.seed
def command(
    *,
    model: Path,
    questions: tuple[str, ...],
    data: str | None,
    optimum: int,
    draws: int,
    seed: int,
) -> None:
    """Ask MODEL, a network or a result with its data, what it says of a variable.

    A question names one variable, whose distribution is told (of a continuous one, mean and
    standard deviation), or states of some, whose joint probability is told; after a bar come the
    variables that are known. Quote names and states with special characters: "'a b'=1".
    """
    network = _answerable(network_of(model, data, optimum))
    asked = [parse(question, network) for question in questions]
    blocks = []
    for question in asked:
        lines = _answers(network, question, draws, seed)
        blocks.append("\n".join([question.text, *(f"  {line}" for line in lines)]))
    say("\n\n".join(blocks))


def _answerable(network: Fitted) -> Fitted:
    """Return the network in a form that answers without the extra that discrete ones ask for.

    pyAgrum is faster, which matters for thousands of questions, but a shell asks few.
    """
    if not isinstance(network, BayesianNetwork) or find_spec("pyagrum") is not None:
        return network
    parts = (network.nodes, network.states, network.parents, network.cpts)
    return MixedNetwork(*parts, discretizer=network.discretizer)


def _answers(network: Fitted, asked: Asked, draws: int, seed: int) -> Iterator[str]:
    target, known = asked.target, asked.known
    if isinstance(target, str) and not network.states[target]:
        yield from _moments(network, target, asked, draws, seed)
        return
    assert not isinstance(network, GaussianNetwork), "it has no states"
    how = {"draws": draws, "seed": seed} if isinstance(network, MixedNetwork) else {}
    found = network.probability(target, known, **how)
    if not isinstance(found, dict):
        yield _written(found)
        return
    width = max(len(str(state)) for state in found)
    for state, probability in found.items():
        yield f"{state!s:<{width}}  {_written(probability)}"


def _moments(network: Fitted, target: str, asked: Asked, draws: int, seed: int) -> Iterator[str]:
    assert not isinstance(network, BayesianNetwork), "its nodes have states"
    if isinstance(network, MixedNetwork):
        found: Moments = network.conditional(target, asked.known, draws=draws, seed=seed)
    else:
        found = network.conditional(target, asked.known)
    scale = "" if network.transform is None else "  (of normal scores of its ranks)"
    error = f" ± {found.error[0]:.2g} by simulation" if found.error[0] else ""
    yield f"mean       {found.mean[0]:.6g}{error}{scale}"
    yield f"deviation  {found.deviation[0]:.6g}"


def _written(probability: float | Probability) -> str:
    """Write a probability, with the standard error of its simulation if there was one."""
    if not isinstance(probability, Probability):
        return f"{probability:.6f}"
    return f"{probability} by simulation" if probability.error else f"{probability.value:.6f}"
