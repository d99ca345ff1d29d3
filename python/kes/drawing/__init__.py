"""Pictures of graphs: Graphviz layouts, drawn as SVG or by matplotlib."""
