"""What a search found, as its user sees it: the optima, questions to them, and their files."""
