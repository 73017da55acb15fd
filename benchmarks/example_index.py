"""Make the index that configs/recipes/existing-index.yaml reads, as an application would have made it.

The shipped documents in pieces of 1,500 characters, cut anywhere, with the shipped bi-encoder's vectors, in a
folder of Chroma. It stands for an index of your own.

    python -m benchmarks.example_index
    harness bench configs/recipes/existing-index.yaml
"""

import argparse
import sys
from pathlib import Path

from harness.running.resources import Resources
from harness.running.session import Session
from harness.steps.search.retrieve.exact import ExactConfig
from harness.values import Silent

DOCUMENTS, CACHE = Path("corpora/meridian/documents"), Path(".cache/harness")
TO = Path("corpora/local/my-index")
COLLECTION, MODEL, CHARACTERS = "contracts", "embedded:all-MiniLM-L6-v2", 1500


def pieces(folder):
    """The name of a document with each piece of its text, page by page."""
    from pypdf import PdfReader

    for path in sorted(folder.iterdir()):
        pdf = path.suffix == ".pdf"
        texts = [page.extract_text() for page in PdfReader(path).pages] if pdf else [path.read_text("utf-8")]
        for text in texts:
            for begin in range(0, len(text), CHARACTERS):
                if text[begin : begin + CHARACTERS].strip():
                    yield path.name, text[begin : begin + CHARACTERS]


def make_index(folder, session, documents=DOCUMENTS):
    """Write the index to a new folder of Chroma; returns the number of its pieces."""
    import chromadb

    rows = list(pieces(documents))
    embedded = Resources(session).vectors([text for _, text in rows], ExactConfig(model=MODEL).embed)
    client = chromadb.PersistentClient(str(folder))
    collection = client.create_collection(
        COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    collection.add(
        ids=[str(number) for number, _ in enumerate(rows)],
        embeddings=embedded,
        documents=[text for _, text in rows],
        metadatas=[{"source": name} for name, _ in rows],
    )
    client.close()
    return len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=TO, help=f"the folder to write (default: {TO})")
    folder = parser.parse_args().to
    if folder.exists():
        sys.exit(f"{folder} is there already. Remove it to make it anew.")
    with Session.at(CACHE, Silent()) as session:
        count = make_index(folder, session)
    print(f"{folder}: {count} pieces in the collection {COLLECTION}.")


if __name__ == "__main__":
    main()
