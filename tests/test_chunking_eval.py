"""The Evaluating Chunking study: its loader, its configuration, and its figures reproduced."""

import contextlib
import csv
import os
from pathlib import Path

import pytest

from benchmarks.chunking_eval import (
    HARNESS,
    MEASURES,
    REFERENCE,
    STUDY,
    Rule,
    Study,
    check_counting,
    count,
    means,
    peer_texts,
    place,
)
from benchmarks.public_data import chunking_eval
from benchmarks.repeated_spans import repeated
from harness.running import Session, load_config, load_corpus
from harness.steps import chunk_documents
from harness.values import Chunk, Document, Judgment, Silent, text_sha256

CONFIG = Path(__file__).parent.parent / "configs" / "chunking_eval.yaml"
REFRAIN = "The tide turns at six."
TEXT = f"{REFRAIN} Ünlü boats leave.\n\n{REFRAIN} Boats return.\n\n{REFRAIN}\n"


def write_collection(folder, rows):
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "harbour.md").write_text(TEXT, encoding="utf-8")
    with (folder / "spans.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("query_id", "document", "question", "start", "end", "text"))
        writer.writerows(rows)


def load(folder):
    """The corpus of configs/chunking_eval.yaml, with documents, queries and labels from ``folder``."""
    config = load_config(CONFIG)
    files = {"documents": (f"{folder}/documents/*.md",), "queries": folder / "queries.csv"}
    files |= {"labels": folder / "labels.csv", "cache": folder / "cache"}
    return load_corpus(
        config.model_copy(update=files), Session.at(folder / "cache", Silent()).document_reader
    )


def test_repeated_text_is_where_the_offsets_say(tmp_path):
    # the refrain stands three times; a search would find the first for each
    spans = [(i, i + len(REFRAIN)) for i in range(len(TEXT)) if TEXT.startswith(REFRAIN, i)]
    assert len(spans) == 3
    rows = [
        (f"q{i}", "harbour", f"When, the time number {i}?", *span, REFRAIN) for i, span in enumerate(spans)
    ]
    write_collection(tmp_path / "source", rows)
    chunking_eval(tmp_path / "source", tmp_path / "corpus")
    judgments = load(tmp_path / "corpus").anchored.judgments
    assert [(j.query_id, (j.start, j.end)) for j in judgments] == [
        (f"q{i}", span) for i, span in enumerate(spans)
    ]


def test_offsets_of_bytes_are_refused(tmp_path):
    start = TEXT.index("Boats return")
    in_bytes = len(TEXT[:start].encode())
    assert in_bytes == start + 2  # Ü and ü
    row = ("q", "harbour", "What then?", in_bytes, in_bytes + len("Boats return"), "Boats return")
    write_collection(tmp_path / "source", [row])
    with pytest.raises(ValueError, match=r"spans\.csv, row 1: .*characters, not bytes"):
        chunking_eval(tmp_path / "source", tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_the_configuration_is_the_studys():
    config = load_config(CONFIG)
    assert [setting.name for setting in config.settings] == list(REFERENCE)
    assert {s.retrieve.distance for s in config.settings} == {"l2"}
    assert {s.retrieve.top_k for s in config.settings} == {5}
    assert {s.chunk.unit for s in config.settings} == {"cl100k_base"}
    assert {s.rerank for s in config.settings} == {()}
    recursive, token = config.settings[0].chunk, config.settings[3].chunk
    assert recursive.separators == ("\n\n", "\n", ".", "?", "!", " ", "")
    assert (recursive.keep_separator, recursive.strip) == ("start", True)
    assert (token.whole_words, token.strip) == (False, False)
    assert set(MEASURES) <= set(config.measures)


def span(start, end):
    return Judgment("q", "d", start, end, 4)


def at(*spans):
    return [("d", start, end) for start, end in spans]


# One span, characters 4 and 5. Recall, precision and IoU do not depend on the rule; precision_omega does.
@pytest.mark.parametrize(
    ("ranked", "chunks", "rule", "expected"),
    [
        # found {4}: 1 of 2 wanted, 1 of 5 read, 1 of 5 read and 1 missed; omega: 2 of the 4 of [4, 8)
        ([(0, 5)], [(0, 4), (4, 8)], HARNESS, (1 / 2, 1 / 5, 1 / 6, 2 / 4)),
        # text read twice is paid twice: 2 found of 5 + 4
        ([(0, 5), (4, 8)], [(0, 4), (4, 8)], HARNESS, (1, 2 / 9, 2 / 9, 2 / 4)),
        # [0, 4) ends where the span begins, [6, 9) begins where it ends
        ([(4, 8)], [(0, 4), (4, 6), (6, 9)], HARNESS, (1, 2 / 4, 2 / 4, 2 / 2)),
        ([(4, 8)], [(0, 4), (4, 6), (6, 9)], Rule(touching=True), (1, 2 / 4, 2 / 4, 2 / 9)),
        # [2, 6) and [4, 8) are 8 characters, 6 of them distinct
        ([(8, 9)], [(2, 6), (4, 8)], HARNESS, (0, 0, 0, 2 / 8)),
        ([(8, 9)], [(2, 6), (4, 8)], Rule(union=True), (0, 0, 0, 2 / 6)),
        # wanted text that no chunk holds: [2, 5) shows one of two
        ([(2, 5)], [(2, 5)], HARNESS, (1 / 2, 1 / 3, 1 / 4, 1 / 3)),
        ([(2, 5)], [(2, 5)], Rule(union=True), (1 / 2, 1 / 3, 1 / 4, 1 / 4)),
    ],
)
def test_counting(ranked, chunks, rule, expected):
    assert count([span(4, 6)], at(*ranked), at(*chunks), rule) == pytest.approx(expected, abs=1e-12)


def test_text_of_another_document_is_read_and_finds_nothing():
    ranked = [("other", 0, 10), ("d", 4, 6)]
    assert count([span(4, 6)], ranked, at((4, 6)), HARNESS) == pytest.approx((1, 2 / 12, 2 / 12, 1))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (HARNESS, (10, 15)),
        (Rule(first_copy=True), (0, 5)),
        (Rule(first_copy=True, final_period=True), (0, 3)),
        (Rule(strip=True), (10, 14)),
    ],
)
def test_where_a_chunk_is(rule, expected):
    document = Document("d", "One. Two. One. ", (), "")
    text = "One. " if not rule.final_period else "One."
    chunk = Chunk.of(document, 10, 10 + len(text))
    assert place(chunk, {"d": document}, rule) == ("d", *expected)


