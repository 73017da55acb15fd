"""What was tried of every store: the table of docs/stores.md, by what its tests came to and what was timed.

``python -m benchmarks.stores --table`` runs the tests of all stores, or those of ``--kinds`` (tests/external,
some minutes, packages from the index), and prints what each came to; with ``--write`` the page has it, and
``stores_tried.json`` keeps it, by which ``tests/external/test_tried_table.py`` holds the page to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.steps.search.retrieve import KINDS

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".json")
BEGIN, END = (
    "<!-- tried stores: made by python -m benchmarks.stores --table -->",
    "<!-- end of tried stores -->",
)
TESTS = ("tests/external/test_stores.py", "tests/external/test_opensearch.py")
# those whose server is written for the tests
WRITTEN = ("opensearch", "elasticsearch")
# what each was, and the beginning of its names in what was measured
STORES = {
    "qdrant": ("Qdrant, local mode; no server was tried", "Qdrant"),
    "chroma": ("Chroma, its own server", "Chroma"),
    "lancedb": ("LanceDB", "LanceDB"),
    "pgvector": ("PostgreSQL with pgvector", "pgvector"),
    "opensearch": ("OpenSearch: a server written from its protocol, no real one", "OpenSearch"),
    "elasticsearch": ("Elasticsearch: a server written from its protocol, no real one", "Elasticsearch"),
}
WORDS = "test_a_store_filled_here_is_searched_by_words_and_by_both"
STORED_WORDS = "test_an_existing_collection_is_searched_by_words_and_by_both"
COLUMNS: dict[str, tuple[str, ...]] = {
    "filled here: ranks as our scan": (
        "test_a_store_filled_here_ranks_as_our_scan",
        "test_distances_are_those_of_our_scan",
    ),
    "filled here: words, hybrid": (WORDS,),
    "existing: read": (
        "test_an_existing_collection_scores_as_the_same_chunks_searched_here",
        "test_what_cannot_be_placed_keeps_its_rank_and_is_counted",
        "test_files_of_which_nothing_is_stored_are_told",
        "test_names_that_are_no_files_do_not_hide_the_text",
        "test_one_verdict_over_the_collection_and_what_would_be_built",
    ),
    "existing: words, hybrid": (STORED_WORDS,),
    "existing: `only`": (
        "test_a_search_among_rows_with_a_value_is_that_of_a_scan_of_them",
        "test_a_filter_of_some_values_counts_the_rows_of_any",
        "test_values_of_every_type_find_the_rows_that_have_them",
        "test_a_filter_by_a_hostile_name_or_value_finds_nothing_and_changes_nothing",
    ),
    "writes refused": ("test_no_writing_method_can_be_reached",),
    "faults": (
        "test_faults_of_an_existing_collection_are_errors_and_never_zeros",
        "test_vectors_of_another_dimension_or_model_are_told",
        "test_a_store_that_is_down_or_does_not_answer_is_an_error_in_time",
    ),
}


def tried(kinds: Collection[str]) -> dict[str, dict[str, str]]:
    """Run the tests; how each ended, by store and name: ``passed``, ``failed`` or ``skipped``."""
    # by their whole names: a word of a kind is in the name of a file too
    name = "test_a_store_is_searched_filled_and_left_alone"
    chosen = [f"{TESTS[kind in WRITTEN]}::{name}[{kind}]" for kind in kinds]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", "slow", *chosen],
            cwd=ROOT,
            env={**os.environ, "HARNESS_TRIED": folder},
            check=False,
        )
        return {path.stem: ends_of(path) for path in sorted(Path(folder).glob("*.xml"))}


def ends_of(path: Path) -> dict[str, str]:
    """How the tests of a report in JUnit's XML ended, by the name of the test without what it was given."""
    ends: dict[str, str] = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = str(case.get("name")).partition("[")[0]
        kinds = {child.tag for child in case}
        end = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        # of a test with several values the worst counts
        ends[name] = max(end, ends.get(name, end), key=("passed", "skipped", "failed").index)
    return ends


def cell(ends: Mapping[str, str], tests: Sequence[str]) -> str:
    """Yes where all tests of a column passed, else how the worst ended."""
    worst = {ends.get(test, "not run") for test in tests} - {"passed"}
    return ", ".join(sorted(worst)) or "yes"


def measured(rows: Sequence[Mapping[str, Any]], beginning: str) -> tuple[str, str]:
    """Recall and milliseconds of a query, from the least to the most, of what was measured of a store."""
    of_store = [row for row in rows if row["store"].startswith(beginning)]
    if not of_store:
        return "not measured", "not measured"
    recall, ms = ([row[key] for row in of_store] for key in ("recall", "ms"))
    return _span(recall, 3), _span(ms, 1)


def _span(values: Sequence[float], digits: int) -> str:
    """The least and the greatest value, once where they are the same."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def table(kept: Mapping[str, Mapping[str, str]], rows: Sequence[Mapping[str, Any]]) -> str:
    """The table of the page."""
    heads = ["store", *COLUMNS, "recall@10", "one query, ms"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for kind, (words, beginning) in STORES.items():
        if kind not in kept:
            continue
        ends, config = kept[kind], KINDS[kind].config
        able = {WORDS: "words" in config.searches, STORED_WORDS: "words" in config.existing_searches}
        cells = [
            cell(ends, tests) if able.get(tests[0], True) else "not offered" for tests in COLUMNS.values()
        ]
        lines.append("| " + " | ".join([words, *cells, *measured(rows, beginning)]) + " |")
    return "\n".join(lines)


def written(text: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page with the table of what the tests came to last; raises ValueError without a place for it."""
    head, _, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise ValueError(f"{BEGIN} … {END} is missing on the page")
    return f"{head}{BEGIN}\n{table(json.loads(KEPT.read_text(encoding='utf-8')), rows)}\n{END}{tail}"


def report(kinds: Collection[str], rows: Sequence[Mapping[str, Any]], page: Path | None) -> bool:
    """Run the tests of some kinds and print the table of them; whether all of them passed.

    With a ``page`` its part is written too, where what other kinds came to before stays.
    """
    ends = tried(kinds)
    print(table(ends, rows))
    if page is not None:
        before = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        KEPT.write_text(json.dumps({**before, **ends}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        page.write_text(written(page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return {*ends} == {*kinds} and all(end == "passed" for each in ends.values() for end in each.values())
