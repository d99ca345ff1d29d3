"""Background knowledge: constraints on a network that do not come from the data.

A network is *admissible* iff it has every required and no forbidden arc; a model iff some network
of its class is. Tiers forbid all arcs from a later to an earlier tier, `apart` forbids
both arcs between two variables, `roots` all arcs into and `leaves` all arcs out of a variable.
"""

from kes.graph.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]
