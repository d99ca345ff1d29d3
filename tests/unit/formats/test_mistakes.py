"""Files of networks and graphs with mistakes: each is located, and the message says what it is."""

import gzip

import pytest
from tests.unit.formats.written import ASIA_LIKE, NET, XMLBIF, read_network_from, small
from tests.unit.refused import refused

from kes.formats import write_graph
from kes.network import read_graph, read_network

NETWORK_SUFFIXES = [".bif", ".xmlbif", ".net", ".json"]
GRAPH_SUFFIXES = [".dot", ".graphml", ".json"]


def changed(old: str, new: str, content: str = ASIA_LIKE) -> str:
    assert content.count(old) == 1
    return content.replace(old, new)


HERE = "§"
"""Marks the place where the mistake is; not part of the file."""

MISTAKES = [
    (".bif", changed("lung {\n  type discrete [", f"lung type discrete {HERE}["), "expected '{'"),
    (".bif", changed("no };\n", f"no }}\n{HERE}"), "expected ';' after the states, found '}'"),
    (".bif", changed("[ 2 ]", f"[ {HERE}two ]"), "expected the number of states, found 'two'"),
    (".bif", changed("[ 2 ] ", f"[ 3 ] {HERE}"), "'smoke' is said to have 3 states, but has 2"),
    (
        ".bif",
        changed("smoke {\n", f"{HERE}smoke {{\n").replace("no }", "yes }"),
        "state 'yes' twice",
    ),
    (".bif", changed("variable lung", f"variable {HERE}smoke"), "'smoke' is declared twice"),
    (".bif", changed("variable lung", f"{HERE}varable lung"), "expected network, variable or prob"),
    (".bif", changed("discrete [ 2 ]", f"{HERE}continuous [ 2 ]"), "'smoke' is not discrete"),
    (
        ".bif",
        changed("variable lung {", f"variable {HERE}lung {{ }} variable x {{"),
        "has no states",
    ),
    (".bif", changed("0.25, 0.75", f"0.25, {HERE}x.75"), "expected a probability, found 'x.75'"),
    (".bif", changed("table 0.25, 0.75;", f"table {HERE}0.25, 0.75"), "probabilities that end in"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}0.25, 0.5"), "0.25, 0.5, with sum 0.75"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}1.25, -.25"), "must be at least 0"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}nan, 0.75"), "must be at least 0"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}1"), "2 = 2 numbers, not 1"),
    (
        ".bif",
        changed("(yes) 0.5, 0.25, 0.25", f"(yes) {HERE}0.5, 0.5"),
        "has 3 states, but here are 2",
    ),
    (
        ".bif",
        changed("(yes)", f"({HERE}yse)"),
        "'smoke' has no state 'yse'; its states are yes, no",
    ),
    (".bif", changed("(no) ", f"(yes) {HERE}"), "this row of 'lung' is given twice"),
    (".bif", changed("(no) ", f"(no, no) {HERE}"), "must name 1 states"),
    (
        ".bif",
        changed("(no) 0.125, 0.125, 0.75;", "").replace(
            "probability ( l", f"{HERE}probability ( l"
        ),
        "lack 1 of 2 rows, the first one with the parents' states number 2",
    ),
    (".bif", changed("(no) 0.125", f"(no) {HERE}0.525"), "with sum 1.4"),
    (".bif", changed("lung | smoke", f"lung | {HERE}smok"), "there is no variable 'smok'"),
    (
        ".bif",
        changed("probability ( lung | s", f"{HERE}probability ( lung | smoke, s"),
        "not distinct",
    ),
    (
        ".bif",
        changed("probability ( lung | smoke", f"{HERE}probability ( lung, smoke |"),
        "joint table",
    ),
    (".bif", ASIA_LIKE + f"probability ( smoke ) {{ table {HERE}0.5, 0.5; }}", "are given twice"),
    (
        ".bif",
        changed("variable lung", f"variable {HERE}lung").partition("probability ( lung")[0],
        "gives no probabilities for the variable 'lung'",
    ),
    (".bif", changed("( smoke ) ", f"( smoke {HERE}"), "expected '\\)' after the variable"),
    (".bif", changed("smoke {\n", f'{HERE}"smoke {{\n'), "a string that does not end"),
    (
        ".bif",
        changed("variable smoke {\n", f"variable {HERE}smoke {{ property kes_states = 1 ;\n"),
        "does not list its 2 states: 1",
    ),
    (
        ".bif",
        changed("variable smoke {\n", f"variable {HERE}smoke {{ property kes_name = 1 ;\n"),
        "not a text in single quotes: 1",
    ),
    (
        ".bif",
        changed("}\nvariable smoke", f"}}\n/* no end {HERE}\nvariable smoke")
        .replace("/*", f"{HERE}/*")
        .replace(f"end {HERE}", "end"),
        "found '/\\*'",
    ),
    (
        ".xml",
        changed("</NETWORK>\n</BIF>", f"</{HERE}BIF>", XMLBIF),
        "not well-formed XML: mismatched",
    ),
    (".xml", HERE, "not well-formed XML: no element found"),
    (".xml", f"{HERE}<html/>", "expected <BIF>, found <html>"),
    (
        ".xml",
        changed("<DEFINITION><FOR>smoke</FOR>", f"{HERE}<DEFINITION>", XMLBIF),
        "a joint table of n",
    ),
    (".xml", changed("<GIVEN>smoke", f"{HERE}<GIVEN>smok", XMLBIF), "there is no variable 'smok'"),
    (".xml", changed("<TABLE>0.25 ", f"{HERE}<TABLE>O.25 ", XMLBIF), "numbers: .*'O.25'"),
    (".xml", changed("<TABLE>0.5 ", f"{HERE}<TABLE>", XMLBIF), "2 x 3 = 6 numbers, not 5"),
    (
        ".xml",
        changed('<VARIABLE TYPE="nature">\n\t<NAME> smoke </NAME>', f"{HERE}<VARIABLE>", XMLBIF),
        "expected one <NAME> in <VARIABLE>, found 0",
    ),
    (
        ".xml",
        changed('<VARIABLE TYPE="nature"><', f'{HERE}<VARIABLE TYPE="decision"><', XMLBIF),
        "'lung' is a decision node",
    ),
    (".net", changed("potential (smoke)", f"potential {HERE}smoke", NET), "expected '\\(' before"),
    (".net", changed("0.25 0.75)", f"0.25 {HERE}O.75)", NET), "found 'O.75'"),
    (
        ".net",
        changed("potential (lung |", f"{HERE}potential (lung", NET),
        "joint table of lung, smo",
    ),
    (".net", changed("discrete node", f"{HERE}continuous node", NET), "a continuous node"),
    (".net", changed("discrete node", f"{HERE}discrete decision", NET), "expected a discrete node"),
    (
        ".net",
        changed("potential (smoke)\n{\n  data", f"{HERE}potential (smoke)\n{{\n  model_data", NET),
        "a formula",
    ),
    (
        ".net",
        changed("position = (10 20);", f"position {HERE}(10 20);", NET),
        "expected '=' after pos",
    ),
    (".net", changed("node smoke\n{", f"node {HERE}smoke {{ }} node x {{", NET), "has no states"),
    (".net", f"{HERE}hello", "expected net, node or potential, found 'hello'"),
    (".json", f'{{"format": "kes-network",\n "version" {HERE}1}}', "Expecting ':' delimiter"),
]


