"""The report: one HTML file that shows a result, and opens offline."""

from kes.show.report.page import report_text, write

__all__ = ["report_text", "write"]
