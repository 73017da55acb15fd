"""A warning that bears on a number is part of the result, and is shown wherever the number is."""

import errno
import json
import shutil

import pytest

import harness
from harness.comparison import sentence_of
from harness.running import load_config, write_page
from harness.values import Silent
from tests.command import one_line, printed, run
from tests.report.test_page import payload_of

UNLABELLED = "1 query has no label and is left out of NDCG and recall"
SHALLOW = "Rankings end before the 2,000 characters that ndcg_evidence@2000 reads"
LONG = "counts any 200 of them as found evidence"


@pytest.fixture(scope="module")
def results(module_config, module_corpus):
    """Results with a question without a label, labels that are too long, and rankings that are too short."""
    corpus = module_corpus
    with (corpus / "queries.csv").open("a", encoding="utf-8") as file:
        file.write("q6,What is cast from aluminium?,train,yes\n")
    answers = {"q1": "people", "q2": "engines", "q3": "harbour", "q4": "people"}
    texts = {name: (corpus / "docs" / f"{name}.txt").read_text() for name in answers.values()}
    rows = "".join(f'{query},{name},"{texts[name]}",3\n' for query, name in answers.items())
    (corpus / "labels.csv").write_text(f"query_id,document,quote,grade\n{rows}")
    path = module_config(
        chunk="{kind: recursive, chunk_size: [90, 180]}",
        retrieve="{kind: bm25, top_k: 3}",
        rerank="null",
        more="measures: [ndcg_evidence@2000, ndcg_exp@3, recall@3]",
    )
    reporter = Silent()
    return harness.run(load_config(path), reporter=reporter), reporter


def test_the_record_has_one_typed_list_of_them_and_a_page_shows_them(results):
    found, reporter = results
    rows = found.record["warnings"]
    by_text = {next(text for text in (UNLABELLED, SHALLOW, LONG) if text in row["text"]): row for row in rows}
    assert by_text[UNLABELLED] == {
        "kind": "labels",
        "text": f"{UNLABELLED}; label the passages that answer, or mark answerable: no (q6).",
        "measures": [],
        "settings": [],
        "code": "labels.unlabelled",
        "values": {"count": 1, "places": "q6"},
    }
    assert by_text[SHALLOW]["kind"] == "depth"
    assert by_text[SHALLOW]["measures"] == by_text[LONG]["measures"] == ["ndcg_evidence@2000"]
    assert by_text[SHALLOW]["settings"] == ["chunk=90/0", "chunk=180/0"]
    # each is made of a code and values
    assert all(sentence_of(row["code"], **row["values"]) == row["text"] for row in rows)
    # all that is kept was said as it arose
    assert {row["text"] for row in rows} <= set(reporter.warnings)
    # where there is no verdict, too
    payload = payload_of(write_page(found.folder)[0].read_text())
    assert any(UNLABELLED in text for text in payload["warnings"])


def test_the_record_has_the_shares_of_what_is_read_and_a_gate_compares_them(results, tmp_path, capsys):
    found, _ = results
    read = {**found.record["counts"]["read"]}
    # three chunks of at most 90 and 180 characters are at most 270 and 540 of 2,000
    shares = read.pop("ndcg_evidence@2000")
    assert 0 < shares["chunk=90/0"] < shares["chunk=180/0"] < 1
    # measures of three ranks are read in full
    assert read == {}
    verdict = json.loads((found.folder / "verdict.json").read_text())
    assert any("`retrieve.top_chars: 2000`" in step["text"] for step in verdict["next"])
    deeper = tmp_path / "deeper"
    shutil.copytree(found.folder, deeper)
    record = json.loads((deeper / "record.json").read_text())
    record["counts"]["read"] = {}
    (deeper / "record.json").write_text(json.dumps(record))
    for baseline, told in ((found.folder, 0), (deeper, 1)):
        text = one_line(run(capsys, "gate", found.folder, "--baseline", baseline)[1])
        assert text.count("Rankings of one of the two end earlier") == 2 * told
        assert text.count("the change may be of their depth alone") == 2 * told


def test_it_is_shown_wherever_the_number_is(results, capsys):
    found, _ = results
    folder = found.folder
    verdict = json.loads((folder / "verdict.json").read_text())
    texts = [row["text"] for row in verdict["warnings"]]
    lines = [line["text"] for line in verdict["lines"] if line["label"] == "Warning"]
    assert lines == [text.removesuffix(".") + "." for text in texts]
    page = payload_of(write_page(folder)[0].read_text())
    shown = [
        " ".join(verdict["sentences"]),
        *(printed(capsys, "show", folder, "--format", form) for form in ("text", "markdown", "json")),
        *(
            printed(capsys, "compare", folder, "--format", form)
            for form in ("text", "markdown", "latex", "json")
        ),
        one_line(run(capsys, "gate", folder, "--baseline", folder)[1]),
        str(found),
        json.dumps(found.compare().as_dict()),
        json.dumps(page["statistics"]["ndcg_evidence@2000"]["verdict"]),
    ]
    for text in shown:
        for warning in (UNLABELLED, SHALLOW, LONG):
            assert warning in text.replace("\\_", "_")
    # what bears on another measure is not said of this one
    text = printed(capsys, "compare", folder, "--measure", "recall@3")
    assert [warning in text for warning in (UNLABELLED, SHALLOW, LONG)] == [True, False, False]


def test_of_two_results_each_warning_names_its_own(results, tmp_path, capsys):
    first = results[0].folder
    other = tmp_path / "results" / "other"
    shutil.copytree(first, other)
    record = json.loads((first / "record.json").read_text())
    # as of an older version, which kept no codes
    record["warnings"] = [
        {name: row[name] for name in ("kind", "text", "measures", "settings")}
        for row in record["warnings"]
        if row["kind"] != "depth"
    ]
    (other / "record.json").write_text(json.dumps(record))
    text = printed(capsys, "compare", first, other)
    assert f"tiny: {SHALLOW}" in text
    # both have it, so it is said once, of both
    assert text.count(UNLABELLED) == 1
    assert f"tiny: {UNLABELLED}" not in text


@pytest.fixture
def cache_warnings(write_config, corpus):
    """Runs the benchmark anew; returns the kept and the printed warnings of the cache."""
    (corpus / "cache").mkdir(exist_ok=True)

    def run_again(**options):
        for stored in (corpus / "cache").rglob("artifacts/ranking"):
            shutil.rmtree(stored)
        reporter = Silent()
        config = load_config(write_config(cache="cache", rerank="null", **options))
        found = harness.run(config, reporter=reporter, again=True)
        kept = [row["text"] for row in found.record["warnings"] if row["kind"] == "cache"]
        return kept, [text for text in reporter.warnings if "cache" in text]

    return run_again


def test_digits_that_may_differ_are_a_warning_of_the_result_only_where_a_model_computed(
    cache_warnings, corpus, monkeypatch
):
    assert cache_warnings() == ([], [])
    vectors = list((corpus / "cache").rglob("vectors/*.sqlite"))

    def denied(path, data):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    # the vectors are known, so that no model runs: the numbers are those of the run before
    with monkeypatch.context() as patched:
        patched.setattr("harness.store.artifacts.write_bytes", denied)
        kept, (said,) = cache_warnings()
    assert (kept, "last digits" in said) == ([], False)
    for path in vectors:
        path.unlink()
        path.mkdir()
    (text,), said = cache_warnings()
    assert "scores may differ in their last digits" in text
    assert text in said
    # words alone need no model
    assert cache_warnings(retrieve="{kind: bm25, top_k: 3}")[0] == []