@pytest.mark.parametrize(("suffix", "marked", "word"), MISTAKES)
def test_mistakes_are_located(tmp_path, suffix, marked, word):
    before, _, after = marked.partition(HERE)
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    with refused(f"column {column}: .*{word}", file=tmp_path / f"file{suffix}", row=line):
        read_network_from(tmp_path, suffix, before + after)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("[]", "kes-network"),
        ('{"format": "kes-network", "version": 9}', "version 9"),
        ('{"format": "kes-network", "version": 1}', '"nodes"'),
        ('{"format": "kes-network", "version": 1, "nodes": [{}]}', "name"),
        (
            '{"format": "kes-network", "version": 1, '
            '"nodes": [{"name": "a", "states": ["x"], "parents": [["b"]], "cpt": [1]}]}',
            "'parents' of 'a'",
        ),
        ('{"format": "kes-graph", "version": 1, "nodes": []}', "kes-network"),
    ],
)
def test_json_of_other_kinds(tmp_path, content, word):
    with refused(word, file=tmp_path / "file.json"):
        read_network_from(tmp_path, ".json", content)


@pytest.mark.parametrize(
    ("name", "content", "line", "word"),
    [
        ("a.dot", "digraph { a -- b }", 1, "column 13: .*'--'"),
        ("a.dot", "digraph {\n a -> b; b -> a }", 2, "column 10: .*b and a"),
        ("a.dot", "digraph { a -> b", 1, "column 17: .*end"),
        ("a.dot", "digraph { a -> b -> c -> a }", None, "cycle"),
        ("a.dot", "digraph { a -> b [dir=both] }", 1, "dir=both"),
        ("a.dot", "graph { a -- b -- c -- d -- a }", None, "essential graph"),
        ("a.dot", "tree { }", 1, "column 1: .*digraph"),
        ("a.graphml", "<graphml/>", 1, "<graph>"),
        (
            "a.graphml",
            '<graphml><graph><node id="a"/>\n<edge source="a" target="b"/></graph></graphml>',
            2,
            "column 1: .*'b'",
        ),
        ("a.graphml", "<graphml><graph>\n<node/></graph></graphml>", 2, "id"),
    ],
)
def test_mistakes_in_graphs(tmp_path, name, content, line, word):
    (tmp_path / name).write_text(content)
    with refused(word, file=tmp_path / name, row=line):
        read_graph(tmp_path / name)


