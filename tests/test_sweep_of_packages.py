"""Kinds of other packages in a sweep: names, factors, columns and steps follow from what they say of keys."""

import ast
import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml

from harness import comparison, data, steps
from harness.values import marks_of
from tests import toy_package
from tests.command import write_files
from tests.compare.build import conclude, noisy
from tests.report.page_results import unpack

ROOT = Path(__file__).parent.parent
ENTRIES = """\
[harness.kinds]
chunk.spans = toy_package:SPANS
retrieve.pooled = toy_package:POOLED
rerank.careful = toy_package:CAREFUL
"""
BENCH = """\
name: toy
documents: documents/*.txt
queries: queries.csv
labels: labels.csv
chunk: {kind: spans, span_length: [1200, 60], shared: [0, 20]}
retrieve: {kind: pooled, pool: [2, 4]}
rerank: {kind: careful, effort: [low, high]}
measures: [ndcg_evidence@200]
"""
FACTS = [f"Item {n} was made in year {1900 + n} and weighs {n} kilos." for n in range(40)]
TEXT = "\n".join(FACTS)


def harness(project, *words):
    """Run a command where the package is installed; returns what it printed on one line."""
    paths = os.pathsep.join([str(project / "site"), str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=project,
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A finished sweep of kinds of a package."""
    folder = tmp_path_factory.mktemp("sweep")
    starts = [TEXT.index(fact) for fact in FACTS]
    questions = [f"q{n},How many kilos does item {n} weigh?" for n in range(40)]
    spans = [
        f"q{n},facts,3,{start},{start + len(fact)}"
        for n, (start, fact) in enumerate(zip(starts, FACTS, strict=True))
    ]
    info = "site/toy_package-1.0.dist-info"
    write_files(
        folder,
        {
            "bench.yaml": BENCH,
            "documents/facts.txt": TEXT,
            "queries.csv": "\n".join(["query_id,text", *questions, ""]),
            "labels.csv": "\n".join(["query_id,document,grade,start,end", *spans, ""]),
            "site/toy_package.py": Path(toy_package.__file__).read_text(encoding="utf-8"),
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n",
            f"{info}/entry_points.txt": ENTRIES,
        },
    )
    harness(folder, "bench", "bench.yaml", "--quiet")
    return folder


def test_settings_and_levels_are_named_by_what_the_kinds_say(installed, project):
    record = json.loads((project / "results/toy/record.json").read_text(encoding="utf-8"))
    names = [setting["name"] for setting in record["config"]["settings"]]
    assert names[:3] == [
        "span_length=1200/0 pool=2 effort=low",
        "span_length=1200/0 pool=2 effort=high",
        "span_length=1200/0 pool=4 effort=low",
    ]
    design = comparison.design_in(record)
    levels = {factor.name: factor.distinct for factor in design.factors}
    assert levels == {
        "span length": ("1,200 characters", "60 characters"),
        "overlap": ("no overlap", "overlap 20"),
        "search": ("pool search, pool 2", "pool search, pool 4"),
        "reranker": ("reranked, effort low", "reranked, effort high"),
    }
    # more of a pool, and more effort, cost more
    weights = [factor.weight for factor in design.factors]
    assert weights[2:] == [
        dict(zip(levels["search"], (2, 4), strict=True)),
        dict(zip(levels["reranker"], (0, 2), strict=True)),
    ]
    shown = harness(project, "show", "results/toy")
    first = next(iter(design.names.values()))
    assert first == "1,200 characters, no overlap, pool search, pool 2, reranked, effort low"
    assert "60 characters, " in shown
    assert "pool search, pool " in shown


def test_the_page_has_a_column_for_each_key_that_a_package_has_marked(project):
    page = (project / "results/toy/report.html").read_text(encoding="utf-8")
    payload = unpack(re.search(r'id="data">([^<]*)<', page)[1])
    columns = {column["name"]: column for column in payload["factors"]}
    points = list(product((1200, 60), (0, 20), (2, 4), ("low", "high")))
    assert columns["size"]["values"] == [point[0] for point in points]
    assert columns["overlap"]["values"] == [point[1] or None for point in points]
    assert columns["search pool"]["values"] == [point[2] for point in points]
    # what a column is about is what its kind says of the key
    assert columns["search pool"]["about"] == "Passages of the pool that is searched"
    assert columns["reranker effort"]["values"] == [point[3] for point in points]
    assert columns["reranker effort"]["levels"] == ["low", "medium", "high"]
    # one line by chunk size for each of the other choices
    assert len(payload["curves"]) == 8
    effects = {effect["factor"] for effect in payload["statistics"]["ndcg_evidence@200"]["glance"]["factors"]}
    assert effects == {"span length", "overlap", "search", "reranker"}


SPANS = {"kind": "spans", "span_length": 300, "shared": 50}
POOLED = {"kind": "pooled", "top_k": 20, "top_chars": None, "pool": 6}
CAREFUL = {"kind": "careful", "effort": "low"}


def setting(chunk=SPANS, search=POOLED, rerank=CAREFUL):
    return {"chunk": chunk, "retrieve": search, "rerank": [rerank]}


@pytest.fixture
def installed(monkeypatch):
    """The kinds of the package in the tables of this process."""
    kinds = {
        "CHUNKERS": toy_package.SPANS,
        "RETRIEVERS": toy_package.POOLED,
        "RERANKERS": toy_package.CAREFUL,
    }
    for name, kind in kinds.items():
        table = getattr(steps, name)
        monkeypatch.setattr(table, "_items", {**table._items, kind.name: kind})


def next_line(part, settings, lost=(0.4, 0.4)):
    """The first next step of a verdict whose largest loss is at a part: its text and its line."""
    names = "ab"
    verdict = conclude(
        noisy(60, (0.5, 0.3)),
        configured=dict(zip(names, settings, strict=True)),
        lost={name: {part: value} for name, value in zip(names, lost, strict=True)},
        folders=dict.fromkeys(names, "results/x"),
    )
    first = comparison.verdict_json(verdict)["next"][0]
    return first["text"], yaml.safe_load(first["config"])


VECTORS = {"kind": "exact", "model": "m", "top_k": 20, "top_chars": None}


@pytest.mark.parametrize(
    ("part", "settings", "lost", "line"),
    [
        # no direction is known yet, and the chunks share text already
        ("chunking", [setting()] * 2, (0.4, 0.4), {"span_length": 600}),
        ("chunking", [setting({**SPANS, "shared": 0})] * 2, (0.4, 0.4), {"shared": 60}),
        # the larger of two sizes loses less
        ("chunking", [setting(), setting({**SPANS, "span_length": 500})], (0.5, 0.3), {"span_length": 1000}),
        # where both ways to search were tried, deeper by the key of its own
        ("candidates", [setting(), setting(search=VECTORS)], (0.4, 0.4), {"pool": 12}),
        ("order", [setting()] * 2, (0.4, 0.4), {"effort": "medium"}),
        # of low and high nothing lies beyond high, so another reranker
        (
            "order",
            [setting(), setting(rerank={**CAREFUL, "effort": "high"})],
            (0.5, 0.3),
            {"rerank": {"kind": "cross_encoder", "model": "cross-encoder/ms-marco-MiniLM-L-6-v2"}},
        ),
        # of medium and high the lower loses less, so the next lower
        (
            "order",
            [setting(rerank={**CAREFUL, "effort": effort}) for effort in ("medium", "high")],
            (0.3, 0.5),
            {"effort": "low"},
        ),
    ],
)
def test_the_next_step_is_a_key_of_the_kind(installed, part, settings, lost, line):
    assert next_line(part, settings, lost)[1] == line


def test_results_of_a_package_that_is_gone_are_read_by_the_names_of_its_keys():
    # chunk_size and chunk_overlap mean what they mean in our chunkers; span_length is a key like any other
    cuts = ({"kind": "gone", "chunk_size": size, "chunk_overlap": 0} for size in (300, 600))
    design = design_of_cuts(cuts)
    assert [factor.distinct for factor in design.factors] == [("300 characters", "600 characters")]
    spans = ({"kind": "gone", "span_length": length} for length in (300, 600))
    assert [factor.distinct for factor in design_of_cuts(spans).factors] == [
        ("gone, span length 300", "gone, span length 600")
    ]


DESCRIBING = (
    *(f"comparison/{name}.py" for name in ("design", "next_steps", "page_columns", "remedies", "sweep")),
    "running/config/naming.py",
)


def test_no_kind_and_no_key_of_one_is_named_where_sweeps_are_described():
    """What holds for one kind stands with the kind; `endpoint` is a key of many as well as a kind."""
    tables = [steps.CHUNKERS, steps.CONTEXTS, steps.FILTERS, steps.REWRITERS, steps.RETRIEVERS]
    tables += [steps.RERANKERS, steps.READERS, steps.ANSWERERS, data.PARSERS]
    kinds = {name for table in tables for name in table.ours} - {"endpoint"}
    keys = {key for table in tables for name in table.ours for key in marks_of(table.config(name))}
    assert {"bm25", "cross_encoder", "pypdf", "recursive"} < kinds
    assert {"chunk_size", "token_overlap", "top_k", "top_n", "call"} < keys
    for name in DESCRIBING:
        tree = ast.parse((ROOT / "harness" / name).read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert texts & (kinds | keys) <= {"context"}, name


def design_of_cuts(cuts):
    settings = [
        {"name": str(place), "chunk": chunk, "retrieve": {"kind": "bm25", "top_k": 20}}
        for place, chunk in enumerate(cuts)
    ]
    return comparison.design_in({"config": {"settings": settings}})


def test_a_step_written_for_an_earlier_version_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"Old\.run takes tools, as in earlier versions.*own-steps\.md"):

        class Old(toy_package.Pooled):
            def run(self, passages, queries, tools):
                return None
