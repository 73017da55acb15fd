"""The steps of a benchmark: each asks the store first and calls its stage for what is new."""
