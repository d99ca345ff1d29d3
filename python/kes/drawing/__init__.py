"""Pictures of graphs: nodes and edges in, places, SVG or matplotlib out.

Nothing here knows what a graph means, so that every object that has one can show itself.
"""
