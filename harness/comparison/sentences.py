"""A verdict in one sentence or two, the same in terminal, page, Markdown, JSON, notebook and gate."""

from __future__ import annotations

from harness.comparison.conclusion import Conclusion, conclusion_of
from harness.comparison.verdict import Verdict
from harness.comparison.wordings import sentences_said


def sentence(verdict: Verdict) -> str:
    """What to do about the settings, how sure that is, and what it may lose: at most 25 words."""
    return said(conclusion_of(verdict), verdict)


def said(conclusion: Conclusion, verdict: Verdict) -> str:
    """A conclusion on a verdict in words."""
    names = {slot: verdict.words(setting) for slot, setting in conclusion.settings.items()}
    every = [standing.words for standing in verdict.standings]
    return sentences_said(conclusion.codes, conclusion.values, names, every)
