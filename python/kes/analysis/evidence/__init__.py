"""The evidence for edges, directions and ancestors, in nats."""
