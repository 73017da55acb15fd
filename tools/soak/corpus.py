"""A small benchmark of invented text, to be attacked."""

from __future__ import annotations

from pathlib import Path

from harness.report import outcome_of

_TOPICS = {
    "engines": ("engine", "built in Paducah", "210 kilowatts"),
    "people": ("workforce", "counted in December", "39,717 people"),
    "harbour": ("harbour", "loaded in Bremerton", "three ships"),
}


_CHROMA = '{kind: chroma, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 128, top_k: 5}'


def write_benchmark(
    folder: Path,
    name: str = "soak",
    document: bytes | None = None,
    retrieve: str = _CHROMA,
    out: Path | None = None,
) -> Path:
    """Write documents, queries, labels and a configuration into ``folder``; returns the configuration.

    ``document``, the bytes of a PDF, joins the documents. Cache and results are in ``out``, else in
    ``folder``.
    """
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    queries, labels = ["query_id,text,split"], ["query_id,document,quote,grade"]
    for number, (topic, (noun, place, figure)) in enumerate(_TOPICS.items()):
        fact = f"The {noun} was {place} and came to {figure} this year."
        filler = [f"Paragraph {i} about the {noun} says nothing of {figure[:3]}x." for i in range(8)]
        (docs / f"{topic}.txt").write_text("\n\n".join([*filler[:4], fact, *filler[4:]]), encoding="utf-8")
        queries.append(f"q{number},What did the {noun} come to?,{'train' if number else 'validation'}")
        labels.append(f'q{number},{topic},"{fact}",4')
    if document is not None:
        (docs / "attacked.pdf").write_bytes(document)
    (folder / "queries.csv").write_text("\n".join(queries) + "\n", encoding="utf-8")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    config = folder / f"{name}.yaml"
    config.write_text(
        f"name: {name}\n"
        f"documents: {docs}/*\n"
        f"queries: {folder}/queries.csv\n"
        f"labels: {folder}/labels.csv\n"
        f"on_bad_document: skip\n"
        f"cache: {out or folder}/cache\n"
        f"results: {out or folder}/results\n"
        "chunk: {kind: recursive, chunk_size: [90, 180]}\n"
        f"retrieve: {retrieve}\n"
        "measures: [ndcg_exp@5, ndcg_text@500, judged@5]\n",
        encoding="utf-8",
    )
    return config


# Files of timings.
_TIMED = ("record.json", "report.html")


def content(results: Path) -> dict[str, bytes]:
    """The files of a result that are the same in every run."""
    files = (path for path in sorted(results.rglob("*")) if path.is_file() and path.name not in _TIMED)
    return {str(path.relative_to(results)): outcome_of(path) for path in files}
