"""Models as graphs: essential graphs, their boundary and DAGs, and what knowledge says of them."""

from kes.graph.essential import EssentialGraph

__all__ = ["EssentialGraph"]