def test_cyclic_networks_are_refused_with_the_cycle(tmp_path):
    content = ASIA_LIKE.replace(
        "probability ( smoke ) {\n  table 0.25, 0.75;",
        "probability ( smoke | lung ) {\n  default 0.25, 0.75;",
    )
    with refused("smoke -> lung -> smoke|lung -> smoke -> lung", file=tmp_path / "file.bif"):
        read_network_from(tmp_path, ".bif", content)


@pytest.mark.parametrize("suffix", [".bif", ".net"])
def test_empty_files_are_refused(tmp_path, suffix):
    with refused("no variables", file=tmp_path / f"file{suffix}"):
        read_network_from(tmp_path, suffix, "")


def test_files_that_cannot_be_read_or_written(tmp_path):
    with refused(file=tmp_path / "none.bif"):
        read_network(tmp_path / "none.bif")
    for name, use, word in (
        ("a.bfi", read_network, r"did you mean '\.bif'"),
        ("a.dot", read_network, "read_graph"),
        ("a.bif", lambda path: write_graph(small().graph, path), "fit"),
    ):
        with refused(word, file=tmp_path / name):
            use(tmp_path / name)
    with refused("No such file", file=tmp_path / "no" / "such" / "folder.bif"):
        small().save(tmp_path / "no" / "such" / "folder.bif")
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(ASIA_LIKE.encode())[:-20])
    with refused("damaged", file=tmp_path / "a.bif.gz"):
        read_network(tmp_path / "a.bif.gz")
    (tmp_path / "b.bif").write_bytes("network {\n}\nvariable é".encode("latin-1"))
    with refused("UTF-8", file=tmp_path / "b.bif", row=3):
        read_network(tmp_path / "b.bif")
