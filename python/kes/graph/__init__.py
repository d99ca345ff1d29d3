"""Models as graphs: essential graphs, MPDAGs, their neighbours and DAGs, and knowledge."""

from kes.graph.essential import EssentialGraph

__all__ = ["EssentialGraph"]
