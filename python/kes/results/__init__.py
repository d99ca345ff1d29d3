"""Results of a search: the optima, their methods, their summary and their files."""
