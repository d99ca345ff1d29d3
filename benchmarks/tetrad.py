"""Tetrad's fast greedy equivalence search under knowledge, called through JPype.

`install` fetches a release that runs on Java 8 and later, with what it needs. A Java runtime
and the package jpype1 have to be there.
"""

import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kes

JARS = Path(sys.prefix) / "peers" / "tetrad"
"""Where the archives are."""

CENTRAL = "file:maven"
NEEDED = (
    "io/github/cmu-phil/tetrad-lib/7.5.0/tetrad-lib-7.5.0.jar",
    "io/github/cmu-phil/data-reader/7.5.0/data-reader-7.5.0.jar",
    "org/apache/commons/commons-math3/3.6.1/commons-math3-3.6.1.jar",
    "org/apache/commons/commons-collections4/4.4/commons-collections4-4.4.jar",
    "org/apache/commons/commons-lang3/3.12.0/commons-lang3-3.12.0.jar",
    "colt/colt/1.2.0/colt-1.2.0.jar",
    "concurrent/concurrent/1.3.4/concurrent-1.3.4.jar",
    "gov/nist/math/jama/1.0.3/jama-1.0.3.jar",
    "javax/help/javahelp/2.0.05/javahelp-2.0.05.jar",
    "xom/xom/1.3.9/xom-1.3.9.jar",
)


def install() -> None:
    """Fetch what is not there yet."""
    JARS.mkdir(parents=True, exist_ok=True)
    for path in NEEDED:
        target = JARS / Path(path).name
        if not target.exists():
            part, _ = urllib.request.urlretrieve(f"{CENTRAL}/{path}", target.with_suffix(".part"))
            Path(part).rename(target)


def classes() -> Any:
    """Start Java if it is not running, and return Tetrad's package."""
    import jpype

    if not jpype.isJVMStarted():
        jpype.startJVM(classpath=[str(JARS / "*")])
    return jpype.JPackage("edu").cmu.tetrad


def fges(
    data: kes.Dataset, tiers: Sequence[Sequence[str]]
) -> tuple[set[tuple[str, str]], set[frozenset[str]]]:
    """Return the directed and the undirected edges that FGES ends in, with plain BIC."""
    import jpype

    tetrad = classes()
    variables = jpype.java.util.ArrayList()
    for name, states in zip(data.names, data.states, strict=True):
        variables.add(tetrad.data.DiscreteVariable(name, len(states)))
    box = tetrad.data.VerticalIntDataBox(jpype.JArray.of(data.codes, jpype.JInt))
    score = tetrad.search.score.DiscreteBicScore(tetrad.data.BoxDataSet(box, variables))
    score.setStructurePrior(0.0)
    score.setPenaltyDiscount(1.0)
    known = tetrad.data.Knowledge()
    for number, tier in enumerate(tiers):
        for name in tier:
            known.addToTier(number, name)
    search = tetrad.search.Fges(score)
    search.setKnowledge(known)
    search.setFaithfulnessAssumed(False)
    directed, undirected = set(), set()
    for edge in search.search().getEdges():
        a, b = str(edge.getNode1().getName()), str(edge.getNode2().getName())
        if edge.isDirected():
            directed.add((a, b) if edge.pointsTowards(edge.getNode2()) else (b, a))
        else:
            undirected.add(frozenset((a, b)))
    return directed, undirected
