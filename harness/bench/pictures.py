"""Pictures of the PDF pages that hold judged evidence, for report.html."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from harness.corpus.documents import document_id
from harness.corpus.page_picture import can_draw, draw_page
from harness.errors import CorpusError, HarnessError
from harness.progress import Reporter
from harness.report.page import Tables
from harness.report.stored import Row

WIDTH, HEIGHT = 760, 1100
Span = tuple[str, int, int]


def page_pictures(tables: Tables, measure: str, most_bytes: int, reporter: Reporter) -> list[dict[str, Any]]:
    """Pages with relevant evidence, those of the hardest questions first, until ``most_bytes`` are used.

    Each has document, page, width, height, ``uri`` and ``marks``: the boxes of each judged span by its start
    and end. How hard a question is says the mean of ``measure`` over all settings. Raises HarnessError where
    pypdfium2 is not installed, or where no PDF of the results is at hand as it was.
    """
    if not can_draw():
        raise HarnessError(
            "Pictures of pages need pypdfium2 and Pillow: pip install 'harness[pdfium]' pillow"
        )
    spans = _evidence_by_page(tables["judgments"], _hardest_first(tables["per_query"], measure))
    files = _files({document for document, _ in spans}, tables.record.get("hashes", {}), reporter)
    found, used = [], 0
    with reporter.task("pages", len(spans)) as task:
        for (document, page), quotes in spans.items():
            task.advance()
            if document not in files or used >= most_bytes:
                continue
            drawn = _drawn(files[document], page, quotes, reporter)
            if drawn is None or used + len(drawn["uri"]) > most_bytes:
                continue
            used += len(drawn["uri"])
            found.append({"document": document, "page": page} | drawn)
    return found


def _drawn(path: Path, page: int, quotes: Mapping[Span, str], reporter: Reporter) -> dict[str, Any] | None:
    try:
        drawn = draw_page(path, page, width=WIDTH, height=HEIGHT, kind="WEBP", quotes=list(quotes.values()))
    except CorpusError as error:
        reporter.warn(str(error))
        return None
    marks = [[start, end, boxes] for (_, start, end), boxes in zip(quotes, drawn.boxes, strict=True)]
    uri = "data:image/webp;base64," + base64.b64encode(drawn.data).decode("ascii")
    return {"width": drawn.size[0], "height": drawn.size[1], "uri": uri, "marks": marks}


def _hardest_first(per_query: Iterable[Row], measure: str) -> Sequence[str]:
    values: dict[str, list[float]] = {}
    for row in per_query:
        own = values.setdefault(row["query_id"], [])
        if row["measure"] == measure and row["value"]:
            own.append(float(row["value"]))
    return sorted(values, key=lambda query: fmean(values[query]) if values[query] else 1.0)


def _evidence_by_page(
    judgments: Iterable[Row], queries: Sequence[str]
) -> dict[tuple[str, int], dict[Span, str]]:
    """The relevant spans of every page, in the order of the queries, and how each begins."""
    place = {query: at for at, query in enumerate(queries)}
    rows = [
        row
        for row in judgments
        if row["grade"] not in ("", "0") and row.get("page") and row.get("scored_on", "yes") == "yes"
    ]
    rows.sort(key=lambda row: (place.get(row["query_id"], len(place)), -int(row["grade"])))
    pages: dict[tuple[str, int], dict[Span, str]] = {}
    for row in rows:
        span = (row["document"], int(row["start"]), int(row["end"]))
        pages.setdefault((row["document"], int(row["page"])), {})[span] = row["snippet"].rstrip("…")
    return pages


def _files(documents: set[str], hashes: Mapping[str, str], reporter: Reporter) -> dict[str, Path]:
    """The PDF of each document, if it is where the run found it, with the same content."""
    found = {}
    for name in (name for name in hashes if name.lower().endswith(".pdf")):
        path = Path(name)
        for document in _ids(path) & documents:
            if not path.is_file():
                reporter.warn(
                    f"{path} does not exist. Run the command in the folder where the benchmark ran."
                )
            elif hashlib.sha256(path.read_bytes()).hexdigest() != hashes[name]:
                reporter.warn(f"{path} has changed since the run, so its pages are not shown.")
            else:
                found[document] = path
    if not found:
        raise HarnessError("No PDF with relevant evidence is available, so there are no pages to show.")
    return found


def _ids(path: Path) -> set[str]:
    """The ids that a file may go by: its stem, with as many folders before it as tell it from others."""
    parts = [*map(document_id, path.parent.parts), document_id(path.stem)]
    return {"/".join(parts[at:]) for at in range(len(parts))}
