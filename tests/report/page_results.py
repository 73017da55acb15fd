"""Folders of results made by hand, for the tests of report.html."""

import base64
import gzip
import json
import random

from tests.command import table, write_table
from tests.report.page_answers import MEASURES, tables

TEXT = "The pump was recalled in 2024. Some 3,900 people work at the plant. " * 60
# What a document or a query file may say to whoever shows it.
HOSTILE = (
    "<script>window.hit=1</script></script><img src=x onerror='window.hit=2'>"
    "\u2028\u2029\x00\u202eevil\u202c]]>--><!-- %%DATA%% ${window.hit=3} 'quote\" 𝔘𝔫𝔦 &lt;b&gt;"
)


def unpack(data):
    """What a page holds, packed as `pack` does."""
    return json.loads(gzip.decompress(base64.b64decode(data)))


def config_of(name, size, overlap=0):
    chunk = {"kind": "recursive_token", "chunk_size": size, "chunk_overlap": overlap}
    return {"name": name, "chunk": chunk, "embed": {"model": "m"}, "retrieve": {"kind": "chroma"}}


def write_folder(
    folder,
    settings=2,
    queries=12,
    measures=("ndcg_exp@10", "judged@10"),
    hostile=False,
    ranks=10,
    text=TEXT,
    extras=True,
):
    """A whole folder of results with two stages; returns it."""
    rnd = random.Random(5)
    folder.mkdir(parents=True, exist_ok=True)
    say = HOSTILE if hostile else ""
    names = [f"chunk={200 * (1 + i // 2)}/{i % 2}{say}" for i in range(settings)]
    ids = [f"q{i}" for i in range(queries)]
    split = {q: "validation" if i % 3 == 0 else "train" for i, q in enumerate(ids)}
    document = f"doc{say}" if hostile else "doc"
    stages = ("retrieve", "rerank")
    scores = {
        (s, st, q, m): round(min(1, max(0, 0.1 * st_i + 0.3 * i / settings + rnd.random() * 0.6)), 6)
        for i, s in enumerate(names)
        for st_i, st in enumerate(stages)
        for q in ids
        for m in measures
    }
    write_table(
        folder / "per_query.csv",
        ("setting", "stage", "query_id", "split", "measure", "value"),
        ([s, st, q, split[q], m, v] for (s, st, q, m), v in scores.items()),
    )
    write_table(folder / "summary.csv", _SUMMARY, _summary(scores, names, stages, ids, measures, split))
    write_table(
        folder / "queries.csv",
        ("query_id", "text", "split", "answerable", "type"),
        (
            [q, f"What of {q}? {say}", split[q], "yes" if i else "no", f"kind{i % 3}"]
            for i, q in enumerate(ids)
        ),
    )
    _rankings(folder, names, stages, ids, document, ranks, text, say, rnd)
    write_table(
        folder / "judgments.csv",
        ("query_id", "document", "start", "end", "page", "grade", "scored_on", "snippet"),
        (
            [q, document, 20 * i % 700, 20 * i % 700 + 30, 1, i % 5, "yes", f"Some text {say}"]
            for i, q in enumerate(ids)
        ),
    )
    write_table(
        folder / "documents.csv",
        ("document", "status", "reason", "pages", "characters", "text_sha256"),
        [[document, "read", say, 3, len(text), "abc"]],
    )
    write_table(folder / "chunk_offsets.csv", ("setting", "document", "start", "end"), [])
    seconds = {
        s: {
            "seconds": {"retrieve": 2.5 + i, "rerank": 3.5 + i},
            "computed_share": {"retrieve": 0.4, "rerank": 0.4},
        }
        for i, s in enumerate(names)
    }
    record = {
        "config": {
            "answer_measures": [{"kind": name, "name": ""} for name in MEASURES],
            "name": "made",
            "settings": [config_of(s, 200 * (1 + i // 2), i % 2) for i, s in enumerate(names)],
            "bootstrap": {"level": 0.95, "seed": 7},
        },
        "hashes": {"docs/a.pdf": "0" * 64},
        "counts": {"conventions": ["gain: exponential"], "settings": seconds, "queries": queries},
        "judge": {"name": "human"},
        "versions": {"python": "3.11"},
        "timings": {"total": 3.5},
    }
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    if extras:
        _extras(folder, names, ids, split, scores)
        shown = tables(names, ids, split, document, lambda i: 200 * (1 + i // 2), say)
        for name, (columns, rows) in shown.items():
            write_table(folder / f"{name}.csv", columns, rows)
    return folder


def fuse(folder):
    """Give the losses of a folder two routes, and one more step that wins or loses; returns it."""
    rows = table(folder / "waterfall.csv")
    out = []
    for i in range(0, len(rows), 5):
        parser, chunking, found, order, change = rows[i : i + 5]
        level, score = float(chunking["left"]), float(change["left"])
        routes = [
            (part | {"step": step, "loss": loss, "left": left})
            for step, share in (("retrieve.bm25", 0.5), ("retrieve.dense", 0.75))
            for part, loss, left in (
                (found, level * (1 - share), level * share),
                (order, level * share / 2, level * share / 2),
            )
        ]
        final = min(1.0, score + 0.1) if i % 2 else score / 2
        again = change | {"step": "rerank_again", "loss": score - final, "left": final}
        out += [parser, chunking, *routes, found, order, change, again]
    write_table(folder / "waterfall.csv", tuple(rows[0]), (row.values() for row in out))
    return folder


_SUMMARY = (
    *("setting", "stage", "split", "measure", "mean", "ci_low", "ci_high"),
    *("n_queries", "n_unanswerable", "n_failed", "judge"),
)


def rewrite(path, changed):
    """Write a table of results anew, each row as ``changed(row)`` makes it."""
    rows = [changed(row) for row in table(path)]
    write_table(path, tuple(rows[0]), (row.values() for row in rows))


def _summary(scores, names, stages, ids, measures, split):
    for s in names:
        for st in stages:
            for part in ("train", "validation", "all"):
                for m in measures:
                    values = [scores[s, st, q, m] for q in ids if part in ("all", split[q])]
                    mean = sum(values) / len(values) if values else ""
                    bounds = [mean - 0.05, mean + 0.05] if len(values) > 1 else ["", ""]
                    yield [s, st, part, m, mean, *bounds, len(values), 0, 0, "human"]


def _rankings(folder, names, stages, ids, document, ranks, text, say, rnd):
    rows, passages = [], {}
    for i, s in enumerate(names):
        size = 200 * (1 + i // 2)
        starts = list(range(0, len(text) - size, size))
        for st in stages:
            for q in ids:
                chosen = rnd.sample(starts, min(ranks, len(starts)))
                score = 1.0
                for rank, start in enumerate(chosen, start=1):
                    score *= rnd.random()
                    chunk = f"{document}:{start}-{start + size}"
                    body = text[start : start + size]
                    if say and not start:
                        body = say + body[len(say) :]
                    passages[chunk] = [chunk, document, start, start + size, 1, body]
                    grade = "" if rank % 3 else 4
                    rows.append([s, st, q, rank, chunk, document, 1, score, grade, grade or 0, "…"])
    columns = ("setting", "stage", "query_id", "rank", "chunk_id", "document", "page", "score", "grade")
    write_table(folder / "rankings.csv", (*columns, "earned", "snippet"), rows)
    write_table(
        folder / "passages.csv", ("chunk_id", "document", "start", "end", "page", "text"), passages.values()
    )


_PLACES = (
    *(("parse", "parser"), ("chunk", "chunking"), ("retrieve", "candidates"), ("retrieve", "order")),
    ("rerank", "change"),
)
_PRICES = (
    *("setting", "stage", "measure", "mean", "depth", "tokens_read", "index_tokens", "tokens_per_point"),
)


def _depth(measure):
    return f"{measure.rpartition('@')[2]} {'characters' if 'text' in measure else 'ranks'}"


def _extras(folder, names, ids, split, scores):
    falls = []
    for s in names:
        for q in ids:
            final = scores[s, "rerank", q, "ndcg_exp@10"]
            before = scores[s, "retrieve", q, "ndcg_exp@10"]
            rest = 1 - before
            left = [1 - 0.1 * rest, 1 - 0.3 * rest, 1 - 0.6 * rest, before, final]
            losses = [0.1 * rest, 0.2 * rest, 0.3 * rest, 0.4 * rest, before - final]
            falls += [
                [s, q, split[q], "ndcg_text@10000", *place, loss, after]
                for place, loss, after in zip(_PLACES, losses, left, strict=True)
            ]
    columns = ("setting", "query_id", "split", "measure", "step", "part", "loss", "left")
    write_table(folder / "waterfall.csv", columns, falls)
    write_table(
        folder / "chunks.csv",
        ("setting", "chunks", "tokens_mean", "tokens_p50", "tokens_max", "share_under_32", "histogram"),
        ([s, 100, 50.5, 50, 90, 0.1, "3 20 50 27 0 0"] for s in names),
    )
    write_table(
        folder / "prices.csv",
        _PRICES,
        (
            [s, st, measure, 0.5, _depth(measure), 500 + 100 * i, 9000 + i, 9.5]
            for i, s in enumerate(names)
            for st in ("retrieve", "rerank")
            for measure in dict.fromkeys(measure for _, _, _, measure in scores)
        ),
    )
    write_table(
        folder / "answerability.csv",
        ("setting", "stage", "auroc", "ci_low", "ci_high", "n_answerable", "n_unanswerable"),
        ([s, st, 0.6, 0.5, 0.7, len(ids) - 1, 1] for s in names for st in ("retrieve", "rerank")),
    )
