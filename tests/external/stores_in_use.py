"""Run by test_stores.py in an environment with the stores' packages: every kind against the real thing."""

import inspect
import math
import os
import socket
import threading
import time
from dataclasses import astuple

import numpy as np
import pytest

import harness
from harness.models import SparseConfig
from harness.report import PriceRow
from harness.running import Session, load_config, run_bench
from harness.running.stored_passages import rows_passing
from harness.steps import RETRIEVERS, ExactConfig, FastEmbedBm25, SparseVector, Texts
from harness.values import HarnessError, RecordingReporter, Silent, ask
from tests.command import table, write_files
from tests.corpus.conftest import pdf_bytes
from tests.external.filled import STORES, Meanwhile
from tests.models import tiny
from tests.search.helpers import Tools

MODEL = "embedded:all-MiniLM-L6-v2"
FILES = {
    "harbour.txt": "The harbour was built in 1890 by a company of fishermen. It closes at nine.\n\n"
    "Ships pay ten crowns a day. Boats below six metres pay nothing.\n\nThe pilot comes at high water.",
    "museum.txt": "The museum opens at ten. Tickets cost five crowns.\n\n"
    "It was founded by a captain, who left his maps to it.\n\nChildren pay nothing on Sundays.",
    "queries.csv": "query_id,text\nq1,When was the harbour built?\nq2,What does a ticket cost?\n"
    "q3,Who founded the museum?\nq4,What do ships pay?\n",
    "labels.csv": "query_id,document,quote,grade\nq1,harbour,The harbour was built in 1890,4\n"
    "q2,museum,Tickets cost five crowns.,4\nq3,museum,founded by a captain,4\n"
    "q4,harbour,Ships pay ten crowns,4\n",
}
QUESTIONS = [row.partition(",")[2] for row in FILES["queries.csv"].splitlines()[1:]]
CHUNK = {"kind": "recursive", "chunk_size": 80}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


# that of the environment, else all that are installed
CHOSEN = [name for name in STORES if name == os.environ.get("HARNESS_STORE", name)]


@pytest.fixture(params=CHOSEN)
def store(request, tmp_path):
    return STORES[request.param](tmp_path)


@pytest.fixture
def bench(tmp_path, cache, monkeypatch):
    """Runs settings over two documents; returns the results, the folder and what was said."""
    write_files(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)

    def bench(*retrievers, reporter=None, **more):
        config = {
            **{"name": "one", "documents": ["*.txt"], "queries": "queries.csv", "labels": "labels.csv"},
            **{"chunk": CHUNK, "retrieve": list(retrievers), "cache": str(cache)},
            **{"measures": ["ndcg_exp@5", "ndcg_evidence@500", "recall@5"], **more},
        }
        said = []
        reporter = RecordingReporter(reporter or Silent(), said.append)
        results, folder = run_bench(load_config(config), reporter)
        return results, folder, said

    return bench


@pytest.fixture
def tools(tmp_path, cache):
    with Session.at(cache, Silent()) as session:
        yield Tools(session)


def means(results, setting):
    rows = [row for row in results.summary if row.setting == setting and row.split == "all"]
    return {(row.measure, row.stage): row.mean for row in rows}


def warned(results):
    return "\n".join(warning.text for warning in results.record.warnings)


def by_name(results):
    return {setting: rankings for (setting, _), rankings in results.runs.items()}


@pytest.fixture
def rows(bench, tools):
    """The chunks of our chunker as rows of a store, with vectors of the model."""
    results, _, _ = bench({"kind": "exact", "model": MODEL, "top_k": 5})
    (rankings,) = by_name(results).values()
    chunks = sorted({chunk for ranking in rankings for chunk in ranking.chunk_ids})
    found = []
    for chunk in chunks:
        document, _, span = chunk.rpartition(":")
        begin, end = map(int, span.split("-"))
        found.append({"text": FILES[f"{document}.txt"][begin:end], "document": f"docs/{document}.txt"})
    with_vectors(tools, found)
    return found


def with_vectors(tools, rows):
    encoder = ExactConfig(model=MODEL).embed
    vectors = tools.run(ask(Texts(encoder, [row["text"] for row in rows], "queries")))
    for row, vector in zip(rows, vectors, strict=True):
        row["vector"] = vector


