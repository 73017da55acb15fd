"""Statistics that several rooms share: resamples, intervals, tests."""
