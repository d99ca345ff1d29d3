"""The highest score there is, or a bound on it: `certify`, and `estimate` of what it may need."""

from kes.certify.certify import certify, estimate

__all__ = ["certify", "estimate"]