def test_a_store_filled_here_ranks_as_our_scan(bench, store):
    own = {**store.own(), "model": MODEL, "top_k": 5}
    scanned = not RETRIEVERS[own["kind"]].config.model_fields["exact"].default
    results, _, _ = bench({"kind": "exact", "model": MODEL, "top_k": 5}, own, {**own, "exact": scanned})
    rankings = list(by_name(results).values())
    assert len(rankings) == 3
    for mine in rankings[1:]:
        assert [r.chunk_ids for r in mine] == [r.chunk_ids for r in rankings[0]]
        for ours, theirs in zip(rankings[0], mine, strict=True):
            assert theirs.scores == pytest.approx(ours.scores, abs=2e-4)


@pytest.mark.parametrize("distance", ["l2", "ip"])
def test_distances_are_those_of_our_scan(bench, store, distance):
    options = {"model": MODEL, "top_k": 4, "distance": distance}
    results, _, _ = bench({"kind": "exact", **options}, {**store.own(), **options})
    ours, theirs = by_name(results).values()
    assert [r.chunk_ids for r in ours] == [r.chunk_ids for r in theirs]
    assert theirs[0].scores == pytest.approx(ours[0].scores, abs=2e-4)


def test_a_store_filled_here_is_searched_by_words_and_by_both(bench, store):
    own = {**store.own(), "model": MODEL, "top_k": 5}
    if "words" not in RETRIEVERS[own["kind"]].config.searches:
        fails(bench, ["is searched by vectors here"], {**own, "search": "words"})
        return
    results, _, _ = bench({**own, "search": ["words", "hybrid"]}, {"kind": "bm25", "top_k": 5})
    found = by_name(results)
    assert len(found) == 3
    for rankings in found.values():
        assert all(ranking.chunk_ids for ranking in rankings)
        # each question shares words with its answer
        assert all("harbour" in rankings[at].chunk_ids[0] for at in (0, 3))


def test_an_existing_collection_scores_as_the_same_chunks_searched_here(bench, store, rows):
    section = {**store.fill(rows), "model": MODEL, "top_k": 5}
    before = store.state()
    results, _, _ = bench({"kind": "exact", "model": MODEL, "top_k": 5}, section)
    assert store.state() == before
    exact, stored = {name for name, _ in results.runs} - {""}
    if "exact" not in exact:
        exact, stored = stored, exact
    assert means(results, stored) == pytest.approx(means(results, exact))
    assert all(value > 0 for value in means(results, stored).values())
    assert "in no document" not in warned(results)
    health = results.record.counts["settings"][stored]
    assert health["stored_passages"] == len(rows)
    assert health["stored_unplaced"] == 0


def test_an_existing_collection_is_searched_by_words_and_by_both(bench, store, rows):
    section = store.fill(rows)
    if "words" not in RETRIEVERS[section["kind"]].config.existing_searches:
        fails(bench, ["is searched by vectors here"], {**section, "model": MODEL, "search": "words"})
        return
    before = store.state()
    results, _, _ = bench({**section, "model": MODEL, "top_k": 5, "search": ["words", "hybrid"]})
    for rankings in by_name(results).values():
        assert all("harbour" in rankings[at].chunk_ids[0] for at in (0, 3))
    assert store.state() == before


def only_qdrant(store):
    """Whether a store is the one that keeps sparse vectors beside dense ones."""
    return isinstance(store, STORES["qdrant"])


def test_words_of_others_are_searched_as_bm25_says(bench, store, rows):
    if not only_qdrant(store):
        return
    section = {**store.fill(rows, dense="meaning"), "vector": "meaning", "model": MODEL, "top_k": 5}
    before = store.state()
    results, _, _ = bench({**section, "search": "words"})
    assert store.state() == before
    (rankings,) = by_name(results).values()
    bm25 = FastEmbedBm25()
    vectors = [dict(zip(*astuple(bm25.passage(row["text"])), strict=True)) for row in rows]
    for ranking, text in zip(rankings, QUESTIONS, strict=True):
        terms = bm25.query(text).dimensions
        holders = {term: sum(term in vector for vector in vectors) for term in terms}
        rarity = {term: math.log1p((len(rows) - n + 0.5) / (n + 0.5)) for term, n in holders.items()}
        scores = [sum(vector.get(term, 0.0) * rarity[term] for term in terms) for vector in vectors]
        assert list(ranking.scores) == pytest.approx(sorted(filter(None, scores), reverse=True)[:5], abs=1e-4)


