"""The error of runs and judgments."""

from harness.values import HarnessError


class TrecError(HarnessError):
    """A run or a judgment file cannot be used."""
