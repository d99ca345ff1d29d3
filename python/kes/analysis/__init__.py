"""Questions about optima: support, evidence, comparisons, coverage, stability, explanations."""