def test_a_hybrid_search_of_others_is_fused_as_its_key_says(bench, store, rows):
    if not only_qdrant(store):
        return
    place = {**store.fill(rows, dense="meaning"), "vector": "meaning", "model": MODEL, "top_k": len(rows)}
    results, _, _ = bench(
        {**place, "search": ["vectors", "words"]}, {**place, "search": "hybrid", "fusion": ["rrf", "dbsf"]}
    )
    vectors, words, ranks, scores = by_name(results).values()
    for near, worded, fused, scaled in zip(vectors, words, ranks, scores, strict=True):
        # Qdrant counts ranks from 0 and adds 2
        expected = {}
        for ranking in (near, worded):
            for rank, chunk in enumerate(ranking.chunk_ids):
                expected[chunk] = expected.get(chunk, 0.0) + 1 / (2 + rank)
        assert dict(zip(fused.chunk_ids, fused.scores, strict=True)) == pytest.approx(expected, abs=1e-5)
        expected = {}
        for ranking in (near, worded):
            values = np.array(ranking.scores)
            low = values.mean() - 3 * values.std(ddof=1) if len(values) > 1 else 0.0
            width = 6 * values.std(ddof=1) if len(values) > 1 else 1.0
            for chunk, value in zip(ranking.chunk_ids, values, strict=True):
                scale = (value - low) / width if len(values) > 1 else 0.5
                expected[chunk] = expected.get(chunk, 0.0) + scale
        assert dict(zip(scaled.chunk_ids, scaled.scores, strict=True)) == pytest.approx(expected, abs=1e-3)


def test_sparse_vectors_of_a_model_rank_as_the_model_does_here(bench, store, rows):
    if not only_qdrant(store):
        return
    splade = tiny.a_splade()
    weigh = SparseConfig(model=splade).make().encode

    def sparse(text):
        return SparseVector.read(weigh([text])[0].tobytes())

    section = store.fill(rows, sparse={"bm25": FastEmbedBm25().passage, "splade": sparse})
    section = {**section, "model": MODEL, "top_k": 5, "search": "words"}
    before = store.state()
    named = {**section, "sparse_vector": "splade", "sparse_model": splade}
    results, _, _ = bench(named, {"kind": "learned_sparse", "model": splade, "top_k": 5})
    theirs, ours = by_name(results).values()
    for mine, their in zip(ours, theirs, strict=True):
        assert list(their.scores) == pytest.approx(list(mine.scores), rel=1e-4, abs=1e-4)
    assert bench({**named, "search": "hybrid"})[0].runs
    assert store.state() == before
    # what is not said, or said of another vector, is an error
    fails(bench, ["bm25, splade", "Name one"], section)
    fails(bench, ["bm25, splade", "'words'"], {**section, "sparse_vector": "words"})
    fails(bench, ["splade", "another model"], {**named, "sparse_vector": "bm25"})
    fails(bench, ["sparse_model", "language"], {**section, "sparse_vector": "splade"})
    assert bench({**section, "sparse_vector": "splade", "same_model": False})[0].runs
    without = {**store.fill(rows, name="dense", sparse={}), "model": MODEL, "search": "words"}
    fails(bench, ["has no sparse vectors"], without)


def test_a_hybrid_search_keeps_to_rows_with_a_value(bench, store, rows):
    place = store.fill(rows)
    if "hybrid" not in RETRIEVERS[place["kind"]].config.existing_searches:
        return
    of_museum = next(row["document"] for row in rows if "museum" in row["document"])
    only = {place["document"]: of_museum}
    results, _, _ = bench({**place, "model": MODEL, "only": only, "top_k": 9, "search": ["words", "hybrid"]})
    for rankings in by_name(results).values():
        assert any(ranking.chunk_ids for ranking in rankings)
        assert all("museum" in chunk for ranking in rankings for chunk in ranking.chunk_ids)


