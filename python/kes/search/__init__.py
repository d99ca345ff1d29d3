"""The search itself: a problem, runs on it here or on a cluster, and the record of the runs."""
