"""The highest score there is, or a bound on it: `certify`, and `estimate` of what it may need."""