def test_what_cannot_be_placed_keeps_its_rank_and_is_counted(bench, store, rows, tools):
    strange = [
        {
            "text": "When was the harbour built? Nobody in this town knows any more.",
            "document": "docs/letters.txt",
        },
        {"text": rows[0]["text"], "document": rows[0]["document"]},
    ]
    with_vectors(tools, strange)
    kept = [row for row in rows if "captain" not in row["text"]]
    results, folder, _ = bench({**store.fill([*strange, *kept]), "model": MODEL, "top_k": 10})
    ((name, _),) = results.runs
    text, health = warned(results), results.record.counts["settings"][name]
    assert health["stored_unplaced"] == 1
    assert health["stored_copies"] == 1
    assert health["stored_evidence_missing"] == 1
    assert "docs/letters.txt" in text
    assert "in no document" in text
    first = results.runs[name, "retrieve"][0]
    # the letter is most like the question, so the answer comes after it
    assert first.chunk_ids[0].startswith("not-found:")
    per_query = {
        row["query_id"]: float(row["value"])
        for row in table(folder / "per_query.csv")
        if row["measure"] == "recall@5"
    }
    assert per_query["q3"] == 0
    assert per_query["q2"] == 1


@pytest.mark.parametrize("more", [{}, {"boost": 0.5}])
def test_a_filter_works_as_on_the_same_chunks_searched_here(bench, store, rows, tmp_path, more):
    write_files(tmp_path, {"table.csv": "document,place\nharbour,harbour\nmuseum,museum\n"})
    section = {**store.fill(rows), "model": MODEL, "top_k": 2}
    before = store.state()
    results, folder, _ = bench(
        *({"kind": "exact", "model": MODEL, "top_k": 2}, section),
        filter={"kind": "rules", "file": "table.csv", "fields": ["place"], **more},
    )
    assert store.state() == before
    ours, theirs = by_name(results).values()
    assert [r.chunk_ids for r in theirs] == [r.chunk_ids for r in ours]
    assert [r.scores for r in theirs] == [pytest.approx(r.scores, abs=2e-4) for r in ours]
    # the first and the third question name a document
    filtered = [(row["documents"], row["of"]) for row in table(folder / "filters.csv")]
    assert filtered == [("1", "2"), ("2", "2"), ("1", "2"), ("2", "2")] * 2


def test_a_part_works_as_on_the_same_chunks_searched_here(bench, store, rows, tools, tmp_path):
    # no label names the ferry, so that a part without more text leaves it out
    ferry = {f"ferry{n}": f"When is the harbour of ferry {n} built?" for n in range(5)}
    write_files(tmp_path, {f"{name}.txt": text for name, text in ferry.items()})
    outside = [{"text": text, "document": f"docs/{name}.txt"} for name, text in ferry.items()]
    with_vectors(tools, outside)
    section = {**store.fill([*outside, *rows]), "model": MODEL, "top_k": 3}
    before = store.state()
    results, _, _ = bench({"kind": "exact", "model": MODEL, "top_k": 3}, section, part={"text": 0})
    assert store.state() == before
    ours, theirs = by_name(results).values()
    assert [r.chunk_ids for r in theirs] == [r.chunk_ids for r in ours]
    assert all(len(r.chunk_ids) == 3 for r in theirs)
    stored = next(name for name in by_name(results) if "exact" not in name)
    assert results.record.counts["settings"][stored]["stored_outside_part"] == 5


def test_a_row_without_text_holds_its_rank(bench, store, rows, tools):
    blank = [{"text": "When was the harbour built?", "document": "docs/letters.txt"}]
    with_vectors(tools, blank)
    blank[0]["text"] = "  "
    results, _, _ = bench({**store.fill([*rows, *blank]), "model": MODEL, "top_k": 3, "same_model": False})
    ((name, _),) = results.runs
    assert results.record.counts["settings"][name]["stored_blank"] == 1
    # its vector is that of the first question
    assert results.runs[name, "retrieve"][0].chunk_ids[0].startswith("not-found:")
    assert len(results.runs[name, "retrieve"][0].chunk_ids) == 3


