"""The report: one HTML file with all that a result has to say, which opens without a network."""

from kes.show.report.page import write

__all__ = ["write"]
