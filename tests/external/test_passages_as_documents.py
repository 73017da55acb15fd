"""A collection whose documents are not at hand: its passages are the documents, labelled by their ids."""

import pytest

from harness.data import LabelRow, with_passages_named
from harness.running import load_config, run_bench
from harness.running.bench.job import origin_of
from harness.steps import passage_id
from harness.values import ConfigError, Document, HarnessError, LabelError, RecordingReporter, Silent
from tests.command import table, write_files
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL, by_name, means

ROWS = [
    "The keeper was Anna Holm.",
    "The keeper was Anna Holm. She lit the lamp.",
    "Ships pay ten crowns.\r\n\r\nBoats pay nothing.",
    "  ",
]
FILES = {
    "queries.csv": "query_id,text\nq1,keeper lamp\nq2,crowns\n",
    "labels.csv": "query_id,document,quote,grade\nq1,id-1,She lit the lamp.,4\nq2,id-2,,4\n",
}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, FILES)
    rows = [{"text": text, "document": "lost.pdf", "vector": [1.0, 0.0]} for text in ROWS]
    store = Opensearch(tmp_path)
    section = {**store.fill(rows), "search": "words", "model": MODEL}

    def config_with(**more):
        return {
            **{"name": "passages", "documents": "passages://contracts", "queries": "queries.csv"},
            **{"labels": "labels.csv", "retrieve": section, "measures": ["recall@5", "ndcg_exp@5"]},
            **{"cache": str(tmp_path / "cache"), **more},
        }

    def bench(**more):
        config = config_with(**more)
        before = store.state()
        results, folder = run_bench(load_config(config), RecordingReporter(Silent(), lambda _: None))
        assert store.state() == before
        return results, folder

    bench.section, bench.config, bench.store = section, config_with, store
    return bench


def test_labels_by_id_grade_the_passages_of_a_collection(bench):
    results, folder = bench()
    ((name, _),) = results.runs
    counts = results.record.counts["settings"][name]
    assert [counts[f"stored_{key}"] for key in ("passages", "unplaced", "blank", "documents_gone")] == [
        3,
        0,
        1,
        0,
    ]
    (rankings,) = by_name(results).values()
    # the first passage is part of the second one, and stays a document of its own
    assert [{chunk.partition(":")[0] for chunk in ranking.chunk_ids} for ranking in rankings] == [
        {"id-0", "id-1"},
        {"id-2"},
    ]
    assert means(results, name)["recall@5", "retrieve"] == 1
    assert {row["document"] for row in table(folder / "documents.csv")} == {"id-0", "id-1", "id-2"}
    # of the first label the sentence that it quotes, of the second one all of the passage
    anchors = table(folder / "anchoring.csv")
    assert [(row["method"], row["start"], row["end"]) for row in anchors] == [
        ("exact", "26", "43"),
        ("whole", "0", str(len(ROWS[2]))),
    ]
    # the same ids in every run
    again, _ = bench()
    assert [r.chunk_ids for r in by_name(again)[name]] == [r.chunk_ids for r in rankings]


def test_the_same_passages_are_searched_by_others_too(bench):
    results, _ = bench(retrieve=[bench.section, {"kind": "bm25"}], chunk={"kind": "page"})
    stored, ours = by_name(results).values()
    assert [{*r.chunk_ids} for r in ours] == [{*r.chunk_ids} for r in stored]


def test_labels_by_text_grade_the_passage_that_has_it(bench, tmp_path):
    # white space aside; without a column document there is no key at all
    write_files(
        tmp_path,
        {"labels.csv": 'query_id,quote,grade\nq1,The keeper was  Anna Holm.,4\nq2,"' + ROWS[2] + '",3\n'},
    )
    _, folder = bench()
    anchors = table(folder / "anchoring.csv")
    assert [(row["doc_id"], row["start"], row["end"]) for row in anchors] == [
        ("id-0", "0", "25"),
        ("id-2", "0", "43"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            ",She lit the lamp.,4",
            r"line 2: no passage has the text 'She lit the lamp\.'.*or its key",
        ),
        (",,4", "line 2: names no passage. Fill document with its key, or quote with its text"),
        ("id-9,,4", "line 2: there is no passage 'id-9'"),
    ],
)
def test_a_label_of_no_passage_is_refused(bench, tmp_path, row, message):
    write_files(tmp_path, {"labels.csv": f"query_id,document,quote,grade\nq1,{row}\n"})
    with pytest.raises(LabelError, match=message):
        bench()


