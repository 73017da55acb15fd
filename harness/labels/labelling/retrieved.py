"""What settings retrieved: the passages that nobody has graded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from harness import running
from harness.labels.labelling.grading_sheet import sheet_rows
from harness.labels.labelling.label_rows import holds_rows
from harness.labels.labelling.passages import Grades, PassageToGrade, Retrieved, unjudged_passages
from harness.report import RankedRow, cells_of, read_any, read_chunk_offsets, read_result
from harness.steps import waits_for
from harness.values import Document, HarnessError, Judgment, LabelError, Reporter

_OF_DOCUMENTS = ("documents", "parsing", "on_bad_document", "queries", "labels", "cache", "name", "anchor")


def documents_of(config: running.BenchConfig, reporter: Reporter) -> dict[str, Document]:
    """The documents of a configuration by id; none that is known is read again."""
    with running.Session.at(config.cache, reporter, may_ask=False) as session:
        return running.load_documents(config, session.document_reader)


def config_of(record: dict[str, Any]) -> running.BenchConfig:
    """The part of the configuration of a run that concerns its documents."""
    fields = {name: record["config"][name] for name in _OF_DOCUMENTS if name in record["config"]}
    # a configuration takes labels, also where a language model has judged; they are not read here
    fields["labels"] = fields.get("labels") or fields["queries"]
    parsers = [setting["parse"] for setting in record["config"]["settings"]]
    if any(parser != parsers[0] for parser in parsers):
        raise HarnessError(
            "These results compare several parsers, and what is unjudged in one text is not in another. Run "
            "the benchmark with one parser and label that: quotes are then found in every text."
        )
    config = running.BenchConfig.of_documents(**fields)
    basic = {**dict(config.settings[0]), "parse": parsers[0]}
    settings = [running.Setting.model_validate(basic)]
    if running.takes_passages(config):
        # the documents are what settings searched
        collections = filter(None, map(running.recorded_collection, record["config"]["settings"]))
        settings = [running.Setting.model_validate({**basic, "retrieve": each}) for each in collections]
        if not settings:
            raise HarnessError(
                f"documents: {', '.join(config.documents)} are passages of a collection that no setting of "
                "these results searches, so they cannot be read again. Label results of a setting that does."
            )
    return config.model_copy(update={"settings": tuple(settings)})


def sheet_of(folder: Path, top: int, reporter: Reporter) -> tuple[list[dict[str, Any]], str]:
    """The unjudged among the first ``top`` of all settings of a folder of results, as rows, and its judge.

    Its documents are read again, from the cache where they are known. Raises HarnessError if their text is
    not what the results were made of.
    """
    result = read_result(folder)
    documents = documents_of(config_of(result.record), reporter)
    now = {name: document.sha256 for name, document in documents.items()}
    other = [name for name, sha in result.texts.items() if now.get(name) != sha]
    if other:
        raise HarnessError(
            f"{folder} was made of other texts: {', '.join(other[:5])} changed since, or are not found from "
            "this folder. Run the benchmark again."
        )
    queries = cells_of(folder, "queries")
    answerable = {row["query_id"] for row in queries if row["answerable"] == "yes"}
    graded = Grades(
        Judgment(*(row["query_id"], row["document"], int(row["start"]), int(row["end"]), int(row["grade"])))
        for row in cells_of(folder, "judgments")
        if row["grade"] and row["scored_on"] == "yes"
    )
    wanted = unjudged_passages(_unjudged(folder, top, answerable), documents, graded)
    questions = {row["query_id"]: row["text"] for row in queries}
    judge = result.record["config"].get("relevance", {}).get("judge", {}).get("kind", "labels")
    return sheet_rows(wanted, questions), str(judge)


def _unjudged(folder: Path, top: int, answerable: Collection[str]) -> Iterator[Retrieved]:
    """The unjudged chunks among the first ``top`` of every setting's last step."""
    read = read_chunk_offsets(folder)
    chunks = {setting: {chunk.chunk_id: chunk for chunk in offsets} for setting, offsets in read.items()}
    rows = read_any(folder, RankedRow)
    # rows are in the order of the steps
    last = {row.setting: row.stage for row in rows}
    return (
        Retrieved(row.setting, row.query_id, row.rank, chunks[row.setting][row.chunk_id])
        for row in rows
        if row.stage == last[row.setting]
        and row.rank <= top
        and row.grade is None
        and row.query_id in answerable
        and row.chunk_id in chunks[row.setting]
    )


def pool_unjudged(
    config: running.BenchConfig, top: int, session: running.Session
) -> tuple[dict[str, Document], dict[str, str], list[PassageToGrade]]:
    """The documents by id, the answerable queries, and what of the first ``top`` passages is unjudged.

    All settings are searched, up to their last step, and none is scored. The label file need not be there
    yet. What a collection of others returns is among them where it is in a document. Language models and
    endpoints are not called: raises LabelError if a setting needs an answer that is not cached.
    """
    there = config.labels is not None and holds_rows(config.labels)
    running.refuse_several_parsers(config)
    with_labels = config if there else config.model_copy(update={"labels": None})
    corpus = running.load_searched(with_labels, session).united
    cutting = running.Planning(session, computes=True)
    points = running.cut_for_all(config.settings, corpus, session, visitor=cutting)
    searched, missing = running.search_unasked(points, corpus.queries.queries, cutting)
    if missing:
        raise LabelError(
            f"Labelling asks no language model and no endpoint. {waits_for(missing)} Run harness bench "
            "first, or leave such settings out of the configuration."
        )
    questions = {query.query_id: query.text for query in corpus.queries.queries if query.answerable}
    graded = Grades(corpus.labels)

    def unjudged() -> Iterator[Retrieved]:
        for result in searched:
            chunks = {chunk.chunk_id: chunk for chunk in result.chunking.chunks}
            for ranking in result.rankings[result.steps[-1]]:
                for rank, name in enumerate(ranking.chunk_ids[:top], 1):
                    chunk, query_id = chunks[name], ranking.query_id
                    grade = graded.at(query_id, chunk.doc_id, (chunk.start, chunk.end))
                    if query_id in questions and grade is None:
                        yield Retrieved(result.setting.name, query_id, rank, chunk)

    documents = corpus.by_id
    return documents, questions, unjudged_passages(unjudged(), documents, graded)
