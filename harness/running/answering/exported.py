"""The answers in a folder of results, as answered questions for a file."""

from __future__ import annotations

from pathlib import Path

from harness.data import Exchange, Passage
from harness.report import PassageRow, QueryRow, ReplyPassageRow, ReplyRow, read_any
from harness.values import HarnessError, golden_answers


def exported_answers(folder: Path, setting: str | None) -> list[Exchange]:
    """The answers of one setting; the only one where ``setting`` is None. Raises HarnessError."""
    replies = read_any(folder, ReplyRow)
    if not replies:
        raise HarnessError(
            f"{folder} holds no answers (replies.csv is missing or empty). Name the results of a benchmark "
            "with an `answer` section."
        )
    settings = list(dict.fromkeys(row.setting for row in replies))
    if setting is None and len(settings) > 1:
        raise HarnessError(f"{folder} has {len(settings)} settings; name one: {'; '.join(settings)}.")
    chosen = setting or settings[0]
    if chosen not in settings:
        raise HarnessError(f"{folder} has no setting {chosen!r} with answers. It has: {'; '.join(settings)}.")
    questions = {row.query_id: row for row in read_any(folder, QueryRow)}
    texts = {row.chunk_id: row.text for row in read_any(folder, PassageRow)}
    read: dict[str, list[ReplyPassageRow]] = {}
    for row in read_any(folder, ReplyPassageRow):
        if row.setting == chosen:
            read.setdefault(row.query_id, []).append(row)
    return [
        _exchange(row, questions[row.query_id], read.get(row.query_id, []), texts, folder)
        for row in replies
        if row.setting == chosen
    ]


def _exchange(
    row: ReplyRow, query: QueryRow, read: list[ReplyPassageRow], texts: dict[str, str], folder: Path
) -> Exchange:
    places = sorted(read, key=lambda one: one.place)
    return Exchange(
        row.query_id,
        query.text,
        tuple(
            Passage(texts.get(one.chunk_id, ""), one.chunk_id.rpartition(":")[0], one.chunk_id)
            for one in places
        ),
        row.answer or None,
        row.reason,
        golden_answers(row.golden),
        query.answerable,
        tuple(number for number, one in enumerate(places) if one.cited),
        f"{folder}, query {row.query_id}",
    )