def test_documents_besides_or_without_the_collection_are_refused(bench, tmp_path):
    write_files(tmp_path, {"a.txt": "text"})
    with pytest.raises(ConfigError, match="nothing else can be one"):
        bench(documents=["passages://contracts", "a.txt"])
    with pytest.raises(ConfigError, match="is no collection that a setting searches"):
        bench(documents="passages://other")
    with pytest.raises(ConfigError, match="is no collection that a setting searches"):
        bench(retrieve={"kind": "bm25"})
    with pytest.raises(HarnessError, match=r"no row has a text under no\.key"):
        bench(retrieve={**bench.section, "text": "no.key"})


@pytest.mark.parametrize(
    "passage", ["The\0 keeper\0", "\ufeffThe keeper", "The \ufeffkeeper", "The \ud800keeper"]
)
def test_what_no_file_of_text_may_hold_is_left_out_of_a_passage(bench, tmp_path, passage):
    rows = [passage, "She lit the lamp.", "Ships pay ten crowns."]
    store = Opensearch(tmp_path)
    section = store.fill([{"text": text, "document": "", "vector": [1.0, 0.0]} for text in rows])
    results, _ = bench(retrieve={**bench.section, **section})
    ((name, rankings),) = by_name(results).items()
    assert results.record.counts["settings"][name]["stored_unplaced"] == 0
    assert "id-0" in {chunk.partition(":")[0] for chunk in rankings[0].chunk_ids}


def test_passages_with_windows_line_ends_are_not_written_again(bench, tmp_path):
    bench()
    (path,) = (tmp_path / "cache").rglob("id-2.txt")
    assert path.read_bytes() == ROWS[2].encode()
    before = path.stat().st_ino
    bench()
    # what is written atomically is another file
    assert path.stat().st_ino == before


def test_a_scheme_in_capitals_gets_a_suggestion(bench):
    with pytest.raises(ConfigError, match="small letters: passages://contracts"):
        bench(documents="PASSAGES://contracts")


@pytest.mark.parametrize("columns", ["query_id,passage,grade", "query_id,document,passage,grade"])
def test_a_column_that_means_the_quote_is_no_other_column(bench, tmp_path, columns):
    cells = "q1,id-1,She lit the lamp.,4" if "document" in columns else "q1,She lit the lamp.,4"
    write_files(tmp_path, {"labels.csv": f"{columns}\n{cells}\n"})
    with pytest.raises(LabelError, match=r"the column 'passage' is not read\. Rename it to 'quote'"):
        bench()


def test_an_empty_collection_is_named_as_empty(bench):
    bench.store.clear()
    with pytest.raises(HarnessError, match=r"OpenSearch at http.*, contracts: .* holds no row.*Fill it"):
        bench()


def test_keys_of_rows_are_names_of_files():
    assert passage_id("2f0c-77") == "2f0c-77"
    assert passage_id("docs/a.pdf#3") == "docs%2Fa.pdf%233"
    # neither a hidden file nor another folder
    assert passage_id("..") == "%2E."
    assert len({passage_id("x" * 200), passage_id("x" * 201)}) == 2


def test_a_key_is_written_in_a_label_as_it_is_in_the_store():
    passages = {name: Document(name, "text", (), "") for name in ("a%3Ab", "a_b", "k2")}
    rows = [LabelRow(query_id="q", document=key, grade=4) for key in ("a:b", "a%3Ab", "a_b")]
    named = with_passages_named(rows, passages, passage_id)
    assert [row.document for row in named] == ["a%3Ab", "a%3Ab", "a_b"]
    # a passage is no file, so an ending is part of its key
    with pytest.raises(LabelError, match=r"there is no passage 'k2\.pdf'"):
        with_passages_named([LabelRow(query_id="q", document="k2.pdf", grade=4)], passages, passage_id)


def test_settings_that_are_left_know_the_documents_of_the_collection_that_is_not(bench):
    # a stage of tune may drop all settings that search the collection
    config = load_config(bench.config(retrieve=[bench.section, {"kind": "bm25"}], chunk={"kind": "page"}))
    left = [setting for setting in config.settings if not getattr(setting.retrieve, "existing", False)]
    results, _ = run_bench(config.model_copy(update={"settings": tuple(left)}), Silent())
    ((name, _),) = results.runs
    assert means(results, name)["recall@5", "retrieve"] == 1


def test_what_may_change_at_any_time_never_counts_as_unchanged(bench):
    assert origin_of(load_config(bench.config())) is None


def test_a_part_holds_the_labelled_passages_for_all_settings(bench):
    results, folder = bench(
        part={"text": 0.0}, retrieve=[bench.section, {"kind": "bm25"}], chunk={"kind": "page"}
    )
    assert {row["document"] for row in table(folder / "documents.csv")} == {"id-1", "id-2"}
    stored, ours = by_name(results).values()
    assert [{*r.chunk_ids} for r in stored] == [{*r.chunk_ids} for r in ours]
