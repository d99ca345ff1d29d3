"""Pictures: layouts, notebooks, plots and the report."""
