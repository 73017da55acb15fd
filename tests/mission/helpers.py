"""Small benchmarks of passages that are written down in a test."""

import json

from harness.measures import ANSWER_MEASURES
from harness.running import load_config, run_bench
from harness.values import Silent
from tests.answer.helpers import ToyTools
from tests.command import save_table, table

FIVE = ("first", "second", "third", "fourth", "fifth")
IN_ORDER = "{kind: python, call: 'tests.mission.steps:in_order', version: '1', top_k: 5}"


def write_bench(folder, passages, queries, graded=(), **sections):
    """The configuration of a benchmark in ``folder`` whose passages are a document and a chunk each.

    ``queries`` are texts, or rows; ``graded`` has (query id, document, grade) of whole passages.
    """
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    for name, text in passages.items():
        (documents / f"{name}.txt").write_text(text, encoding="utf-8")
    rows = [
        query if isinstance(query, dict) else {"query_id": f"q{at}", "text": query, "split": "train"}
        for at, query in enumerate(queries, 1)
    ]
    save_table(folder / "queries.csv", rows)
    base = {
        "name": "mission",
        "documents": str(documents / "*.txt"),
        "queries": str(folder / "queries.csv"),
        "cache": str(folder / "cache"),
        "results": str(folder / "results"),
        "chunk": "{kind: recursive, chunk_size: 2000}",
        "retrieve": IN_ORDER,
    }
    if graded:
        labels = [
            {"query_id": query, "document": document, "quote": passages[document], "grade": grade}
            for query, document, grade in graded
        ]
        save_table(folder / "labels.csv", labels)
        base["labels"] = str(folder / "labels.csv")
    path = folder / "bench.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in {**base, **sections}.items()), "utf-8")
    return path


def run_in(folder, passages, queries, graded=(), **sections):
    """Run such a benchmark; returns the folder of its results."""
    path = write_bench(folder, passages, queries, graded, **sections)
    return run_bench(load_config(path), Silent())[1]


def values(results, measure, stage):
    """The values of a measure by query; None where it has none."""
    return {
        row["query_id"]: float(row["value"]) if row["value"] else None
        for row in table(results / "per_query.csv")
        if (row["measure"], row["stage"]) == (measure, stage)
    }


def flow(value):
    """A value as YAML on one line."""
    return json.dumps(value, ensure_ascii=False)


def measured(kind, answered, by_step=None, vector_of=None, score_of=None, **options):
    """The score of a case by a measure of answers, and the calls that it took.

    ``by_step`` has the reply to each step of the measure: an object, or a function of (texts, sample).
    """

    def reply(name, query, texts, sample):
        words = by_step[name.split(" v")[0]]
        return json.dumps(words(texts, sample) if callable(words) else words, ensure_ascii=False)

    tools = ToyTools(reply)
    tools.vector_of, tools.score_of = vector_of or tools.vector_of, score_of or tools.score_of
    (score,) = tools.score(ANSWER_MEASURES[kind].config(**options), [answered])
    return score, tools.asked


def verdicts(values):
    """A reply with a verdict on each of the statements or sentences shown."""
    return {"verdicts": [{"number": number, "verdict": int(value)} for number, value in enumerate(values, 1)]}
