"""A part of the documents, with a collection of others among the settings: its rows of that part alone."""

import pytest

from harness.running import load_config, open_course, run_bench, run_course
from harness.running.part import place_of
from harness.running.stored_state import collection_states
from harness.running.tuning.screen import screen
from harness.running.tuning.stage_plan import make_plan_of_stages
from harness.steps import Passages
from harness.values import HarnessError, RecordingReporter, Silent
from tests.command import table, write_files
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL, by_name, means, warned

# half of the documents without a label are in the part: these two, and not the next two
INSIDE = [name for name in (f"doc{n}" for n in range(100)) if place_of(7, name) < 0.5][:2]
OUTSIDE = [name for name in (f"doc{n}" for n in range(100)) if place_of(7, name) >= 0.5][:2]
TEXTS = {
    "light": "The keeper of the lighthouse was Anna Holm.",
    INSIDE[0]: "The keeper of the museum sells tickets.",
    INSIDE[1]: "The keeper of the ferry counts passengers.",
    OUTSIDE[0]: "The keeper of the keys, the keeper of the seal.",
    OUTSIDE[1]: "A keeper, a keeper, a keeper of the peace.",
}
FILES = {
    **{f"{name}.txt": text for name, text in TEXTS.items()},
    "queries.csv": "query_id,text\nq1,keeper lighthouse\n",
    "labels.csv": "query_id,document,quote,grade\nq1,light,keeper of the lighthouse was Anna Holm,4\n",
}
HALF = {"part": {"text": 0.5}}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Searches rows of a store by words, beside other retrievers; gives results and folder."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, FILES)

    def config_of(rows, *others, **more):
        stored = [{"vector": [1.0, 0.0], **row} for row in rows]
        section = {**Opensearch(tmp_path).fill(stored), "search": "words", "model": MODEL, "top_k": 3}
        return {
            **{"name": "parts", "documents": ["*.txt"], "queries": "queries.csv", "labels": "labels.csv"},
            **{"retrieve": [section, *others], "chunk": {"kind": "page"}, "cache": str(tmp_path / "cache")},
            **{"measures": ["recall@5", "ndcg_exp@5"], **HALF, **more},
        }

    def bench(rows, *others, **more):
        reporter = RecordingReporter(Silent(), lambda _: None)
        return run_bench(load_config(config_of(rows, *others, **more)), reporter)

    bench.config = config_of
    return bench


def rows_of(texts, document="{}.txt"):
    return [{"text": text, "document": document.format(name)} for name, text in texts.items()]


def documents_in(rankings):
    return [chunk.partition(":")[0] for ranking in rankings for chunk in ranking.chunk_ids]


def test_a_part_of_a_collection_is_the_part_that_the_other_settings_search(bench):
    results, folder = bench(rows_of(TEXTS), {"kind": "bm25", "top_k": 3})
    stored, ours = by_name(results).values()
    assert sorted(documents_in(stored)) == sorted(documents_in(ours)) == sorted(["light", *INSIDE])
    assert {row["document"] for row in table(folder / "documents.csv")} == {"light", *INSIDE}
    name = next(iter(by_name(results)))
    counts = results.record.counts["settings"][name]
    kinds = ("passages", "rows", "outside_part", "unplaced", "documents_gone", "documents_absent")
    assert [counts[f"stored_{kind}"] for kind in kinds] == [3, 5, 2, 0, 0, 0]
    assert means(results, name)["recall@5", "retrieve"] == 1
    assert "not among the files" not in warned(results)


@pytest.mark.parametrize("document", ["", "row of {}"])
def test_rows_that_name_no_file_are_of_the_document_with_their_text(bench, document):
    results, _ = bench(rows_of(TEXTS, document))
    ((name, (ranking,)),) = by_name(results).items()
    assert sorted(documents_in([ranking])) == sorted(["light", *INSIDE])
    counts = results.record.counts["settings"][name]
    assert (counts["stored_outside_part"], counts["stored_unplaced"]) == (2, 0)
    # what is read to tell whose passages are whose is none of the documents of the part
    assert results.record.counts["documents_parsed"] == 3


def test_a_document_outside_the_part_that_cannot_be_read_is_told(bench, tmp_path):
    (tmp_path / f"{OUTSIDE[0]}.txt").rename(tmp_path / f"{OUTSIDE[0]}.pdf")
    results, _ = bench(rows_of(TEXTS, ""), {"kind": "bm25", "top_k": 3}, documents=["*.txt", "*.pdf"])
    assert f"1 document outside the part cannot be read ({OUTSIDE[0]})" in warned(results)


def test_a_text_inside_and_outside_the_part_is_found_in_it(bench, tmp_path):
    write_files(tmp_path, {f"{OUTSIDE[0]}.txt": TEXTS["light"]})
    results, _ = bench([{"text": TEXTS["light"], "document": ""}])
    ((name, (ranking,)),) = by_name(results).items()
    assert documents_in([ranking]) == ["light"]
    assert results.record.counts["settings"][name]["stored_outside_part"] == 0


def test_a_rephrased_row_is_of_the_document_that_it_names_and_strange_text_keeps_its_rank(bench):
    strange = [
        {"text": "Somebody was a keeper of the lighthouse.", "document": f"docs/{OUTSIDE[0]}.txt"},
        {"text": "Another lighthouse, and its keeper.", "document": "letters.txt"},
        {"text": "A third lighthouse, and its keeper.", "document": ""},
    ]
    results, _ = bench([*strange, *rows_of(TEXTS)])
    ((name, (ranking,)),) = by_name(results).items()
    assert documents_in([ranking]).count("not-found") == 2
    counts = results.record.counts["settings"][name]
    assert (counts["stored_outside_part"], counts["stored_unplaced"]) == (3, 2)
    assert "documents in the collection that are not among the files: letters.txt" in warned(results)


