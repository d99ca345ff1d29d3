"""Bounds on the score of all networks: a linear programme over families of variables."""
