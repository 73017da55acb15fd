"""A test set of ragas becomes queries.csv and labels.csv of a new folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.data import (
    AnchorConfig,
    GivenHit,
    ImportSummary,
    new_corpus_folder,
    place_hits,
    read_answers,
    write_text,
)
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import tables_of
from harness.running import BenchConfig, Context, load_documents
from harness.values import CorpusError, Judgment, golden_cell, on_one_line


def import_testset(source: Path, documents: Sequence[str], target: Path, context: Context) -> ImportSummary:
    """Read questions, reference answers and reference contexts, which are found in ``documents`` (globs).

    ragas knows no grades: the only context of a question gets grade 4, each of several grade 3, since none of
    them answers alone. A question without one counts as unanswerable. Raises CorpusError for a file that
    cannot be used, and where ``target`` is there already.
    """
    nowhere = source / "none.csv"
    config = BenchConfig.of_documents(documents, nowhere, nowhere, cache=context.cache.root)
    texts = {one.doc_id: one for one in load_documents(config, context)}
    asked = read_answers(source)
    contexts = [
        [GivenHit(query_id=one.query_id, text=text) for text in one.evidence if text.strip()] for one in asked
    ]
    if not any(contexts):
        raise CorpusError(
            f"{source}: no sample has reference_contexts, the passages that hold its answer. Add them."
        )
    labels: dict[object, Judgment] = {}
    for hits in place_hits(contexts, texts, AnchorConfig().threshold):
        for hit in hits:
            if hit.place is not None:
                place = hit.place.doc_id, hit.place.start, hit.place.end
                one = Judgment(hit.row.query_id, *place, 4 if len(hits) == 1 else 3, judge="ragas")
                labels.setdefault(one.key, one)
    questions = tuple(
        TestQuestion(
            one.query_id,
            on_one_line(one.question),
            answerable=bool(hits),
            answer=golden_cell(one.references),
        )
        for one, hits in zip(asked, contexts, strict=True)
    )
    with new_corpus_folder(target) as folder:
        for file, text in tables_of(FinishedTestset(questions, tuple(labels.values()), texts)).items():
            write_text(folder / file, text)
    notes = [
        "ragas knows no grades: one context of a question has grade 4, several have 3 each.",
        "A question without a context counts as unanswerable.",
    ]
    if lost := sum(map(len, contexts)) - len(labels):
        notes.append(f"Contexts that are repeated, or in none of the documents, are left out: {lost}.")
    used = {one.doc_id for one in labels.values()}
    return ImportSummary(target, len(used), len(questions), len(labels), tuple(notes))