def test_passages_in_other_words_are_placed_on_their_page(bench, store, tools, tmp_path):
    pages = ("The lighthouse was lit in 1822.", "Its keeper was Anna Holm for forty years.")
    more = {
        "light.pdf": pdf_bytes(*pages),
        "queries.csv": "query_id,text\nq1,Who looked after the lighthouse?\n",
        "labels.csv": "query_id,document,quote,grade\nq1,light,keeper was Anna Holm,4\n",
    }
    write_files(tmp_path, more)
    stored = [
        {"text": "In short: somebody called Holm looked after it, and long.", "page": 1},
        {"text": pages[0], "page": 0},
        {"text": "Of a page that is not there, in words of its own.", "page": 7},
    ]
    stored = [{**row, "document": "docs/light.pdf"} for row in stored]
    with_vectors(tools, stored)
    section = {**store.fill(stored), "model": MODEL, "top_k": 3, "first_page": 0}
    before = store.state()
    results, _, _ = bench(section, documents=["*.pdf"])
    assert store.state() == before
    ((name, _),) = results.runs
    health = results.record.counts["settings"][name]
    counts = {key: health[f"stored_{key}"] for key in ("passages", "by_page", "other_page", "unplaced")}
    assert counts == {"passages": 3, "by_page": 1, "other_page": 0, "unplaced": 1}
    assert "1 of 3 passages are placed by page only" in warned(results)
    # the label is on the page of the passage that puts it in other words
    assert means(results, name)["recall@5", "retrieve"] == 1


def test_what_the_store_says_of_its_index_is_told(bench, store, rows):
    if not hasattr(store, "without_vector"):
        # every row of it has a vector
        return
    section = store.fill(rows)
    store.without_vector("The ferry to the lighthouse leaves at noon.")
    results, _, _ = bench({**section, "model": MODEL})
    assert f"1 of {len(rows) + 1} rows have no vector and are never found" in warned(results)
    ((name, _),) = results.runs
    health = results.record.counts["settings"][name]
    assert health["stored_rows"] == len(rows) + 1
    assert health["stored_bytes"] > 0


def test_a_row_that_is_deleted_before_the_search_is_told(bench, store, rows):
    section = {**store.fill(rows), "model": MODEL, "top_k": 5}
    gone = next(row["text"] for row in rows if "five crowns" in row["text"])
    results, _, said = bench(section, reporter=Meanwhile(lambda: store.delete(gone)))
    (told,) = [each for each in results.record.warnings if (each.code or "").startswith("hits.rows")]
    assert (told.values["deleted"], told.values["added"]) == (1, 0)
    assert told.text in said
    ((name, _),) = results.runs
    assert results.record.counts["settings"][name]["stored_rows"] == len(rows)
    assert 0 < means(results, name)["recall@5", "retrieve"] < 1


def test_files_of_which_nothing_is_stored_are_told(bench, store, rows):
    kept = [row for row in rows if "museum" not in row["document"]]
    results, _, _ = bench({**store.fill(kept), "model": MODEL})
    assert "files without a passage in the collection: museum" in warned(results)


def test_names_that_are_no_files_do_not_hide_the_text(bench, store, rows):
    named = [{**row, "document": f"id-{place}"} for place, row in enumerate(rows)]
    results, _, _ = bench({**store.fill(named), "model": MODEL})
    ((name, _),) = results.runs
    assert results.record.counts["settings"][name]["stored_unplaced"] == 0
    assert "retrieve.document" in warned(results)


def test_one_verdict_over_the_collection_and_what_would_be_built(bench, store, rows):
    section = {**store.fill(rows[::2]), "model": MODEL, "top_k": 5}
    results, folder, _ = bench(
        section, {"kind": "exact", "model": MODEL, "top_k": 5}, chunk=[CHUNK, {"kind": "page"}]
    )
    # one setting for the collection, however many chunkers there are
    assert len(results.runs) == 3
    assert str(harness.read_results(folder).verdict)
    assert {row["setting"] for row in table(folder / "summary.csv")} == {name for name, _ in results.runs}


def fails(bench, words, *settings):
    with pytest.raises(HarnessError) as failed:
        bench(*settings)
    for word in words:
        assert word in str(failed.value)
    assert "Traceback" not in str(failed.value)


def test_faults_of_an_existing_collection_are_errors_and_never_zeros(bench, store, rows):
    section = {**store.fill(rows), "model": MODEL}
    fails(bench, ["elsewhere"], {**section, "collection": "elsewhere"})
    fails(bench, ["none of", "retrieve.text"], {**section, "text": "no.such.key"})
    fails(bench, ["cosine", "distance: cosine"], {**section, "distance": "l2"})