def test_the_search_of_a_part_goes_as_deep_as_it_has_to(bench):
    many = [{"text": f"keeper lighthouse {n}", "document": OUTSIDE[0]} for n in range(60)]
    results, _ = bench([*many, *rows_of(TEXTS)])
    ((_, (ranking,)),) = by_name(results).items()
    assert sorted(documents_in([ranking])) == sorted(["light", *INSIDE])


def test_a_filter_leaves_documents_of_the_part(bench, tmp_path):
    places = "".join(f"{name},{name}\n" for name in TEXTS)
    write_files(tmp_path, {"table.csv": f"document,place\n{places}"})
    query = f"query_id,text\nq1,keeper lighthouse of light and {INSIDE[0]}\n"
    write_files(tmp_path, {"queries.csv": query})
    results, folder = bench(
        rows_of(TEXTS), filter={"kind": "rules", "file": "table.csv", "fields": ["place"]}
    )
    assert sorted(documents_in(next(iter(by_name(results).values())))) == sorted(["light", INSIDE[0]])
    assert [(row["documents"], row["of"]) for row in table(folder / "filters.csv")] == [("2", "3")]


def test_a_collection_of_which_nothing_is_in_the_part_is_an_error_and_no_zero(bench):
    with pytest.raises(HarnessError, match=r"none of 2 passages is in the documents of the part"):
        bench(rows_of({name: TEXTS[name] for name in OUTSIDE}))


@pytest.mark.parametrize("label", ["a/key,,4", ",The keeper   of keys.,4"])
def test_labelled_passages_are_in_every_part_by_key_and_by_text(bench, tmp_path, label):
    write_files(tmp_path, {"labels.csv": f"query_id,document,quote,grade\nq1,{label}\n"})
    rows = [{"text": "The keeper of keys.", "document": "", "key": "a/key"}]
    rows += [{"text": f"keeper {n}", "document": "", "key": f"row {n}"} for n in range(20)]
    results, folder = bench(rows, documents="passages://contracts", part={"text": 0.0})
    assert [row["document"] for row in table(folder / "documents.csv")] == ["a%2Fkey"]
    ((name, (ranking,)),) = by_name(results).items()
    assert documents_in([ranking]) == ["a%2Fkey"]
    assert results.record.counts["settings"][name]["stored_outside_part"] == 20


def test_passages_outside_the_part_make_the_part_a_part_of_more():
    passages = Passages(("a:0-1",), ("x",), (1,), "key", sources=("a",)).beside([("b", "yy"), ("b", "z")])
    assert passages.ids == ("a:0-1",)
    assert passages.whole.texts == ("x", "yy", "z")
    assert passages.whole.documents == ("a", "b", "b")
    assert len({*passages.whole.ids}) == 3
    # a filter leaves a part of the part, of the same whole
    assert passages.part([0], lambda key: f"part of {key}").whole is passages.whole


def test_tune_sees_a_collection_in_its_stages(bench):
    stated = bench.config(rows_of(TEXTS), {"kind": "bm25", "top_k": 3}) | {"tune": {"budget": "100 %"}}
    config = load_config(stated)
    # a plan counts on the labelled documents alone
    ladder, _ = make_plan_of_stages(config, Silent())
    assert [stage.enter for stage in ladder.stages] == [2]
    stage = screen(config, "recall@5", Silent())
    assert stage.documents == 3
    assert stage.seen.matrix.values.tolist() == [[1.0], [1.0]]


class Notes(Silent):
    """Keeps what is said."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def note(self, text):
        self.texts.append(text)


OWN = Opensearch.own


def test_tune_begins_again_where_a_collection_has_changed(bench, monkeypatch):
    stores = []
    monkeypatch.setattr(Opensearch, "own", lambda self: stores.append(self) or OWN(self))
    stated = bench.config(rows_of(TEXTS), {"kind": "bm25", "top_k": 3}, part={})
    config = load_config(stated | {"tune": {"budget": "100 %"}, "results": "results"})
    course, new = open_course(config, Silent())
    assert new
    run_course(config, course, Silent())
    notes = Notes()
    course, new = open_course(config, notes)
    assert (new, notes.texts) == (False, [])
    (index,) = stores[0].server.indices.values()
    rows = index["rows"]
    row = rows["id-1"]
    changes = {"words": "The keeper sleeps.", "file": {"name": "other.txt"}, "embedding": [0.5, 0.5]}
    states = [course.collections]
    for changed in [*({"id-1": {**row, key: value}} for key, value in changes.items()), {"new": row}]:
        index["rows"] = rows | changed
        states.append(collection_states(config))
    assert len({str(state) for state in states}) == 5
    # a collection with one row more by now
    notes = Notes()
    begun, new = open_course(config, notes)
    assert new
    assert begun.collections == states[-1]
    (said,) = [text for text in notes.texts if "has changed since" in text]
    assert "(5 rows then, 6 rows now)" in said
    with pytest.raises(HarnessError, match="has changed during tune"):
        run_course(config, course, Silent())
    index["rows"] = dict(reversed(rows.items()))
    assert not open_course(config, Silent())[1], "rows in another order are the same rows"
