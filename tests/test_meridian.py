"""The shipped collection: built from its source, its figures tie, its labels stand where they say."""

import importlib
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader

from harness.running import Session, load_config, load_corpus
from harness.values import Chunk, Silent, passage_spans
from tests.command import table
from tests.measures.build import score

MERIDIAN = Path(__file__).parent.parent / "corpora" / "meridian"
README = " ".join((MERIDIAN / "README.md").read_text(encoding="utf-8").split())
# the queries and labels of the studies, and those of the quickstart, which searches ten further documents
SETS = {"queries.csv": "labels.csv", "quickstart_queries.csv": "quickstart_judged.csv"}
ROUNDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def rows(name):
    return table(MERIDIAN / name)


@cache
def page_text(document, page):
    if page:
        return squeeze(reader(document).pages[page - 1].extract_text())
    return squeeze(path_of(document).read_text(encoding="utf-8"))


def path_of(document):
    [path] = [path for path in documents_of("quickstart_queries.csv") if path.name == document]
    return path


def documents_of(queries):
    """The documents that the queries of a file are asked of."""
    folders = ("documents",) if queries == "queries.csv" else ("documents", "more")
    return [path for folder in folders for path in (MERIDIAN / folder).iterdir()]


@cache
def reader(document):
    return PdfReader(path_of(document))


