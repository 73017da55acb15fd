"""NDCG from a folder of results alone, with pandas: python tests/recompute.py results/quickstart

Written from docs/results.md and docs/conventions.md, not from the code of this package, of which it imports
nothing. Prints how many values of every measure it compared and the largest difference from per_query.csv.
"""

import csv
import itertools
import json
import math
import re
import sys
from collections import defaultdict
from pathlib import Path

import pandas as pd


def table(path):
    """A CSV file of results as text, without the apostrophe that keeps spreadsheets from running a cell."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.apply(lambda column: column.str.replace(r"^'(?=[=+\-@\t\n])", "", regex=True))


def main(folder):
    rules = json.loads((folder / "record.json").read_text(encoding="utf-8"))["config"]["relevance"]
    spans = spans_by_query(table(folder / "judgments.csv"))
    chunks = chunks_by_setting(table(folder / "chunk_offsets.csv"))
    marked = table(folder / "queries.csv").set_index("query_id")["answerable"] == "yes"
    rankings = defaultdict(list)
    for row in table(folder / "rankings.csv").itertuples():
        rankings[row.setting, row.stage, row.query_id].append((int(row.rank), row.chunk_id))
    compared, placed = defaultdict(list), {}
    for row in table(folder / "per_query.csv").itertuples():
        name = re.fullmatch(
            r"(ndcg_exp|ndcg_lin|ndcg_text|ndcg_evidence)(?:\(([\w=,]*)\))?@(\d+)", row.measure
        )
        if name is None:
            continue
        judged = spans[row.query_id]
        best = max((span["grade"] for span in judged), default=0)
        if not marked[row.query_id] or best < max(1, rules["answerable_from"]):
            mine = 0.0 if rules["unanswerable"] == "zero" else None
        else:
            key = row.setting, row.stage, row.query_id
            if key not in placed:
                placed[key] = [place(chunk) for _, chunk in sorted(rankings[key])]
            ranked = placed[key]
            options = dict(part.split("=") for part in (name[2] or "").split(",") if part)
            options = {key: int(number) for key, number in options.items()}
            mine = value(name[1], int(name[3]), ranked, judged, chunks[row.setting], rules, options)
        if (mine is None) != (row.value == ""):
            sys.exit(f"{row.setting}, {row.query_id}, {row.measure}: {mine} here, {row.value!r} there")
        compared[row.measure].append(0.0 if mine is None else abs(mine - float(row.value)))
    for measure, differences in compared.items():
        csv.writer(sys.stdout).writerow((measure, len(differences), repr(max(differences))))


def spans_by_query(judgments):
    """The graded spans that were scored on; one without a name is a fact of its own."""
    found = defaultdict(list)
    for number, row in enumerate(judgments.itertuples()):
        if row.scored_on == "yes" and row.grade != "":
            found[row.query_id].append(
                {
                    "document": row.document,
                    "start": int(row.start),
                    "end": int(row.end),
                    "grade": int(row.grade),
                    "fact": row.evidence or number,
                    "answer": [int(at) for at in row.answer.split("-")] if row.answer else None,
                }
            )
    return found


def chunks_by_setting(offsets):
    """The chunks of every setting by document; settings that share their chunks share the object."""
    found = {}
    for setting, rows in offsets.groupby("setting", sort=False):
        same = rows["same_as"].iloc[0]
        found[setting] = found[same] if same else defaultdict(list)
        for row in () if same else rows.itertuples():
            chunk = (row.document, *ranges(row.before), (int(row.start), int(row.end)))
            found[setting][row.document].append(chunk)
    return found


def once(compute):
    """Compute a value once for the same objects, all of which live as long as the program."""
    known = {}

    def computed(*given):
        key = tuple(one if isinstance(one, int | str) else id(one) for one in given)
        if key not in known:
            known[key] = compute(*given)
        return known[key]

    return computed


def place(chunk_id):
    """The document of a chunk and the ranges that it shows, the heading of a table before its row."""
    document, _, offsets = chunk_id.rpartition(":")
    return document, *ranges(offsets.replace("+", " "))


def ranges(cell):
    return [tuple(map(int, one.split("-"))) for one in cell.split()]


def value(family, cutoff, ranked, spans, chunks, rules, options):
    if family == "ndcg_text":
        return text_ndcg(ranked, spans, cutoff, **options)
    if family == "ndcg_evidence":
        return evidence_ndcg(ranked, spans, cutoff, **options)
    gain = (lambda grade: 2**grade - 1) if family == "ndcg_exp" else float
    earned, seen = [], set()
    for chunk in ranked:
        grade, fact = stands_for(chunk, spans, rules)
        earned.append(0 if fact in seen else grade)
        if grade > 0:
            seen.add(fact)
    ideal = dcg(best_grades(chunks, spans, rules), cutoff, gain)
    return dcg(earned, cutoff, gain) / ideal if ideal else 0.0


@once
def best_grades(chunks, spans, rules):
    """The best grade that a chunk has for each fact, the highest first."""
    best = defaultdict(int)
    for document in {span["document"] for span in spans}:
        for chunk in chunks.get(document, ()):
            grade, fact = stands_for(chunk, spans, rules)
            best[fact] = max(best[fact], grade)
    return sorted(best.values(), reverse=True)


def stands_for(chunk, spans, rules):
    """The grade of a chunk and the fact it stands for: the best span it covers."""
    covered = []
    for span in spans:
        shared = overlap(chunk, span)
        length, of_chunk = span["end"] - span["start"], sum(end - start for start, end in chunk[1:])
        enough = {
            "half_of_span_or_chunk": shared / length >= rules["span_share"]
            or shared / of_chunk >= rules["chunk_share"],
            "any_overlap": True,
            "full_cover": shared == length,
        }
        if shared > 0 and enough[rules["rule"]]:
            at = (span["document"], span["start"], span["end"])
            covered.append((-span["grade"], -shared / length, -shared, at, span["fact"]))
    if not covered:
        return 0, None
    first = min(covered, key=lambda found: found[:4])
    return -first[0], first[4]


def overlap(chunk, span):
    if chunk[0] != span["document"]:
        return 0
    return sum(max(0, min(end, span["end"]) - max(start, span["start"])) for start, end in chunk[1:])


def dcg(grades, cutoff, gain):
    return sum(gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(grades[:cutoff], start=1))


def text_ndcg(ranked, spans, budget, L=1000):
    """Every character of a span earns its share once, at the discount of what was read before it."""
    by_fact, paid = defaultdict(float), discounts(budget, L)
    for span in (span for span in spans if span["grade"] > 0):
        places = first_read(ranked, span["document"], span["start"], span["end"])
        earned = density(span) * sum(paid[read] for read in places if read < budget)
        by_fact[span["fact"]] = max(by_fact[span["fact"]], earned)
    ideal = best_reading(spans, budget, L)
    return sum(by_fact.values()) / ideal if ideal else 0.0


@once
def discounts(budget, L):
    return [1 / math.log2(2 + p / L) for p in range(budget)]


def first_read(ranked, document, start, end):
    """For each character of a stretch that the ranking shows: how much had been read before it, in order."""
    read, known = 0, set()
    for shown_document, *shown in ranked:
        for first, last in shown:
            if shown_document == document:
                for character in range(max(first, start), min(last, end)):
                    if character not in known:
                        known.add(character)
                        yield read + character - first
            read += last - first


def evidence_ndcg(ranked, spans, budget, enough=200, L=1000):
    """Every fact earns its gain once, in the stretch where enough of it has been read, or the next free."""
    spans = [span for span in spans if span["grade"] > 0]
    events, best_so_far = [], defaultdict(int)
    found = [(at, span) for span in spans if (at := found_at(ranked, span, enough)) is not None]
    for at, span in sorted(found, key=lambda event: (event[0], -event[1]["grade"])):
        more = 2 ** span["grade"] - 2 ** best_so_far[span["fact"]]
        if at <= budget and more > 0:
            events.append((-more, max(1, math.ceil(at / enough))))
            best_so_far[span["fact"]] = span["grade"]
    stretches = math.ceil(budget / enough)
    discount = [1 / math.log2(2 + r * enough / L) for r in range(stretches)]
    taken, earned = set(), 0.0
    for negative, stretch in sorted(events):
        while stretch in taken:
            stretch += 1
        taken.add(stretch)
        earned -= negative * discount[stretch - 1] if stretch <= stretches else 0.0
    best = defaultdict(int)
    for span in spans:
        best[span["fact"]] = max(best[span["fact"]], 2 ** span["grade"] - 1)
    gains = sorted(best.values(), reverse=True)
    ideal = sum(a * b for a, b in zip(gains, discount, strict=False))
    return earned / ideal if ideal else 0.0


def found_at(ranked, span, enough):
    """How much had been read when enough of a span had been: of its answer all, else half of it or 200."""
    first, last = span["answer"] or (span["start"], span["end"])
    needed = last - first if span["answer"] else min((last - first) / 2, enough)
    for had, read in enumerate(first_read(ranked, span["document"], first, last)):
        if had < needed <= had + 1:
            return read + needed - had
    return None


def density(span):
    return (2 ** span["grade"] - 1) / (span["end"] - span["start"])


@once
def best_reading(spans, budget, L):
    """The densest characters first, for the best choice of one copy of every fact."""
    copies, discount = defaultdict(list), discounts(budget, L)
    for span in (span for span in spans if span["grade"] > 0):
        copies[span["fact"]].append(span)
    best = 0.0
    for chosen in itertools.product(*copies.values()):
        dense = defaultdict(float)
        for span in chosen:
            for character in range(span["start"], span["end"]):
                dense[span["document"], character] += density(span)
        ordered = sorted(dense.values(), reverse=True)
        best = max(best, sum(a * b for a, b in zip(ordered, discount, strict=False)))
    return best


if __name__ == "__main__":
    main(Path(sys.argv[1]))
