"""Searched settings → answers: what each setting reads, who answers, and the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report import ReplyPassageRow, ReplyRow
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.search import Searched
from harness.running.tools import RunTools
from harness.steps import ANSWERERS, AnswerConfig, AnswerInput, AnswerReply, passages_read
from harness.values import Chunk, LlmError, Query, golden_of_query

_READING = {"top_n", "max_tokens", "order", "max_failed"}
NO_PASSAGES = "no_passages"
"""Why a question is not asked: nothing was found, or nothing found fits ``max_tokens``."""


ReadPassage = tuple[int, Chunk]
"""A passage that is read, and its rank, from 1, in the last ranking of its setting."""


@dataclass(frozen=True, slots=True)
class Replies:
    """The answers of one setting. ``read`` and ``replies`` have an entry for every query, by its id."""

    setting: str
    answered_by: str
    read: dict[str, tuple[ReadPassage, ...]]
    replies: dict[str, AnswerReply]


def answer_all(searched: Sequence[Searched], corpus: Corpus, context: Context) -> list[Replies]:
    """The answers of all settings that have an ``answer`` section, in their order.

    Raises LlmError if more calls have failed than ``max_failed`` allows.
    """
    found: dict[str, Replies] = {}
    for config, ones in groups_of(searched):
        replied = answer_group(config, ones, corpus.queries.queries, RunTools(context))
        found |= {one.setting: one for one in replied}
    limits = {one.setting.name: stage.max_failed for one in searched if (stage := one.setting.answer)}
    for name, most in limits.items():
        replies = found[name].replies.values()
        # a question that was not asked because nothing was read has not failed
        failed = [reply.reason for reply in replies if reply.text is None and reply.reason != NO_PASSAGES]
        if len(failed) > most * len(replies):
            raise LlmError(
                f"{name}: {len(failed)} of {len(replies)} queries have no answer by "
                f"{found[name].answered_by} ({counted_reasons(failed, ', ')}); answer.max_failed allows "
                f"{most:.0%}. Every other answer is in the ledger. Set `answer.ask_again: true` to ask the "
                "failed ones again, name another model, or raise the limit."
            )
    return [found[name] for name in limits]


def groups_of(searched: Iterable[Searched]) -> Iterator[tuple[AnswerConfig, list[Searched]]]:
    """Settings with the same model and prompt, whatever they read, so that equal calls are made once."""
    groups: dict[str, tuple[AnswerConfig, list[Searched]]] = {}
    for one in searched:
        if (config := one.setting.answer) is not None:
            key = config.model_dump_json(exclude=_READING)
            groups.setdefault(key, (config, []))[1].append(one)
    yield from groups.values()


def answer_group(
    config: AnswerConfig, ones: Sequence[Searched], queries: Sequence[Query], tools: RunTools
) -> list[Replies]:
    """The answers of settings with one answerer; raises PendingCallsError if a plan may not ask it."""
    answerer = ANSWERERS.make(config)
    reads = [read_by(one, queries) for one in ones]
    asked = {
        (place, query.query_id): AnswerInput(
            query.query_id, query.text, tuple(chunk.text for _, chunk in read[query.query_id])
        )
        for place, read in enumerate(reads)
        for query in queries
        if read[query.query_id]
    }
    replies = dict(zip(asked, answerer.run(list(asked.values()), tools), strict=True))
    return [
        Replies(
            one.setting.name,
            answerer.name,
            read,
            {q.query_id: replies.get((place, q.query_id), AnswerReply(None, NO_PASSAGES)) for q in queries},
        )
        for place, (one, read) in enumerate(zip(ones, reads, strict=True))
    ]


def read_by(one: Searched, queries: Sequence[Query]) -> dict[str, tuple[ReadPassage, ...]]:
    """The passages a setting reads for each query, in the order read: the top of its last ranking."""
    config = one.setting.answer
    if config is None:
        raise ValueError(f"{one.setting.name} has no answer section")
    chunks, tokens = one.chunking.chunks, one.chunking.tokens.tolist()
    row = {chunk.chunk_id: i for i, chunk in enumerate(chunks)}
    found: dict[str, tuple[ReadPassage, ...]] = {query.query_id: () for query in queries}
    for ranking in one.rankings[one.steps[-1]]:
        rows = [row[chunk_id] for chunk_id in ranking.chunk_ids]
        ranks = passages_read(config, [tokens[i] for i in rows])
        found[ranking.query_id] = tuple((rank + 1, chunks[rows[rank]]) for rank in ranks)
    return found


def reply_rows(replied: Sequence[Replies], corpus: Corpus) -> Iterator[Any]:
    """The rows of replies.csv and reply_passages.csv."""
    for one in replied:
        for query in corpus.queries.queries:
            reply, read = one.replies[query.query_id], one.read[query.query_id]
            yield ReplyRow(
                setting=one.setting,
                query_id=query.query_id,
                split=query.split,
                answered_by=one.answered_by,
                answer=reply.text or "",
                reason=reply.reason,
                golden=corpus.queries.extras.get(query.query_id, {}).get("answer", "").strip(),
                passages=len(read),
                bad_citations=reply.bad_citations,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                price=reply.price,
                seconds=reply.seconds,
            )
            for place, (rank, chunk) in enumerate(read):
                cited = place in reply.cited
                yield ReplyPassageRow(one.setting, query.query_id, place + 1, rank, chunk.chunk_id, cited)


def golden_of(corpus: Corpus, query_id: str) -> tuple[str, ...]:
    """The golden answers of a query; none if the query file has none. CorpusError for a bad list."""
    return golden_of_query(query_id, corpus.queries.extras.get(query_id, {}).get("answer", ""))


def refuse_bad_golden(corpus: Corpus) -> None:
    """Raise CorpusError where golden answers cannot be read, before anything is paid for."""
    for query in corpus.queries.queries:
        golden_of(corpus, query.query_id)


def counted_reasons(reasons: Iterable[str], between: str) -> str:
    """Each reason with its count, the most frequent first."""
    return between.join(f"{reason} x{count}" for reason, count in Counter(reasons).most_common())