def test_vectors_of_another_dimension_or_model_are_told(bench, store, rows):
    random = np.random.default_rng(1)
    short = [{**row, "vector": random.normal(size=20)} for row in rows]
    fails(bench, ["20 dimensions", "384"], {**store.fill(short, name="short"), "model": MODEL})
    other = [{**row, "vector": random.normal(size=384)} for row in rows]
    section = {**store.fill(other, name="other"), "model": MODEL}
    fails(bench, ["another model", "cosine"], section)
    # on demand it is searched nevertheless
    results, _, _ = bench({**section, "same_model": False})
    assert results.runs


@pytest.fixture
def silent():
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        open_connections = []

        def accept():
            while True:
                try:
                    open_connections.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_store_that_is_down_or_does_not_answer_is_an_error_in_time(bench, store, silent):
    if store.server_error is None:
        # a folder that is not there is what is down of a store without a server
        section = {**store.own(), "path": "x", "existing": True, "collection": "c", "model": MODEL}
        fails(bench, ["there is no folder"], section)
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    fails(
        bench,
        [store.server_error, "cannot be used"],
        {**store.at(f"http://127.0.0.1:{port}"), "model": MODEL},
    )
    begun = time.monotonic()
    fails(
        bench,
        [store.server_error, "cannot be used", "retrieve.timeout"],
        {**store.at(silent), "model": MODEL, "timeout": 2},
    )
    assert time.monotonic() - begun < 60


def test_no_writing_method_can_be_reached(store, rows):
    section = store.fill(rows)
    config = RETRIEVERS[section["kind"]].config(**section, model=MODEL)
    before = store.state()
    with config.reading("contracts") as collection:
        assert len(list(collection.rows())) == len(rows)
        handle = getattr(collection, "client", None)
        if handle is not None:
            methods = [
                name for name, _ in inspect.getmembers(store.methods(), callable) if not name.startswith("_")
            ]
            reads = [name for name in methods if hasattr(handle, name)]
            assert not any(
                word in name
                for name in reads
                for word in (
                    "upsert",
                    "delete",
                    "create",
                    "update",
                    "set_",
                    "upload",
                    "clear",
                    "modify",
                    "add",
                    "drop",
                )
            )
            refused = [name for name in methods if name not in reads]
            assert len(refused) > len(reads)
            for name in refused:
                with pytest.raises(AttributeError, match="read only"):
                    getattr(handle, name)("contracts")
        elif hasattr(collection, "requests"):
            for method, path in store.writes:
                with pytest.raises(PermissionError, match="read only"):
                    collection.requests.read(method, path, {})
        else:
            for statement in (
                "INSERT INTO contracts (words) VALUES ('x')",
                "UPDATE contracts SET words = 'x'",
                "DELETE FROM contracts",
                "TRUNCATE contracts",
                "DROP TABLE contracts",
                "CREATE TABLE more (x int)",
                "SELECT 1; DELETE FROM contracts",
                "SELECT words INTO more FROM contracts",
                "SELECT nextval('contracts_id_seq')",
                "SELECT lo_create(0)",
            ):
                with pytest.raises(Exception, match=r"read.only"):
                    collection.connection.select(statement)
    assert store.state() == before


def test_a_search_among_rows_with_a_value_is_that_of_a_scan_of_them(bench, store, rows):
    place = {**store.fill(rows), "model": MODEL, "top_k": 5}
    names = sorted({row["document"] for row in rows})
    of_museum = next(name for name in names if "museum" in name)
    museum = sum(row["document"] == of_museum for row in rows)
    field = place.get("document")
    before = store.state()
    results, _, _ = bench({**place, "only": [None, {field: of_museum}, {field: names}]})
    settings = [*by_name(results)]
    alone, whole, both = (results.record.counts["settings"][name] for name in settings)
    assert "stored_passing" not in alone
    assert (whole["stored_passing"], both["stored_passing"]) == (museum, len(rows))
    prices = {row.setting: row for row in results.of(PriceRow) if row.stage == "retrieve"}
    shares = [prices[name].rows_share for name in settings]
    assert shares == [None, museum / len(rows), 1.0]
    # the index is compared with a scan of the rows that pass
    assert {prices[name].exact_share for name in settings} == {1.0}
    rankings = [by_name(results)[name] for name in settings]
    for plain, among, same in zip(*rankings, strict=True):
        assert all("museum" in i for i in among.chunk_ids)
        assert len(among.chunk_ids) == min(5, museum)
        assert same.chunk_ids == plain.chunk_ids
        expected = [i for i in plain.chunk_ids if "museum" in i]
        assert [*among.chunk_ids][: len(expected)] == expected
    assert store.state() == before


