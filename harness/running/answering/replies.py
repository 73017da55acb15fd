"""Searched settings → answers: what each setting reads, who answers, and the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report import ReplyPassageRow, ReplyRow
from harness.running.answering.passages_read import Read, read_by
from harness.running.corpus import Corpus
from harness.running.loop import Loop, Visitor
from harness.running.pipeline import answered_by, answering, failures_allowed, has_answers, longest_answer
from harness.running.planning import Planning
from harness.running.search import Searched
from harness.steps import AnswerInput, AnswerReply, PendingCalls
from harness.values import LlmError, Run, golden_of_query, key_of

NO_PASSAGES = "no_passages"
"""Why a question is not asked: nothing was found, or nothing found fits ``max_tokens``."""


@dataclass(frozen=True, slots=True)
class Replies:
    """The answers of one setting. ``read`` and ``replies`` have an entry for every query, by its id."""

    setting: str
    answered_by: str
    read: Read
    replies: dict[str, AnswerReply]


def answer_all(searched: Sequence[Searched], corpus: Corpus, visitor: Visitor) -> list[Replies]:
    """The answers of all settings that have an ``answer`` section, in their order.

    Raises LlmError if more calls have failed than ``max_failed`` allows.
    """
    replies_of = {
        answered.setting: answered for answered in Loop(visitor).run(_answering(searched, corpus)).values()
    }
    limits = {
        result.setting.name: failures_allowed(result.setting)
        for result in searched
        if has_answers(result.setting)
    }
    for name, most in limits.items():
        replies = replies_of[name].replies.values()
        # a question that was not asked because nothing was read has not failed
        failed = [reply.reason for reply in replies if reply.text is None and reply.reason != NO_PASSAGES]
        if len(failed) > most * len(replies):
            raise LlmError(
                f"{name}: {len(failed)} of {len(replies)} queries have no answer by "
                f"{replies_of[name].answered_by} ({counted_reasons(failed, ', ')}); answer.max_failed allows "
                f"{most:.0%}. Every other answer is in the ledger. Set `answer.ask_again: true` to ask the "
                "failed ones again, name another model, or raise the limit."
            )
    return [replies_of[name] for name in limits]


def _answering(searched: Sequence[Searched], corpus: Corpus) -> dict[str, Run[Replies]]:
    """The steps of the settings that answer, by their places."""
    return {
        str(at): _replies(result, corpus) for at, result in enumerate(searched) if has_answers(result.setting)
    }


def _replies(searched: Searched, corpus: Corpus) -> Run[Replies]:
    """The answers of a setting to all queries."""
    setting, queries = searched.setting, corpus.queries.queries
    read: Read = yield from read_by(searched, corpus)
    asked = [
        AnswerInput(query.query_id, query.text, tuple(part.chunk.text for part in read[query.query_id]))
        for query in queries
        if read[query.query_id]
    ]
    given = yield from answering(
        setting, asked, lambda: _guessed(asked, corpus, setting.name, longest_answer(setting))
    )
    replies = {query_id: AnswerReply(None, NO_PASSAGES) for query_id in read}
    replies |= {question.query_id: reply for question, reply in zip(asked, given, strict=True)}
    return Replies(setting.name, answered_by(setting), read, replies)


def _guessed(inputs: Sequence[AnswerInput], corpus: Corpus, setting: str, longest: int) -> list[AnswerReply]:
    """Answers in place of those that are not known: as long as they may be, and all different.

    Where ``longest`` is 0, they are as in the query file, the question where that has none.
    """
    if longest:
        # those of settings differ too
        return [
            AnswerReply(key_of(setting, question.query_id)[:16].ljust(longest, "-")) for question in inputs
        ]
    golden = (next(iter(golden_of(corpus, question.query_id)), question.question) for question in inputs)
    return [AnswerReply(text) for text in golden]


def plan_answers(
    searched: Sequence[Searched], corpus: Corpus, planning: Planning
) -> tuple[list[Replies], list[PendingCalls]]:
    """What settings with an ``answer`` section answer, or about that, and the calls that are missing."""
    replied = Loop(planning).run(_answering(searched, corpus))
    return list(replied.values()), planning.calls


def reply_rows(replied: Sequence[Replies], corpus: Corpus) -> Iterator[Any]:
    """The rows of replies.csv and reply_passages.csv."""
    for replies in replied:
        for query in corpus.queries.queries:
            reply, read = replies.replies[query.query_id], replies.read[query.query_id]
            yield ReplyRow(
                setting=replies.setting,
                query_id=query.query_id,
                split=query.split,
                answered_by=replies.answered_by,
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
            for place, passage in enumerate(read):
                yield ReplyPassageRow(
                    replies.setting,
                    query.query_id,
                    place + 1,
                    passage.rank,
                    passage.chunk.chunk_id,
                    place in reply.cited,
                    passage.change,
                    passage.chunk.text if passage.change == "altered" else "",
                )


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
