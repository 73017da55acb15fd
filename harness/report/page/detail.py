"""The data of the drill-down: passages, judged evidence, losses, and what each setting answered and read."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.loss_tables import QueryLosses, gap_note, losses_by_query, name_of, names_in_order
from harness.report.page.page_tables import DEEPEST, Axes, Tables, cut, figure, scaled
from harness.report.rows.answer_rows import ANSWER_PARTS, AnswerLossRow
from harness.report.rows.ranking_rows import spans_of_chunk
from harness.report.rows.step_rows import CHANGE, PARTS, LossRow, part_in_words
from harness.report.stored_tables import Row
from harness.report.table_spec import spec_of
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
    chunk_numbers: dict[str, int] = {}
    rankings = _rankings(ranked, axes, chunk_numbers)
    evidence, drilled = _evidence(tables["judgments"]), tables.drilled
    if drilled is not None:
        evidence = {query: rows for query, rows in evidence.items() if query in drilled}
    documents: dict[str, int] = {}
    page = {row["chunk_id"]: row["page"] for row in ranked}
    columns: dict[str, Any] = {"document": [], "start": [], "end": [], "page": [], "before": {}}
    for chunk_id in chunk_numbers:
        document, start, end = place(chunk_id)
        columns["document"].append(documents.setdefault(document, len(documents)))
        columns["start"].append(start)
        columns["end"].append(end)
        columns["page"].append(_number(page[chunk_id]))
        if before := spans_of_chunk(chunk_id)[:-1]:
            columns["before"][len(columns["start"]) - 1] = before
    shown = _texts(tables["passages"], chunk_numbers, evidence, detail.characters)
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
                + ([] if detail.characters == 0 else _words_of(row, detail.characters))
                for row in evidence.get(query, [])
            ]
            for query in axes.queries
        ],
        "documents": list(documents),
        "ranks": detail.ranks,
        "around": bool(around),
        **({} if drilled is None else {"drilled": sorted(axes.query[query] for query in drilled)}),
    }


def _words_of(row: Row, characters: int | None) -> list[str]:
    """The beginning of a graded span, and why its judge gave the grade where that is known."""
    explanation = _cut(row.get("explanation", ""), characters)
    return [row["snippet"], explanation] if explanation else [row["snippet"]]


def place(chunk_id: str) -> tuple[str, int, int]:
    """Document, start and end of a chunk id such as ``doc:120-340`` or ``doc:0-20+120-340``."""
    return chunk_id.rpartition(":")[0], *spans_of_chunk(chunk_id)[-1]


def _rankings(ranked: Sequence[Row], axes: Axes, chunk_numbers: dict[str, int]) -> list[list[list[Any]]]:
    out: list[list[list[Any]]] = [[[None] * len(axes.queries) for _ in axes.settings] for _ in axes.stages]
    # chunks that are near each other in a document get near numbers: they compress better
    for chunk_id in sorted(
        {row["chunk_id"] for row in ranked}, key=lambda chunk_id: (place(chunk_id), chunk_id)
    ):
        chunk_numbers[chunk_id] = len(chunk_numbers)
    for row in ranked:
        if not axes.know(row) or row["stage"] not in axes.stage:
            continue
        query = axes.query[row["query_id"]]
        of_setting = out[axes.stage[row["stage"]]][axes.setting[row["setting"]]]
        if of_setting[query] is None:
            of_setting[query] = [[], [], [], []]
        chunks, scores, grades, earned = of_setting[query]
        chunks.append(chunk_numbers[row["chunk_id"]])
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
    chunk_numbers: Mapping[str, int],
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
        if row["chunk_id"] not in chunk_numbers:
            continue
        text = row["text"]
        for start, stop in spans_of_chunk(row["chunk_id"]):
            part, text = text[: stop - start], text[stop - start :]
            for begin, end in _kept(start, start + len(part), merged.get(row["document"], []), characters):
                pieces.setdefault(row["document"], []).append((begin, part[begin - start : end - start]))
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
    query_losses = list(losses_by_query(rows))
    names = names_in_order(query.losses for query in query_losses)
    part = {name_of(row.step, row.part): row.part for row in rows}
    about = {name: f"made worse by {name}" if part[name] == CHANGE else PARTS[part[name]] for name in names}
    return {
        "measure": query_losses[0].measure if query_losses else "",
        "gap": gap_note(rows),
        "parts": [{"name": part_in_words(name), "part": part[name], "about": about[name]} for name in names],
        "ways": [
            {**way, "route": routes.get(way["route"], way["route"])}
            for way in _ways(query_losses, names, axes)
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


def _ways(query_losses: Iterable[QueryLosses], names: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """One column per query for every setting and route ('': none).

    These are its losses by the places of their ``names``, None for a part that it does not have, what is
    left, and ``blame``, the place of the part that cost most (None if nothing is lost).
    """
    place = {name: k for k, name in enumerate(names)}
    ways: dict[tuple[str, str], dict[str, Any]] = {}
    for query in query_losses:
        way = ways.setdefault(
            (query.setting, query.route),
            {
                "setting": axes.setting[query.setting],
                "route": query.route,
                "query": [],
                "blame": [],
                "left": [],
            }
            | {"losses": [[] if name in query.losses else None for name in names]},
        )
        way["query"].append(axes.query[query.query_id])
        way["blame"].append(place[query.blame] if query.blame else None)
        way["left"].append(scaled(query.final))
        for name, loss in query.losses.items():
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
    totals = Counter(row["setting"] for row in tables["replies"])
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
        "answered": [[totals[s] - silent[s], totals[s]] if s in totals else None for s in axes.settings],
        "losses": answer_losses(tables, axes),
    }


def replies_detail(tables: Tables, axes: Axes, characters: int | None) -> dict[str, Any]:
    """The answers: ``by[setting][query]`` is None or the answer, the reason for none, the passages read.

    What was read are rank (0: it is not from the ranking), whether it is cited, and how it was changed, in
    the order of the prompt. ``scores`` are value, reason and notes by measure, ``claims`` the statements of
    the answer with their verdicts, as the first measure that has any tells them.
    """
    by: list[list[Any]] = [[None] * len(axes.queries) for _ in axes.settings]
    golden: list[str] = [""] * len(axes.queries)
    measures = list(dict.fromkeys(row["measure"] for row in tables["answer_scores"]))
    configured = tables.record.get("config", {}).get("answer_measures", [])
    # it takes the golden answer apart, not the one that was given
    of_golden = {
        section.get("name") or section["kind"]
        for section in configured
        if section["kind"] == "context_recall"
    }
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
        reply = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        reply["read"].append([int(row["rank"] or 0), int(row["cited"] == "yes"), row.get("change", "")])
    for row in filter(axes.know, tables["answer_scores"]):
        reply = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        claims, notes = _claims(row["details"], characters), _notes(row["details"], characters)
        # what is shown as the claims of the answer is not said again under the measure
        if claims and not reply["claims"] and row["measure"] not in of_golden:
            reply["claims"], notes = claims, []
        scored = [figure(row["value"]), row["reason"]]
        reply["scores"][measures.index(row["measure"])] = [*scored, notes] if notes else scored
    return {"measures": measures, "by": by, "golden": golden}


def _claims(details: str, characters: int | None) -> list[list[Any]]:
    """Statements with their verdicts, 1 if one contradicts the golden answer, and the reason if there is one.

    None if the details of a score have none of that form.
    """
    try:
        statements = json.loads(details or "{}").get("statements", [])
        return [
            [
                _cut(str(claim["statement"]), characters),
                int(claim["verdict"]),
                int(claim.get("contradicts", 0)),
            ]
            + ([_cut(str(claim["reason"]), characters)] if claim.get("reason") else [])
            for claim in statements
        ]
    except (ValueError, AttributeError, TypeError, KeyError):
        return []


def _notes(details: str, characters: int | None) -> list[list[Any]]:
    """What a measure judged, each with its verdict and the reason: statements, passages by number, voters.

    None without reasons: then its value says as much.
    """
    try:
        notes = _reasons(json.loads(details or "{}"))
    except (ValueError, AttributeError, TypeError, KeyError):
        return []
    if not any(reason for *_, reason in notes):
        return []
    return [
        [_cut(str(text), characters), verdict, _cut(str(why), characters)] for text, verdict, why in notes
    ]


def _reasons(details: Mapping[str, Any]) -> list[tuple[str, int | None, str]]:
    if statements := details.get("statements"):
        return [(claim["statement"], int(claim["verdict"]), claim.get("reason", "")) for claim in statements]
    reasons = details.get("reasons", [])
    if votes := details.get("votes"):
        return [(model, votes[model], " · ".join(reasons[model])) for model in reasons]
    names = [f"[{at}]" if "useful" in details else "" for at in range(1, len(reasons) + 1)]
    listed = (details[key] for key in ("useful", "verdicts", "grades") if key in details)
    verdicts: list[int] = [details["refuses"]] if "refuses" in details else next(listed, [])
    return list(zip(names, verdicts, reasons, strict=True))


def _cut(text: str, characters: int | None) -> str:
    return cut(text, characters, _SHORTEST)
