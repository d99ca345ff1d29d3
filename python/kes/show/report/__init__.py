"""The report: one HTML file with all that a result has to say, which opens without a network."""

from kes.show.report.page import report_text, write

__all__ = ["report_text", "write"]
