"""Models as graphs: essential graphs, their inclusion boundary, and the DAGs of a class."""

from kes.graph.essential import EssentialGraph

__all__ = ["EssentialGraph"]