HOSTILE = [
    "nothing of this name",
    "file' OR '1'='1",
    'file" OR 1=1 OR "file',
    "`file` = `file` OR `file",
    "words); DROP TABLE contracts",
    "100% %s",
    "$or",
]


def test_a_filter_by_a_hostile_name_or_value_finds_nothing_and_changes_nothing(store, rows):
    place = store.fill(rows)
    before = store.state()
    for text in HOSTILE:
        for only in ({text: "x"}, {place["document"]: text}, {place["document"]: f"x' OR {text} --"}):
            retrieve = RETRIEVERS[place["kind"]].config.model_validate({**place, "only": only})
            with pytest.raises(HarnessError, match=r"retrieve\.only|cannot be used"):
                rows_passing(retrieve)
    assert store.state() == before


def test_a_filter_of_some_values_counts_the_rows_of_any(store, rows):
    place = store.fill(rows)
    names = sorted({row["document"] for row in rows})
    for values in ([names[0]], names, [names[0], "it's no document"]):
        only = {place["document"]: values}
        retrieve = RETRIEVERS[place["kind"]].config.model_validate({**place, "only": only})
        assert rows_passing(retrieve) == sum(row["document"] in values for row in rows)


HARD_TEXT = 'it\'s "ø" `y` % %s'
FIELDS = [
    {"year": 2023, "price": 1.1, "old": True, "lang": "en", "note": HARD_TEXT},
    {"year": 2024, "price": 2.0, "old": False, "lang": "", "note": "1"},
    {"year": 2024, "price": 2.5, "old": False, "lang": "De", "note": "2"},
    {"year": -1, "price": -0.5, "old": None, "lang": "de", "note": "3"},
]
# how many rows have what is asked for
PASSING = [
    ({"year": 2023}, 1),
    ({"year": [2023, 2024]}, 3),
    ({"year": 2024.0}, 2),
    ({"year": [2023, 2024.5]}, 1),
    ({"year": -1}, 1),
    ({"price": 1.1}, 1),
    ({"price": [2, 1.1]}, 2),
    ({"price": -0.5}, 1),
    ({"old": True}, 1),
    ({"old": False}, 2),
    ({"old": [True, False]}, 3),
    ({"lang": "de"}, 1),
    ({"lang": ""}, 1),
    ({"lang": ["en", "de"], "year": [2023, 2024]}, 1),
    ({"note": HARD_TEXT}, 1),
]
NOTHING = [
    *({"year": value} for value in (2024.5, -1.5, 2**53, "2023", True)),
    *({"price": value} for value in (1, 1.2, 1e-7, "1.1")),
    *({"old": value} for value in (1, "true")),
    *({"note": value} for value in (1, 2.0)),
    {"lang": "en", "year": 2024},
]


def test_values_of_every_type_find_the_rows_that_have_them(store):
    random = np.random.default_rng(2)
    rows = [
        {"text": f"boat {n}", "document": "docs/boats.txt", "vector": random.normal(size=8), "fields": fields}
        for n, fields in enumerate(FIELDS)
    ]
    place = store.fill(rows)
    kind = RETRIEVERS[place["kind"]].config
    for only, count in PASSING:
        retrieve = kind.model_validate({**place, "only": only})
        assert rows_passing(retrieve) == count, only
    # both searches see as many
    with retrieve.reading(place["collection"]) as collection:
        for exact in (False, True):
            (hits,) = collection.near(rows[0]["vector"][None].astype(np.float32), 4, exact=exact)
            assert [retrieve.keys.text_of(row.payload) for row in hits] == ["boat 0"]
    for only in NOTHING:
        retrieve = kind.model_validate({**place, "only": only})
        with pytest.raises(HarnessError, match=r"retrieve\.only.*2023 and '2023'"):
            rows_passing(retrieve)
