"""The data of the drill-down: ranked passages with their text, and the judged evidence of each query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.page.tables import DEEPEST, Axes, Tables
from harness.report.rows.ranked import spans_of_chunk
from harness.report.stored import Row
from harness.values import Span, merge

UNJUDGED = -1


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of the rankings goes onto the page: the first ``ranks``, ``characters`` of each passage.

    ``characters`` None: the whole passage. Judged evidence is kept wherever in the passage it is.
    ``around``: with the text before and after the passages.
    """

    ranks: int = DEEPEST
    characters: int | None = None
    around: bool = False

    @property
    def note(self) -> str:
        """The note for the reader; empty if nothing is left out."""
        if self.characters == 0:
            return f"To keep this page small, rankings end at rank {self.ranks} and show no passage text."
        if self == Detail():
            return "To keep this page small, the text around passages is left out."
        cuts = [] if self.ranks == DEEPEST else [f"rankings end at rank {self.ranks}"]
        if self.characters is not None:
            cuts.append(f"passages show their first {self.characters} characters and the judged evidence")
        return f"To keep this page small, {' and '.join(cuts)}." if cuts else ""


# From everything down to very little: the first that fits is taken.
LADDER = (
    Detail(around=True),
    Detail(),
    Detail(5),
    Detail(5, 600),
    Detail(5, 250),
    Detail(3, 250),
    Detail(3, 100),
    Detail(3, 0),
    Detail(1, 0),
)


def passages_detail(tables: Tables, axes: Axes, detail: Detail) -> dict[str, Any]:
    """Rankings, passages, texts and evidence as plain values, cut down to ``detail``.

    ``rankings[stage][setting][query]`` is ``[chunks, scores, grades, earned]`` or None; ``chunks`` holds
    columns, of which ``before`` maps the numbers of chunks that show something before them to its ranges;
    ``texts`` are ``[document, start, text]``, not overlapping, in order. ``drilled``, where it is there, are
    the only queries that have all this.
    """
    ranked = [row for row in tables["rankings"] if int(row["rank"]) <= detail.ranks]
    known: dict[str, int] = {}
    rankings = _rankings(ranked, axes, known)
    evidence, drilled = _evidence(tables["judgments"]), tables.drilled
    if drilled is not None:
        evidence = {query: rows for query, rows in evidence.items() if query in drilled}
    documents: dict[str, int] = {}
    page = {row["chunk_id"]: row["page"] for row in ranked}
    columns: dict[str, Any] = {"document": [], "start": [], "end": [], "page": [], "before": {}}
    for chunk_id in known:
        document, start, end = place(chunk_id)
        columns["document"].append(documents.setdefault(document, len(documents)))
        columns["start"].append(start)
        columns["end"].append(end)
        columns["page"].append(_number(page[chunk_id]))
        if shown_before := before(chunk_id):
            columns["before"][len(columns["start"]) - 1] = shown_before
    shown = _texts(tables["passages"], known, evidence, detail.characters)
    around = tables["surroundings"] if detail.around and drilled is None else []
    for row in around:
        shown.setdefault(row["document"], []).append((int(row["start"]), row["text"]))
    texts = [
        [documents.setdefault(document, len(documents)), start, text]
        for document, pieces in sorted(shown.items())
        for start, text in _joined(pieces)
    ]
    return {
        "rankings": rankings,
        "chunks": columns,
        "texts": texts,
        "evidence": [
            [
                [documents.setdefault(row["document"], len(documents)), int(row["start"]), int(row["end"])]
                + [int(row["grade"]), _number(row["page"])]
                + ([] if detail.characters == 0 else [row["snippet"]])
                for row in evidence.get(query, [])
            ]
            for query in axes.queries
        ],
        "documents": list(documents),
        "ranks": detail.ranks,
        "around": bool(around),
        **({} if drilled is None else {"drilled": sorted(axes.query[query] for query in drilled)}),
    }


def place(chunk_id: str) -> tuple[str, int, int]:
    """Document, start and end of a chunk id such as ``doc:120-340`` or ``doc:0-20+120-340``."""
    return chunk_id.rpartition(":")[0], *spans_of_chunk(chunk_id)[-1]


