"""docs/conventions.md is executed: its data are scored, its workings computed, its values checked."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from harness.data import evaluate, qrels_from_dict, run_from_dict
from harness.data.trec.pair_rows import Run
from harness.measures import CONVENTIONS, ChunkTable, SpanQrels, project, seed_ratio
from tests.measures.build import chunk, span, value

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")


@dataclass
class Example:
    heading: str
    data: str
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def lines(self, kind):
        """[(query, [items])] of the data lines of a kind."""
        found = []
        for line in self.data.splitlines():
            head, _, items = line.partition(": ")
            if head.split()[0] == kind:
                found.append((head.partition(" ")[2], [item.split() for item in items.split(", ")]))
        return found


def examples():
    found, heading = [], ""
    for part in re.split(r"(?m)^(?=#|```text$)", PAGE):
        if part.startswith("#"):
            heading = part.splitlines()[0].strip("# ")
        elif part.startswith("```text"):
            data, _, rest = part.removeprefix("```text\n").partition("```")
            rows = re.findall(r"(?m)^\| `(\S+)` \| `?(\w+)`? \| (\d\.\d{4}) \| (.+) \|$", rest)
            found.append(Example(heading, data, rows))
    return found


ROWS = [(example, *row) for example in examples() for row in example.rows]


def documents(example):
    """The run and the judgments of an example, as dictionaries and as they are scored."""
    qrels = {q: {item[0]: int(item[1]) for item in items} for q, items in example.lines("qrels")}
    run = {q: {item[0]: float(item[1]) for item in items} for q, items in example.lines("run")}
    table = run_from_dict(run)
    ranks = [int(item[3]) for _, items in example.lines("run") for item in items if "rank" in item]
    if ranks:
        table = Run(table.query, table.doc, table.score, np.array(ranks), table.source)
    return run, qrels, table


def spans(example):
    """(judgments, chunks, ranked chunks) of an example."""

    def chunks_of(items):
        return [chunk("d", *map(int, item[0].removeprefix("d:").split("-"))) for item in items]

    judged = [
        span(q, "d", *map(int, item[0].removeprefix("d:").split("-")), int(item[1]), *item[2:])
        for q, items in example.lines("spans")
        for item in items
    ]
    return judged, chunks_of(example.lines("chunks")[0][1]), chunks_of(example.lines("ranked")[0][1])


def exported(measure, judged, chunks, ranked):
    """The value of trec_eval for the grades of chunks."""
    qrels, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    graded = project(qrels, table)
    grades = {table.chunk_ids[c]: int(g) for c, g in zip(graded.chunk, graded.grade, strict=True)}
    run = {"q": {c.chunk_id: -float(rank) for rank, c in enumerate(ranked)}}
    return evaluate(run_from_dict(run), qrels_from_dict({"q": grades}), [measure], "trec_eval").means()[
        measure
    ]


def test_every_value_on_the_page():
    for example, measure, convention, printed, working in ROWS:
        if example.lines("spans"):
            judged, chunks, ranked = spans(example)
            got = (
                exported(measure, judged, chunks, ranked)
                if convention == "exported"
                else value(measure, ranked, judged, chunks)
            )
        else:
            _, qrels, run = documents(example)
            got = evaluate(run, qrels_from_dict(qrels), [measure], convention).means()[measure]
        by_hand = eval(working, {"__builtins__": {}, "log2": math.log2})
        assert got == pytest.approx(by_hand, abs=1e-12), (example.heading, measure, convention)
        assert f"{got:.4f}" == printed, (example.heading, measure, convention)


def pytrec_eval_mean(run, qrels, k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    values = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{k}"}).evaluate(run).values()
    return np.mean([found[f"ndcg_cut_{k}"] for found in values])


def ir_measures_mean(run, qrels, k):
    ir = pytest.importorskip("ir_measures")
    return ir.calc_aggregate([ir.nDCG @ k], qrels, run)[ir.nDCG @ k]


def sklearn_mean(run, qrels, k):
    metrics = pytest.importorskip("sklearn.metrics")
    # it takes two documents or more; one more that is ranked last and gains nothing changes nothing
    values = []
    for q in run.keys() & qrels.keys():
        grades = [*(qrels[q].get(doc, 0) for doc in run[q]), 0]
        scores = [*run[q].values(), min(run[q].values()) - 1]
        values.append(metrics.ndcg_score([grades], [scores], k=k))
    return np.mean(values)


THEMSELVES = {"trec_eval": pytrec_eval_mean, "ir_measures": ir_measures_mean, "sklearn": sklearn_mean}


@pytest.mark.parametrize("convention", THEMSELVES)
def test_the_tools_themselves_say_so(convention):
    checked = 0
    for example, measure, of, printed, _ in ROWS:
        if of == convention and measure.startswith("ndcg_lin@") and example.lines("run"):
            run, qrels, _ = documents(example)
            mean = THEMSELVES[convention](run, qrels, int(measure.partition("@")[2]))
            assert f"{mean:.4f}" == printed, (example.heading, measure)
            checked += 1
    assert checked


def test_negative_grades_are_refused_by_sklearn_as_the_page_says():
    metrics = pytest.importorskip("sklearn.metrics")
    with pytest.raises(ValueError, match="negative"):
        metrics.ndcg_score([[1, -1]], [[1.0, 2.0]])


def test_the_unjudged_at_its_highest_grade_as_the_page_says():
    run = run_from_dict({"q": {"b": 3.0, "x": 2.0, "a": 1.0}})
    qrels = qrels_from_dict({"q": {"a": 2, "b": 0, "x": 4}})
    assert f"is {evaluate(run, qrels, ['ndcg_lin@3']).means()['ndcg_lin@3']:.4f}." in PAGE


def test_the_seed_ratio_next_to_ndcg():
    rows = re.findall(r"(?m)^\| ((?:\d ){4}\d) \| ((?:\d ){4}\d) \| (\d\.\d{4}) \| (\S+) \| (\S+) \|$", PAGE)
    assert len(rows) == 8
    for predicted, judged, ratio, retrieved, reranked in rows:
        places, grades = [int(grade) for grade in predicted.split()], [int(grade) for grade in judged.split()]
        assert f"{seed_ratio(places, grades):.4f}" == ratio, (predicted, judged)
        qrels = qrels_from_dict({"q": dict(zip("abcde", grades, strict=True))})
        for scores, printed in (([5, 4, 3, 2, 1], retrieved), (places, reranked)):
            run = run_from_dict({"q": dict(zip("abcde", map(float, scores), strict=True))})
            means = evaluate(run, qrels, ["ndcg_exp@5"]).means()
            value = means["ndcg_exp@5"] if any(grades) else None
            assert printed == ("none" if value is None else f"{value:.4f}"), (predicted, judged)


def test_the_page_is_complete():
    """The parser has not lost an example, and every convention is in the table and in an example."""
    assert len(ROWS) == len(re.findall(r"(?m)^\| `\S+@?\d*` \| \S+ \| \d\.\d{4} \| ", PAGE))
    assert all(example.rows for example in examples())
    for name in CONVENTIONS:
        assert f"\n| `{name}` " in PAGE
        assert name in {row[2] for row in ROWS}
