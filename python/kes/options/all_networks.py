"""Limits on work, and options of questions about all networks: `kes.posterior`, `kes.credible`."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from kes.declare import Option
from kes.options.search import Display, Jobs, ScoringOptions
from kes.validation import choice, duration, integer, megabytes, number

if TYPE_CHECKING:
    from kes.files import PathLike

POSTERIOR_MEMORY = 4096
"""The sum over all networks needs more memory than most questions."""


class LimitOptions(TypedDict, total=False):
    """Limits on the work."""

    n_jobs: Jobs
    memory_mb: Annotated[
        int,
        Option(
            default=2048,
            group="execution",
            doc="Memory to use, approximately, in megabytes.",
            check=megabytes,
            metavar="N",
            help="Memory to use, approximately, in megabytes.",
        ),
    ]
    budget: Annotated[
        float | str | None,
        Option(
            default=None,
            group="execution",
            doc='Stop after this time: seconds, or text such as "30s", "10m".',
            check=duration,
            type="float, str or None",
            metavar="TIME",
            help="Stop after this time, such as 30s, 5m, 1h30m.",
        ),
    ]


class WorkOptions(LimitOptions, total=False):
    """Limits on the work, and its display."""

    progress: Display


class PosteriorWork(WorkOptions, total=False):
    """Options of posterior probabilities."""

    prior: Annotated[
        str,
        Option(
            default="dags",
            group="runs",
            doc="The prior: all DAGs have the same probability, or all equivalence classes. Where "
            "the two differ, the data do not decide. With `knowledge` and `max_parents`, only the "
            "networks that these allow count.",
            check=partial(choice, known=("dags", "classes")),
            help="Prior: equal for all DAGs, or for all equivalence classes.",
        ),
    ]
    method: Annotated[
        str,
        Option(
            default="auto",
            group="runs",
            doc='The exact sum, or Markov chains over models. "auto" chooses the sum if there is '
            "memory for it; under the prior over classes it is available with up to five columns "
            "that vary.",
            check=partial(choice, known=("auto", "exact", "chains")),
            help="Sum over all networks, or sample models by Markov chains.",
            default_text="exact if there is memory for it",
        ),
    ]
    rounds: Annotated[
        int | None,
        Option(
            default=None,
            group="runs",
            doc="Length of the chains; the first fifth is discarded. By default, 2 000 and "
            "then twice as many until the chains agree, at most 16 000; fewer in large problems. "
            "The result depends on it and on `random_state`, not on the time.",
            check=partial(integer, minimum=100),
            metavar="N",
            help="Length of the chains.",
            default_text="until they agree, for about half a minute",
        ),
    ]
    resume: Annotated[
        "PathLike | None",
        Option(
            default=None,
            group="execution",
            doc="File of the chains: they go on from it if it exists, and are written to it. "
            "Stopped and resumed, they give the same numbers.",
            type="str, path or None",
            metavar="FILE",
            help="Go on with the chains in this file, if it exists, and write them to it.",
        ),
    ]


class CredibleWork(WorkOptions, total=False):
    """The largest distance from the best score, and the largest number of models."""

    within: Annotated[
        float,
        Option(
            default=3.0,
            group="runs",
            doc="Largest distance from the highest score, in nats.",
            check=partial(number, minimum=0.0),
            metavar="NATS",
            help="Largest distance from the highest score.",
        ),
    ]
    most: Annotated[
        int,
        Option(
            default=10_000,
            group="runs",
            doc="Stop when there are more models than this; then the result is not complete.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Stop when there are more models than this.",
        ),
    ]


class PosteriorOptions(ScoringOptions, PosteriorWork, total=False):
    """Options of `kes.posterior`."""


class CredibleOptions(ScoringOptions, CredibleWork, total=False):
    """Options of `kes.credible`."""
