"""The data of the drill-down: passages, judged evidence, losses, and what each setting answered and read."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.columns import spec_of
from harness.report.losses import QueryLosses, gap_note, losses_by_query, name_of, names_in_order
from harness.report.page.tables import DEEPEST, Axes, Tables, cut, figure, scaled
from harness.report.rows.answers import ANSWER_PARTS, AnswerLossRow
from harness.report.rows.ranked import spans_of_chunk
from harness.report.rows.steps import CHANGE, PARTS, LossRow, part_in_words
from harness.report.stored import Row
from harness.values import Span, by_key, golden_answers, merge

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
        if self.ranks == DEEPEST:
            left_out = "the text around passages is left out."
            return "" if self.around else f"To keep this page small, {left_out}"
        shown = ", without texts" if self.characters == 0 else ""
        shown = f", passages after {self.characters} characters" if self.characters else shown
        return f"To keep this page small, rankings end at rank {self.ranks}{shown}."


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
        if before := spans_of_chunk(chunk_id)[:-1]:
            columns["before"][len(columns["start"]) - 1] = before
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


def _rankings(ranked: Sequence[Row], axes: Axes, known: dict[str, int]) -> list[list[list[Any]]]:
    out: list[list[list[Any]]] = [[[None] * len(axes.queries) for _ in axes.settings] for _ in axes.stages]
    # chunks that are near each other in a document get near numbers: they compress better
    for chunk_id in sorted({row["chunk_id"] for row in ranked}, key=lambda one: (place(one), one)):
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
    scored_on = (row for row in judgments if row["grade"] != "" and row["scored_on"] == "yes")
    by_query = by_key((row["query_id"], row) for row in scored_on)
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
    judged = by_key(
        (row["document"], (int(row["start"]), int(row["end"]))) for rows in evidence.values() for row in rows
    )
    merged = {document: merge(spans) for document, spans in judged.items()}
    pieces: dict[str, list[tuple[int, str]]] = {}
    for row in passages:
        if row["chunk_id"] not in known:
            continue
        text = row["text"]
        for start, stop in spans_of_chunk(row["chunk_id"]):
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


def losses(tables: Tables, axes: Axes, routes: Mapping[str, str]) -> dict[str, Any] | None:
    """The losses on the way to the ranking; None where the file is missing. ``ways`` are those of `_ways`.

    ``routes`` has what the routes of fusions are called.
    """
    if "waterfall" not in tables:
        return None
    rows = [spec_of(LossRow).parsed(row) for row in tables["waterfall"] if axes.know(row)]
    found = list(losses_by_query(rows))
    names = names_in_order(one.losses for one in found)
    part = {name_of(row.step, row.part): row.part for row in rows}
    about = {name: f"made worse by {name}" if part[name] == CHANGE else PARTS[part[name]] for name in names}
    return {
        "measure": found[0].measure if found else "",
        "gap": gap_note(rows),
        "parts": [{"name": part_in_words(name), "part": part[name], "about": about[name]} for name in names],
        "ways": [
            {**way, "route": routes.get(way["route"], way["route"])} for way in _ways(found, names, axes)
        ],
    }


def answer_losses(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The losses that go on past the ranking to the answers; None if no answer was taken apart."""
    rows = [spec_of(AnswerLossRow).parsed(row) for row in tables["answer_losses"] if axes.know(row)]
    if not rows:
        return None
    names = [part for part in ANSWER_PARTS if any(row.part == part for row in rows)]
    return {
        "measure": rows[0].measure,
        "parts": [{"name": name, "about": ANSWER_PARTS[name]} for name in names],
        "ways": _ways(losses_by_query(rows), names, axes),
    }


