"""Right files of every format, small, with as many of its features as fit."""

import gzip
import io
import re
from pathlib import Path

import numpy as np

import kes
from kes.formats import write_graph

CSV = (
    b"a,b,c\nx,1,2.5\ny,2,3.5\nx,3,\nz,1,4.5\n",
    b'a;"b c";d\n"x;y";1,5;yes\n"z";2,5;no\n\'q\';3,5;no\n',
    b"a\tb\n1\t01/02/2020\n2\t03/04/2021\n",
    "n\u00e4me,\u00fc\n\u00df,1\n\u00e9,2\n".encode("latin-1"),
    "a,b\nTRUE,1\nFALSE,0\nTRUE,1\n".encode("utf-16"),
    b"'a','b'\n'1','2'\n'3','4'\n",
    b"a\n\nx\n\ny\n",
)
TOML = b"""tiers = [["a", "b"], ["c"]]
required = [["a", "c"]]
forbidden = [["b", "c"]]
roots = ["a"]
"""
KNOWLEDGE = b'{"tiers": [["a", "b"], ["c"]], "apart": [["a", "b"]], "leaves": ["c"]}'
TETRAD = b"""/knowledge
addtemporal
1 a "b c"
2* d e
3- f
4 g
5 h
forbiddirect
a d
requiredirect
a e
forbiddengroup
a b
d e
"""
DOT = b"""strict digraph "g" { // comment
  graph [x=1]; node [shape=box]; edge [dir=forward]
  a -> b -> c [weight=2]; subgraph s { d; e } -> "f \\"g\\"":port;
  h -> i [dir=none]; "j" [kes_name="'k%20l'"]; x = y
  { a b } -> { z }
}
"""
BIF = b"""// comment
network "x" { property version 1.1 ; }
variable lung { type discrete [ 2 ] { yes, no }; property kes_name = 'l%20g' ; }
variable "smoke x" { type discrete [3] { a, b, c }; property kes_states = 1, 'b', true ; }
probability ( lung | "smoke x" ) { (a) 0.1, 0.9; default 0.01, 0.99; }
probability ( "smoke x" ) { table 0.2, 0.3, 0.5 ; }
"""
NET = b"""net { node_size = (80 40); }
% comment
node smoke { states = ("yes" "no"); label = "x"; kes_name = "'s%20m'"; }
node lung { states = ("a" "b" "c"); }
potential (smoke) { }
potential (lung | smoke) { data = ((0.1 0.2 0.7)(0.3 0.3 0.4)); }
"""
WORDS = {
    "bif": b"network variable probability type discrete table default property { } ( ) [ ] | ; ,",
    "net": b"net class node discrete potential states data model_data = ( ) { } | ; % kes_states",
    "xml": b"<BIF> <NETWORK> <VARIABLE> <NAME> <OUTCOME> <FOR> <GIVEN> <TABLE> <![CDATA[ encoding",
    "dot": b"digraph graph strict subgraph node edge -> -- { } [ ] = ; , : + dir none kes_name",
    "graphml": b"<graph> <node <edge source target id directed false true <data key edgedefault",
    "json": b'{ } [ ] , : "format" "version" "nodes" "parents" "cpt" "states" "linear" "logistic"',
    "toml": b"tiers required forbidden apart roots leaves = [ ] , \" ' [[ ]] # .",
    "tetrad": b"/knowledge addtemporal forbiddirect requiredirect forbiddengroup requiredgroup 1*",
    "csv": b', ; | "a" \n \r\n 1.5 1,5 x NA 2020-01-01 [1,2) true 1e5 0x1 \xef\xbb\xbf',
}


def words(kind: str) -> list[bytes]:
    return re.split(rb" ", WORDS[kind])


def all_seeds(folder: Path) -> dict[str, list[bytes]]:
    """Return right files by kind; those that only kes writes are made by it."""
    data = kes.datasets.alarm(rows=60)
    small = data.select(data.names[:6])
    optima = kes.learn(small, k=0.3, runs=6, improve=20, random_state=1)
    numbers = np.random.default_rng(1).normal(size=(60, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    gaussian = kes.learn(numbers, runs=2, random_state=1, improve=False)
    discrete = optima.best.fit(small)
    linear = gaussian.best.fit(numbers)

    def saved(save, name: str) -> bytes:
        save(folder / name)
        return (folder / name).read_bytes()

    def graph(name: str) -> bytes:
        return saved(lambda path: write_graph(optima.best.graph, path), name)

    results = [saved(optima.save, "a.kes.json"), saved(gaussian.save, "b.kes.json")]
    return {
        "bif": [BIF, saved(discrete.save, "a.bif")],
        "net": [NET, saved(discrete.save, "a.net")],
        "xml": [saved(discrete.save, "a.xmlbif"), saved(_odd_network().save, "b.xmlbif")],
        "dot": [DOT, graph("a.dot")],
        "graphml": [graph("a.graphml"), saved(discrete.save, "b.graphml")],
        "network": [saved(discrete.save, "a.json"), saved(linear.save, "b.json")],
        "graph": [graph("g.json")],
        "toml": [TOML],
        "knowledge": [KNOWLEDGE],
        "tetrad": [TETRAD],
        "csv": [*CSV],
        "result": results,
        "packed": [gzip.compress(results[0], mtime=0)],
        "parquet": [_parquet(small)],
    }


def _odd_network():
    states = {"a b": ("x", "<y>"), "\u00fc": (1, 2)}
    cpts = {"a b": [0.5, 0.5], "\u00fc": [[0.1, 0.9], [0.2, 0.8]]}
    return kes.BayesianNetwork([*states], states, {"\u00fc": ["a b"]}, cpts)


def _parquet(data) -> bytes:
    buffer = io.BytesIO()
    data.to_pandas().head(20).to_parquet(buffer)
    return buffer.getvalue()
