"""Call Tetrad's searches through JPype.

`install` lets Maven fetch a release into the environment of this peer. It needs Java 21 or newer.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

VERSIONS = {"tetrad": "7.6.6", "tetrad-7.6.3": "7.6.3"}
"""Releases by environment; BOSS of the earlier one finds other graphs, in a third of the time."""
_NEEDED = (
    "io.github.cmu-phil:tetrad-lib:{version}",
    # Its POM omits a dependency that its archive names.
    "io.github.cmu-phil:data-reader:{version}",
    "javax.help:javahelp:2.0.05",
    "org.apache.commons:commons-math3:3.6.1",
    "org.apache.commons:commons-collections4:4.4",
    "org.apache.commons:commons-text:1.11.0",
    "colt:colt:1.2.0",
    "org.ejml:ejml-all:0.43",
)
_JAVA = 21
_VIRTUAL_MACHINES = Path("/usr/lib/jvm")

Edges = list[tuple[int, int]]


def install(folder: Path, version: str) -> bool:
    """Let Maven download the archives into a folder; return whether it succeeded."""
    if shutil.which("mvn") is None:
        return False
    wanted = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
        "</dependency>".format(*artifact.format(version=version).split(":"))
        for artifact in _NEEDED
    )
    project = "<groupId>kes</groupId><artifactId>peers</artifactId><version>1</version>"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(
        f"<project><modelVersion>4.0.0</modelVersion>{project}"
        f"<dependencies>{wanted}</dependencies></project>"
    )
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"]
    command = ["mvn", "--quiet", "--batch-mode", *goal]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


def java() -> str:
    """Return the library of a Java that is recent enough."""
    homes = [Path(home) for home in [os.environ.get("JAVA_HOME")] if home]
    for home in [*homes, *sorted(_VIRTUAL_MACHINES.glob("*"))]:
        release, library = home / "release", home / "lib/server/libjvm.so"
        if release.exists() and library.exists():
            number = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
            if number and int(number[1]) >= _JAVA:
                return str(library)
    raise SystemExit(f"Tetrad needs Java {_JAVA} or newer; name it by JAVA_HOME")


def start(folder: Path) -> Any:
    """Start Java, once, and return Tetrad's package."""
    import jpype

    if not jpype.isJVMStarted():
        jpype.startJVM(java(), "--enable-native-access=ALL-UNNAMED", classpath=[f"{folder}/jars/*"])
    return jpype.JPackage("edu").cmu.tetrad


def discrete_bic(tetrad: Any, codes: np.ndarray, states: Sequence[int]) -> Any:
    """Return plain BIC for a table of codes (variables x cases); variable i is called vi."""
    import jpype

    variables = jpype.java.util.ArrayList()
    for i, number in enumerate(states):
        variables.add(tetrad.data.DiscreteVariable(f"v{i}", int(number)))
    box = tetrad.data.VerticalIntDataBox(jpype.JArray.of(codes.astype(np.int32), jpype.JInt))
    score = tetrad.search.score.DiscreteBicScore(tetrad.data.BoxDataSet(box, variables))
    score.setStructurePrior(0.0)
    score.setPenaltyDiscount(1.0)
    return score


def gaussian_bic(tetrad: Any, values: np.ndarray) -> Any:
    """Return Gaussian BIC for a table of numbers (variables x cases); variable i is called vi."""
    import jpype

    variables = jpype.java.util.ArrayList()
    for i in range(len(values)):
        variables.add(tetrad.data.ContinuousVariable(f"v{i}"))
    box = tetrad.data.VerticalDoubleDataBox(jpype.JArray.of(values, jpype.JDouble))
    score = tetrad.search.score.SemBicScore(tetrad.data.BoxDataSet(box, variables), True)
    score.setStructurePrior(0.0)
    score.setPenaltyDiscount(1.0)
    return score


def knowledge(tetrad: Any, tiers: Sequence[Sequence[int]]) -> Any:
    """Return tiers of variables as Tetrad's knowledge."""
    known = tetrad.data.Knowledge()
    for number, tier in enumerate(tiers):
        for variable in tier:
            known.addToTier(number, f"v{variable}")
    return known


def fges(tetrad: Any, score: Any, known: Any = None) -> Any:
    """Return the graph of fast greedy equivalence search."""
    search = tetrad.search.Fges(score)
    search.setFaithfulnessAssumed(False)
    if known is not None:
        search.setKnowledge(known)
    return search.search()


def boss(tetrad: Any, score: Any, starts: int) -> Any:
    """Return the graph of the best of several orders."""
    orders = tetrad.search.Boss(score)
    orders.setUseBes(True)
    orders.setNumStarts(starts)
    search = tetrad.search.PermutationSearch(orders)
    search.setSeed(0)
    return search.search()


def edges(graph: Any) -> tuple[Edges, Edges]:
    """Return the directed and the undirected edges of a graph."""
    directed, undirected = [], []
    for edge in graph.getEdges():
        a, b = (int(str(node.getName())[1:]) for node in (edge.getNode1(), edge.getNode2()))
        if edge.isDirected():
            directed.append((a, b) if edge.pointsTowards(edge.getNode2()) else (b, a))
        else:
            undirected.append((a, b))
    return directed, undirected
