"""What the optima have to say: supports, comparisons, coverage, stability, explanations."""
