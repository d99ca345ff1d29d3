"""Bounds on the score of all networks, by a linear programme over families."""