def squeeze(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.slow
def test_every_file_is_what_its_source_builds_and_every_figure_ties():
    pytest.importorskip("reportlab")
    done = subprocess.run(
        [sys.executable, MERIDIAN / "build.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SETS)
def test_queries_and_labels_fit_together(name):
    queries = {row["query_id"]: row for row in rows(name)}
    labels = rows(SETS[name])
    assert len(queries) == len(rows(name))
    best = defaultdict(int)
    for label in labels:
        assert label["query_id"] in queries
        assert label["grade"] in {"0", "1", "2", "3", "4"}
        best[label["query_id"]] = max(best[label["query_id"]], int(label["grade"]))
    for query_id, row in queries.items():
        answerable = row["answerable"] == "yes"
        assert (row["type"] != "unanswerable") == answerable, query_id
        assert (best[query_id] >= 2) == answerable, query_id
        assert bool(row["answer"]) == answerable, query_id
    assert {row["document"] for row in labels} == {path.name for path in documents_of(name)}


@pytest.mark.parametrize("labels", SETS.values())
def test_a_quote_is_once_on_its_page_and_judged_once_for_a_query(labels):
    quotes = [row for row in rows(labels) if row["quote"]]
    spans = Counter((row["query_id"], row["document"], row["page"], squeeze(row["quote"])) for row in quotes)
    assert [span for span, times in spans.items() if times > 1] == []
    for label in quotes:
        text = page_text(label["document"], int(label["page"]) if label["page"] else 0)
        assert text.count(squeeze(label["quote"])) == 1, label


@pytest.fixture
def pool(monkeypatch):
    """The command that measures how much of what ranks high is judged."""
    monkeypatch.syspath_prepend(str(MERIDIAN.parent.parent / "benchmarks"))
    yield importlib.import_module("meridian_pool")
    sys.modules.pop("meridian_pool", None)


@pytest.fixture(scope="module")
def tools():
    """The collection's own modules, imported as its scripts do."""
    names = ("agreement", "blind")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MERIDIAN))
        yield {name: importlib.import_module(name) for name in names}
    for name in (*names, "markup", "layout", "judgments"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def both(tools):
    """The places of the labels and of the blind pass."""
    blind = tools["blind"]
    return blind.places(blind.read("labels-before-blind.csv"), blind.read("blind.csv"))


def test_weighted_kappa(tools):
    kappa = tools["agreement"].weighted_kappa
    assert kappa([[5, 0], [0, 5]]) == 1.0
    assert kappa([[5, 5], [5, 5]]) == 0.0
    # 3 of 4 agree; expected disagreement is 1/2 * 1/4 + 1/2 * 3/4 = 1/2, observed 1/4: kappa 1/2
    assert kappa([[1, 1], [0, 2]]) == pytest.approx(0.5)


def test_plain_kappa_takes_every_difference_alike(tools):
    # 3 of 4 agree. Rows hold 1, 1, 2 and columns 2, 1, 1 of 4: by chance (2 + 1 + 2) / 16 would.
    table = [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert tools["agreement"].plain_kappa(table) == pytest.approx(1 - (1 / 4) / (11 / 16))
    # By squares the one difference, of two grades, weighs 4 / 4; by chance (1 + 4 + 2 + 1 + 16 + 2) / 16.
    assert tools["agreement"].weighted_kappa(table) == pytest.approx(1 - 1 / (26 / 16))


@pytest.mark.parametrize("prefix", ["", "quickstart-"])
def test_agreement_reported_in_the_readme_is_what_the_passes_give(tools, prefix):
    agreement = tools["agreement"]
    first, second = agreement.read(f"{prefix}first.csv"), agreement.read(f"{prefix}second.csv")
    for unlisted, said in ((0, "kappa is"), (None, "it is")):
        kappa = agreement.weighted_kappa(agreement.confusion(first, second, unlisted))
        assert f"{said} {kappa:.2f}" in README


@pytest.mark.slow
@pytest.mark.parametrize(("prefix", "equal"), [("", (150, 150)), ("quickstart-", (140, 141))])
def test_agreement_with_the_blind_pass_is_as_the_readme_says(tools, prefix, equal):
    agreement, blind = tools["agreement"], tools["blind"]
    readme = (MERIDIAN / "README.md").read_text(encoding="utf-8")
    passes = (f"{prefix}labels-before-blind.csv", f"{prefix}blind.csv")
    found = blind.places(*map(blind.read, passes))
    for unlisted in (0, None):
        table = blind.table(found, unlisted)
        low, high = blind.interval(found, unlisted, agreement.weighted_kappa)
        assert (
            f"| {sum(map(sum, table))} | {agreement.same(table):.1%} | "
            f"{agreement.weighted_kappa(table):.3f} ({low:.3f} to {high:.3f}) | "
            f"{agreement.plain_kappa(table):.3f} |"
        ) in readme
    verdicts = blind.answerable(prefix)
    assert (sum(a == b for a, b in verdicts), len(verdicts)) == equal


@pytest.mark.slow
def test_every_serious_difference_with_the_blind_pass_is_resolved_with_a_note(both):
    """One gave 2 or more and the other nothing, or the grades are two apart."""
    labels = rows("labels.csv")
    apart = [
        place
        for place in both
        if (place.labels is None or place.blind is None or abs(place.labels - place.blind) >= 2)
        and max(place.labels or 0, place.blind or 0) >= 2
    ]
    assert len(apart) == 58
    resolved = defaultdict(list)
    for row in labels:
        if "resolved after the blind pass: " in row["note"]:
            resolved[row["query_id"]].append(squeeze(row["quote"]).replace("-", ""))
    for place in apart:
        quotes = [squeeze(span.quote).replace("-", "") for span in place.spans]
        assert any(mine in other or other in mine for mine in quotes for other in resolved[place.query_id]), (
            place
        )


def test_the_readme_counts_what_is_there():
    assert f"{len(rows('queries.csv'))} queries and {len(rows('labels.csv')):,} graded spans" in README
    for kind, count in Counter(row["type"] for row in rows("queries.csv")).items():
        assert f"| {kind} | {count} |" in README


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The collection as its study reads it."""
    return as_read("meridian", tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """The collection as the quickstart reads it."""
    return as_read("quickstart", tmp_path_factory.mktemp("cache"))


def as_read(name, cache):
    root = MERIDIAN.parent.parent
    config = load_config(root / "configs" / f"{name}.yaml")
    here = {name: root / getattr(config, name) for name in ("queries", "labels")}
    documents = tuple(str(root / pattern) for pattern in config.documents)
    config = config.model_copy(update={**here, "documents": documents})
    return load_corpus(config, Session.at(cache, Silent()).document_reader)


def test_judged_is_the_labels_and_what_was_dismissed_with_grade_0():
    labels, everything = rows("labels.csv"), rows("judged.csv")
    dismissed = rows("source/passes/dismissed.csv")
    assert everything[: len(labels)] == labels
    added = everything[len(labels) :]
    found, read = (
        [(row["query_id"], row["start"], row["end"]) for row in each] for each in (added, dismissed)
    )
    assert found == read
    assert {row["grade"] for row in added} == {"0"}
    assert f"{len(added):,} spans that were read for a query and hold no answer" in README


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["judged", "quickstart"])
def test_what_was_dismissed_shares_no_character_with_a_label_of_the_query(collection, request):
    corpus = request.getfixturevalue(collection)
    rows_of_file = zip(corpus.label_rows, corpus.anchored.judgments, strict=True)
    dismissed = [label for row, label in rows_of_file if row.note.startswith("dismissed")]
    labels = defaultdict(list)
    # the copies of labels too, which are behind all rows of the file
    for label in corpus.labels:
        labels[label.query_id, label.doc_id].append((label.start, label.end, label))
    assert {one.grade for one in dismissed} == {0}
    for one in dismissed:
        met = [
            label
            for start, end, label in labels[one.query_id, one.doc_id]
            if start < one.end and one.start < end
        ]
        assert met == [one]


@pytest.mark.slow
def test_what_was_dismissed_is_whole_passages_of_the_text_as_it_is_extracted_now(judged, pool):
    starts, ends = set(), set()
    for document in judged.documents:
        for start, end in passage_spans(document.text, pool.PASSAGE):
            starts.add((document.doc_id, start))
            ends.add((document.doc_id, end))
    for one in judged.anchored.judgments[len(rows("labels.csv")) :]:
        assert (one.doc_id, one.start) in starts
        assert (one.doc_id, one.end) in ends


@pytest.mark.slow
def test_what_was_dismissed_moves_the_share_judged_and_the_upper_bound_and_no_score(judged, pool):
    chunks = tuple(
        Chunk.of(document, *span)
        for document in judged.documents
        for span in passage_spans(document.text, 700)
    )
    index = pool.Bm25(chunks, pool.words)
    rankings = [index.rank(query.query_id, query.text) for query in judged.queries.queries]
    measures = ("ndcg_exp@10", "ndcg_evidence@5000", "ndcg_text@5000", "recall@10", "precision@10", "mrr")
    bounds = ("judged@10", "ndcg_exp_upper@10")
    count = len(rows("source/passes/dismissed.csv"))
    added = judged.anchored.judgments[-count:]
    alone = [label for label in judged.labels if label not in set(added)]
    assert len(alone) == len(judged.labels) - count

    def scored(labels, names):
        return score(rankings, judged.queries.queries, labels, chunks, names).values

    np.testing.assert_array_equal(scored(alone, measures), scored(judged.labels, measures))
    before, after = (np.nanmean(scored(labels, bounds), axis=0) for labels in (alone, judged.labels))
    assert after[0] > 2 * before[0]
    assert after[1] < before[1]


def grade_when_found(row):
    """The grade before the blind pass changed it, which the note then says."""
    changed = re.search(r"\(was (\d)\)$", row["note"])
    return int(changed[1] if changed else row["grade"])


def test_the_readme_reports_what_each_round_of_pooling_found():
    readme = (MERIDIAN / "README.md").read_text(encoding="utf-8")
    for number, name in enumerate(ROUNDS, 1):
        note = f"found in the {name} round of pooling"
        found = [grade_when_found(row) >= 2 for row in rows("labels.csv") if note in row["note"]]
        [line] = [line for line in readme.splitlines() if line.startswith(f"| round {number} |")]
        assert line.endswith(f"| {sum(found)} | {len(found) - sum(found)} |"), line
