"""The script of a tutorial: parse, split, embed and search with Chroma, rerank. The baseline of run_speed.py.

python -m benchmarks.plain_script JOB.json  writes the ranked texts of every setting and question.

Tutorials put all of it into one function of the chunk size, so that the file is parsed in every setting; the
job says whether the text is kept instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chromadb
from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction
from langchain_text_splitters import RecursiveCharacterTextSplitter
from pypdf import PdfReader
from sentence_transformers import CrossEncoder


def main() -> None:
    path = Path(sys.argv[1])
    job = json.loads(path.read_text(encoding="utf-8"))
    kept = read(job["document"]) if job["keeps_text"] else None
    embed = SentenceTransformerEmbeddingFunction(model_name=job["bi_encoder"])
    cross_encoder = CrossEncoder(job["cross_encoder"])
    client = chromadb.EphemeralClient()
    ranked = []
    for number, (size, overlap) in enumerate(job["chunkings"]):
        splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
        chunks = splitter.split_text(kept or read(job["document"]))
        collection = client.create_collection(
            f"setting-{number}",
            embedding_function=embed,
            configuration={"hnsw": {"space": "cosine", "ef_search": 2000}},
        )
        for start in range(0, len(chunks), 5000):
            batch = chunks[start : start + 5000]
            collection.add(ids=[str(start + i) for i in range(len(batch))], documents=batch)
        for question in job["questions"]:
            found = collection.query(query_texts=[question], n_results=job["top_k"])["documents"][0]
            scores = cross_encoder.predict([(question, chunk) for chunk in found])
            order = sorted(range(len(found)), key=lambda i: -scores[i])
            ranked.append([found[i] for i in order])
    Path(job["ranked"]).write_text(json.dumps(ranked), encoding="utf-8")


def read(document: str) -> str:
    """The text of a PDF."""
    return "\n".join(page.extract_text() for page in PdfReader(document).pages)


if __name__ == "__main__":
    main()