@pytest.fixture(scope="module")
def cl100k(shared_corpora):
    """The vocabulary of cl100k_base from a folder on disk, never from the network."""
    folder = Path(os.environ.get("TIKTOKEN_CACHE_DIR") or shared_corpora.parent / "tokenizers")
    if not (folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").exists():
        pytest.skip(f"no vocabulary of cl100k_base in {folder}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield


@pytest.mark.usefixtures("cl100k")
@pytest.mark.parametrize("setting", load_config(CONFIG).settings, ids=lambda setting: setting.name)
def test_every_chunk_is_the_one_that_the_peer_cuts(setting, shared_corpora):
    for path in sorted((shared_corpora / "chunking-eval" / "corpora").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        document = Document(path.stem, text, (), text_sha256(text))
        chunks = chunk_documents([document], setting.chunk)
        assert [chunk.text for chunk in chunks] == peer_texts(setting, text)


@pytest.fixture(scope="module")
def study(shared_corpora, cl100k, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    with contextlib.chdir(folder):
        chunking_eval(shared_corpora / "chunking-eval", Path("corpora/chunking_eval"))
        yield Study.run(CONFIG)


@pytest.mark.slow
def test_recall_is_within_a_point_of_the_studys_code(study):
    for setting in study.config.settings:
        values = means(study.harness_values(setting))
        assert values[0] == pytest.approx(REFERENCE[setting.name].values[0], abs=1.0), setting.name


@pytest.mark.slow
def test_under_the_studys_counting_every_figure_is_the_studys(study):
    # The reference has two decimals. Fifth and sixth chunk of a query are at least 1.3e-5 apart, ten times
    # what another order of summation moves, so no other processor is expected to exchange them.
    for setting in study.config.settings:
        check_counting(study, setting)
        values = means(study.count(setting, STUDY))
        assert values == pytest.approx(REFERENCE[setting.name].values, abs=0.02), setting.name


def test_the_page_says_how_often_spans_repeat(shared_corpora):
    """docs/reproduction.md, of the three documents that the shared data holds."""
    page = (Path(__file__).parent.parent / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for document, (characters, spans, several) in repeated(shared_corpora / "chunking-eval").items():
        assert f"| {document} | {characters:,} | {spans} | {several} |" in page
