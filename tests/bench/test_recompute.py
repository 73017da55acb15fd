"""NDCG can be computed again from a folder of results, by a script that knows nothing of this package."""

import ast
import csv
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from harness.report import ChunkRow, read_chunk_offsets
from tests import recompute
from tests.command import bench, table
from tests.report.page_results import rewrite

RANKS = ("ndcg_exp@3", "ndcg_exp@10", "ndcg_lin@10")
MEASURES = (
    *RANKS,
    "ndcg_text@300",
    "ndcg_text@5000",
    "ndcg_evidence@300",
    "ndcg_evidence(enough=20,L=50)@300",
)


def recomputed(folder):
    """{measure: (values compared, largest difference)}"""
    written = io.StringIO()
    with redirect_stdout(written):
        recompute.main(folder)
    rows = csv.reader(written.getvalue().splitlines())
    return {name: (int(n), float(most)) for name, n, most in rows}


def test_the_script_imports_pandas_and_nothing_of_ours():
    tree = ast.parse(Path(recompute.__file__).read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names - set(sys.stdlib_module_names) == {"pandas"}


def run_of_many_cases(write_config, corpus):
    """Two chunkings, two stages, copies of one fact, overlapping spans of different facts, an answer."""
    labels = corpus / "labels.csv"
    head, *rows = labels.read_text(encoding="utf-8").splitlines()
    with labels.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*head.split(","), "evidence", "answer"])
        for row in csv.reader(rows):
            out.writerow([*row, "same" if row[0] == "q1" else "", ""])
        out.writerow(
            ["q1", "people", "AT THE END OF THE YEAR 39,717 PEOPLE WORKED", 3, "same", "39,717 PEOPLE"]
        )
        out.writerow(["q1", "people", "39,717 people worked for the company. AT THE END", 1, "other", ""])
        out.writerow(["q2", "engines", "THE FUEL PUMP WAS RECALLED", 2, "", "recalled"])
    measures = f"measures: {json.dumps(MEASURES)}"
    path = write_config(
        chunk="{kind: recursive, chunk_size: [90, 180], chunk_overlap: [0, 40]}", more=measures
    )
    return bench(path)[1]


def test_every_value_is_recomputed_from_the_files_and_needs_all_of_them(write_config, corpus):
    folder = run_of_many_cases(write_config, corpus)
    found = recomputed(folder)
    # 5 queries of 4 settings at 2 stages
    assert {name: n for name, (n, _) in found.items()} == dict.fromkeys(MEASURES, 40)
    assert max(most for _, most in found.values()) < 1e-9
    path = folder / "judgments.csv"
    rows, whole = table(path), path.read_bytes()
    assert [sum(row[name] != "" for row in rows) for name in ("evidence", "answer")] == [3, 2]
    # without the answers half of a label finds it, and the values of evidence are others
    rewrite(path, lambda row: row | {"answer": ""})
    found = recomputed(folder)
    assert found["ndcg_evidence(enough=20,L=50)@300"][1] > 0.01
    assert max(found[name][1] for name in RANKS) < 1e-9
    # without the names the copy counts as a second fact
    path.write_bytes(whole)
    rewrite(path, lambda row: row | {"evidence": ""})
    assert recomputed(folder)["ndcg_exp@10"][1] > 0.01


def test_settings_that_share_chunks_have_them_once(write_config):
    path = write_config(chunk="{kind: recursive, chunk_size: 90}", rerank="[null, {kind: late_interaction}]")
    results, folder = bench(path)
    chunks = read_chunk_offsets(folder)
    one, other = chunks.values()
    assert one == other
    assert len(one) == results.of(ChunkRow)[0].chunks
    assert len(table(folder / "chunk_offsets.csv")) == len(one) + 1