def before(chunk_id: str) -> list[Span]:
    """The ranges that a chunk such as ``doc:0-20+120-340`` shows before its own place."""
    return spans_of_chunk(chunk_id)[:-1]


def _rankings(ranked: Sequence[Row], axes: Axes, known: dict[str, int]) -> list[list[list[Any]]]:
    out: list[list[list[Any]]] = [[[None] * len(axes.queries) for _ in axes.settings] for _ in axes.stages]
    # chunks that are near each other in a document get near numbers: they compress better
    for chunk_id in sorted({row["chunk_id"] for row in ranked}, key=place):
        known[chunk_id] = len(known)
    for row in ranked:
        if not axes.know(row) or row["stage"] not in axes.stage:
            continue
        query = axes.query[row["query_id"]]
        of_setting = out[axes.stage[row["stage"]]][axes.setting[row["setting"]]]
        if of_setting[query] is None:
            of_setting[query] = [[], [], [], []]
        chunks, scores, grades, earned = of_setting[query]
        chunks.append(known[row["chunk_id"]])
        scores.append(float(f"{float(row['score']):.4g}") if row["score"] else None)
        grades.append(UNJUDGED if row["grade"] == "" else int(row["grade"]))
        earned.append(int(row["earned"] or 0))
    return out


def _evidence(judgments: Iterable[Row]) -> dict[str, list[Row]]:
    """The graded spans that settings were scored on, by query, best grade first."""
    by_query: dict[str, list[Row]] = {}
    for row in judgments:
        if row["grade"] != "" and row["scored_on"] == "yes":
            by_query.setdefault(row["query_id"], []).append(row)
    for rows in by_query.values():
        rows.sort(key=lambda row: (-int(row["grade"]), row["document"], int(row["start"])))
    return by_query


def _texts(
    passages: Iterable[Row],
    known: Mapping[str, int],
    evidence: Mapping[str, list[Row]],
    characters: int | None,
) -> dict[str, list[tuple[int, str]]]:
    """The text that passages show, as pieces by document: where each begins, and what it says."""
    if characters == 0:
        return {}
    judged: dict[str, list[Span]] = {}
    for rows in evidence.values():
        for row in rows:
            judged.setdefault(row["document"], []).append((int(row["start"]), int(row["end"])))
    merged = {document: merge(spans) for document, spans in judged.items()}
    pieces: dict[str, list[tuple[int, str]]] = {}
    for row in passages:
        if row["chunk_id"] not in known:
            continue
        text = row["text"]
        first = len(text) - sum(end - start for start, end in before(row["chunk_id"]))
        for start, stop in (*before(row["chunk_id"]), (int(row["start"]), int(row["start"]) + first)):
            its, text = text[: stop - start], text[stop - start :]
            for begin, end in _kept(start, start + len(its), merged.get(row["document"], []), characters):
                pieces.setdefault(row["document"], []).append((begin, its[begin - start : end - start]))
    return pieces


def _kept(start: int, end: int, judged: Sequence[Span], characters: int | None) -> list[Span]:
    if characters is None or end - start <= characters:
        return [(start, end)]
    first = max(0, bisect_right(judged, (start, start)) - 1)
    spans = [(start, start + characters)]
    for begin, stop in judged[first:]:
        if begin >= end:
            break
        if stop > start:
            spans.append((max(begin, start), min(stop, end)))
    return merge(spans)


def _joined(pieces: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Overlapping pieces of one document as one piece each."""
    out: list[tuple[int, list[str], int]] = []
    for start, text in sorted(pieces):
        end = start + len(text)
        if out and start <= out[-1][2]:
            at, parts, reached = out[-1]
            if end > reached:
                parts.append(text[reached - start :])
                out[-1] = (at, parts, end)
        else:
            out.append((start, [text], end))
    return [(start, "".join(parts)) for start, parts, _ in out]


def _number(cell: str) -> int | None:
    return int(cell) if cell else None
