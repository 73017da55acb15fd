"""PDF pages on report.html: which ones, how many, and what keeps them away."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from harness.report import read_tables
from harness.running.bench.page import page_pictures
from harness.values import HarnessError, Silent
from tests.command import write_table
from tests.report.page_results import rewrite, write_folder

pytest.importorskip("PIL", reason="needs Pillow, of the pdfium extra")
SOURCE = Path("corpora/meridian/documents/meridian-10k-2025.pdf")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results with evidence of q0 on page 2 and of q1 on page 3; q1 is the harder question."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    shutil.copy(Path(__file__).parents[2] / SOURCE, "docs/doc.pdf")
    folder = write_folder(tmp_path / "r", settings=1, queries=3)
    columns = ("query_id", "document", "start", "end", "page", "grade", "scored_on", "snippet")
    rows = [
        ("q0", "doc", 5, 50, 2, 4, "yes", "Meridian Motors, Inc."),
        ("q1", "doc", 60, 90, 3, 3, "yes", "Meridian Motors, Inc."),
        ("q1", "doc", 95, 99, 4, 0, "yes", "read and dismissed"),
        ("q2", "doc", 95, 99, 5, 4, "no", "not scored on"),
        ("q2", "other", 95, 99, "", 4, "yes", "of a text file"),
    ]
    write_table(folder / "judgments.csv", columns, rows)
    value = {"q0": 0.9, "q1": 0.1, "q2": 0.5}
    rewrite(folder / "per_query.csv", lambda row: row | {"value": value[row["query_id"]]})
    record = json.loads((folder / "record.json").read_text())
    record["hashes"] = {"docs/doc.pdf": sha256(Path("docs/doc.pdf").read_bytes()).hexdigest()}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


@pytest.mark.slow
def test_pages_with_relevant_evidence_come_by_the_hardest_question_within_the_size_limit(folder):
    found = page_pictures(read_tables(folder), "ndcg_exp@10", 10**7, Silent())
    assert [(one["document"], one["page"]) for one in found] == [("doc", 3), ("doc", 2)]
    assert [(start, end) for start, end, _ in found[0]["marks"]] == [(60, 90)]
    assert all(one["uri"].startswith("data:image/webp;base64,") for one in found)
    most = len(found[0]["uri"])
    assert page_pictures(read_tables(folder), "ndcg_exp@10", most, Silent()) == found[:1]


def test_a_pdf_that_has_changed_or_gone_is_not_shown(folder):
    reporter = Silent()
    Path("docs/doc.pdf").write_bytes(b"%PDF other")
    with pytest.raises(HarnessError, match="no pages to show"):
        page_pictures(read_tables(folder), "ndcg_exp@10", 10**7, reporter)
    assert reporter.warnings == ["docs/doc.pdf has changed since the run, so its pages are not shown."]
    Path("docs/doc.pdf").unlink()
    with pytest.raises(HarnessError):
        page_pictures(read_tables(folder), "ndcg_exp@10", 10**7, reporter)
    assert "Run the command in the folder where the benchmark ran." in reporter.warnings[1]
