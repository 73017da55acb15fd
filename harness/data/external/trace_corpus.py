"""Traces of production as a corpus folder, all of them or a random sample of a period."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from harness.data.corpus.importers.beir import ImportSummary
from harness.data.external.answer_files import AnsweredQuery
from harness.data.external.ragas import write_corpus
from harness.data.external.traces import read_traces
from harness.values import CorpusError, counted


def import_traces(
    source: Path,
    target: Path,
    *,
    traces_of: str = "",
    since: str = "",
    until: str = "",
    sample: int | None = None,
) -> ImportSummary:
    """An export of traces as a corpus folder, a query for each trace.

    ``since`` and ``until`` are days (YYYY-MM-DD, both included) in the time zone of the export, ``sample``
    how many traces to draw at random. Which ones are drawn depends on their ids alone, so that a second
    import of the same traces draws the same. Raises CorpusError where the export cannot be read or nothing
    is left.
    """
    traces = read_traces(source, traces_of)
    notes = [f"Read as {' and '.join(traces.tools)}."]
    if traces.skipped:
        notes.append(f"Traces left out: {traces.skipped}.")
    exchanges = _within(traces.exchanges, since, until)
    if outside := len(traces.exchanges) - len(exchanges):
        notes.append(f"Traces of other days, or without a time: {outside}.")
    if not exchanges:
        raise CorpusError(
            f"{source}: none of its {len(traces.exchanges)} traces is of these days. Name others."
        )
    if sample is not None and sample < len(exchanges):
        notes.append(f"Drawn at random: {sample} of {counted(len(exchanges), 'trace')}.")
        exchanges = _drawn(exchanges, sample)
    return write_corpus(exchanges, source, target, "traces", notes)


def _within(exchanges: Sequence[AnsweredQuery], since: str, until: str) -> list[AnsweredQuery]:
    for day in filter(None, (since, until)):
        try:
            date.fromisoformat(day)
        except ValueError:
            raise CorpusError(f"{day!r} is not a day. Write it as 2026-03-31.") from None
    if not (since or until):
        return list(exchanges)
    first, last = since or "0000-00-00", until or "9999-99-99"
    return [exchange for exchange in exchanges if first <= exchange.time[:10] <= last and exchange.time]


def _drawn(exchanges: Sequence[AnsweredQuery], count: int) -> list[AnsweredQuery]:
    """``count`` of them, in their order."""
    if count < 1:
        raise CorpusError(f"A sample of {count} holds nothing. Draw 1 or more.")
    order = sorted(range(len(exchanges)), key=lambda place: random.Random(exchanges[place].query_id).random())
    return [exchanges[place] for place in sorted(order[:count])]