def _ways(found: Iterable[QueryLosses], names: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """One column per query for every setting and route ('': none).

    These are its losses by the places of their ``names``, None for a part that it does not have, what is
    left, and ``blame``, the place of the part that cost most (None if nothing is lost).
    """
    place = {name: k for k, name in enumerate(names)}
    ways: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        way = ways.setdefault(
            (one.setting, one.route),
            {"setting": axes.setting[one.setting], "route": one.route, "query": [], "blame": [], "left": []}
            | {"losses": [[] if name in one.losses else None for name in names]},
        )
        way["query"].append(axes.query[one.query_id])
        way["blame"].append(place[one.blame] if one.blame else None)
        way["left"].append(scaled(one.final))
        for name, loss in one.losses.items():
            way["losses"][place[name]].append(scaled(loss))
    return list(ways.values())


# What is in an answer is seldom longer; a page that has to be small cuts it no shorter.
_SHORTEST = 400


def answers_payload(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The means of all measures of answers, and where answers are lost; None if nothing was answered.

    ``means[measure][setting]`` is mean, low, high, queries, not scored and why, over all queries;
    ``answered[setting]`` how many of how many.
    """
    if not tables["replies"]:
        return None
    asked = Counter(row["setting"] for row in tables["replies"])
    silent = Counter(row["setting"] for row in tables["replies"] if row["reason"])
    rows = [
        row for row in tables["answer_summary"] if row["split"] == "all" and row["setting"] in axes.setting
    ]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    means: list[list[Any]] = [[None] * len(axes.settings) for _ in measures]
    for row in rows:
        numbers = [figure(row[name]) for name in ("mean", "ci_low", "ci_high")]
        cell = [*numbers, int(row["n_queries"]), int(row["n_not_scored"]), row["reasons"]]
        means[measures.index(row["measure"])][axes.setting[row["setting"]]] = cell
    return {
        "measures": measures,
        "means": means,
        "answered": [[asked[s] - silent[s], asked[s]] if s in asked else None for s in axes.settings],
        "losses": answer_losses(tables, axes),
    }


def replies_detail(tables: Tables, axes: Axes, characters: int | None) -> dict[str, Any]:
    """The answers: ``by[setting][query]`` is None or the answer, the reason for none, the passages read.

    What was read are pairs of rank and whether it is cited, in the order of the prompt. ``scores`` are value
    and reason by measure, ``claims`` the statements of the answer with their verdicts, as the first measure
    that has any tells them.
    """
    by: list[list[Any]] = [[None] * len(axes.queries) for _ in axes.settings]
    golden: list[str] = [""] * len(axes.queries)
    measures = list(dict.fromkeys(row["measure"] for row in tables["answer_scores"]))
    for row in filter(axes.know, tables["replies"]):
        query = axes.query[row["query_id"]]
        golden[query] = _cut(" · or: ".join(golden_answers(row["golden"])), characters)
        by[axes.setting[row["setting"]]][query] = {
            "text": _cut(row["answer"], characters),
            "reason": row["reason"],
            "bad": int(row["bad_citations"]),
            "read": [],
            "scores": [None] * len(measures),
            "claims": [],
        }
    for row in filter(axes.know, tables["reply_passages"]):
        own = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        own["read"].append([int(row["rank"]), int(row["cited"] == "yes")])
    for row in filter(axes.know, tables["answer_scores"]):
        own = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        own["scores"][measures.index(row["measure"])] = [figure(row["value"]), row["reason"]]
        if not own["claims"]:
            own["claims"] = _claims(row["details"], characters)
    return {"measures": measures, "by": by, "golden": golden}


def _claims(details: str, characters: int | None) -> list[list[Any]]:
    """Statements with their verdicts, and 1 if one contradicts the golden answer.

    None if the details of a score have none of that form.
    """
    try:
        statements = json.loads(details or "{}").get("statements", [])
        return [
            [_cut(str(one["statement"]), characters), int(one["verdict"]), int(one.get("contradicts", 0))]
            for one in statements
        ]
    except (ValueError, AttributeError, TypeError, KeyError):
        return []


def _cut(text: str, characters: int | None) -> str:
    return cut(text, characters, _SHORTEST)
