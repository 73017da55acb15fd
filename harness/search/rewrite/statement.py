"""Turn an English question into a statement by rules: no language model, no network, the same every time.

Bi-encoders and term weights are made for passages, and passages state. What a question has besides its
content (`how many`, `what was`, the order of its verb) matches other questions, not answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from harness.search.query_steps import Rewriter, RewriterConfig
from harness.search.step import Identity
from harness.search.tools import Tools
from harness.types import Query

RULES_VERSION = 1

_BE = "is|are|was|were"
_HAVE = "has|have|had"
_DO = "do|does|did"
_MODAL = "can|could|will|would|should|may|might|must"
_ANY = f"{_BE}|{_HAVE}|{_DO}|{_MODAL}"
_POLITE = re.compile(
    r"(?i)^(?:please,? |(?:can|could|would|will) you (?:please )?(?:tell|show|explain to) (?:me|us),? |"
    r"do you know,? |(?:please )?(?:tell|show) (?:me|us),? |i(?: would|'d) like to know,? )+"
)
_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_ASKS = rf"(?:what|which|who|when|where|why|how|{_ANY})"
# "In 2019, what was …": what is before the last comma that a question word follows
_BEFORE = re.compile(rf"(?is)^(.*,\s+)(?={_ASKS}(?:['’]s)?\s)")
# A subject whose end can be found without a parser: a pronoun, or a name and what belongs to it.
_NAME = r"[A-Z0-9][\w&.'’-]*"
_SUBJECT = (
    rf"(?:(?i:it|they|he|she|we|you|i|this|that|these|those|there)(?=\s)"
    rf"|(?:[Tt]he\s+)?{_NAME}(?:\s+(?:{_NAME}|of\s+{_NAME}|and\s+{_NAME}))*)"
)
# Words that begin the thing asked for, so that the verb may follow it.
_THING = rf"(?:(?i:the|a|an|its|their|his|her|our|your|this|that|these|those|each|every|all|some)\s|{_NAME})"

_WHAT_IS = re.compile(rf"^(?i:what|which|who)(?:['’]s|\s+({_BE}))\s+(?={_THING})(.+)$", re.DOTALL)
_HOW_MUCH = re.compile(rf"(?is)^how\s+(many|much)\s+(?:of\s+)?(.+?)\s+({_ANY})\s+(.+)$")
# the last word of what is counted is a plural
_HOW_MUCH_PLAIN = re.compile(
    r"(?is)^how\s+many\s+((?:\S+\s+){0,3}?(?:[\w-]+s|people|men|women|children))\s+(.+)$"
)
_ADVERB = re.compile(rf"(?is)^(when|where|why|how)\s+({_ANY})\s+(.+)$")
_YES_NO = re.compile(rf"(?is)^({_ANY})\s+(.+)$")
_OWNED = r"(?i:the|a|an|its|their|his|her|our|your|this|that|these|those)"
# the pump recalled; the yard hold: a participle ends the subject, or the third of three words does
_MOVED = (
    re.compile(rf"^({_SUBJECT})\s+(\S.*)$", re.DOTALL),
    re.compile(rf"^({_OWNED}(?:\s+\S+){{1,4}}?)\s+(\w+ed\b.*)$", re.DOTALL),
    re.compile(rf"^({_OWNED}\s+\S+)\s+(\S+)$"),
)


class StatementConfig(RewriterConfig):
    """An English question as a statement, by rules; docs/rewriting.md shows what becomes of what."""

    kind: Literal["statement"] = "statement"


class StatementRewriter(Rewriter[StatementConfig]):
    """Rewrites the questions that a rule fits; the others are asked as they are, and counted."""

    repeatable = True

    def identity(self) -> Identity:
        """The rules."""
        return ["statement", RULES_VERSION]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """Every question as a statement."""
        texts = [statement_of(query.text) for query in queries]
        left = sum(text is None for text in texts)
        if left:
            tools.reporter.note(
                f"{left} of {len(queries)} queries fit no rule of `statement` and are searched unchanged."
            )
        return [
            query if text is None else replace(query, text=text)
            for query, text in zip(queries, texts, strict=True)
        ]


def statement_of(question: str) -> str | None:
    """The question as a statement; None if no rule fits. Other sentences around it stay."""
    asked = _SENTENCES.split(question.strip())
    stated = [_of_sentence(part) for part in asked]
    if not any(stated):
        return None
    parts = [part if own is None else own + "." for part, own in zip(asked, stated, strict=True)]
    return " ".join(parts).removesuffix(".") if stated[-1] else " ".join(parts)


def _of_sentence(sentence: str) -> str | None:
    if not sentence.endswith("?"):
        return None
    bare = _POLITE.sub("", sentence.rstrip("? ").strip())
    before = _BEFORE.match(bare)
    start = before[1] if before else ""
    stated = next((text for rule in _RULES if (text := rule(bare[len(start) :]))), None)
    if stated is None:
        return None
    stated = start + stated
    return stated[0].upper() + stated[1:]


def _what_is(text: str) -> str | None:
    """What was the revenue of 3M → the revenue of 3M was."""
    found = _WHAT_IS.match(text)
    return None if found is None else f"{found[2]} {(found[1] or 'is').lower()}"


def _how_much(text: str) -> str | None:
    """How many cars can the yard hold → the number of cars the yard can hold."""
    found = _HOW_MUCH.match(text)
    clause = None if found is None else _put_back(found[3], found[4])
    if found is None or clause is None:
        return None
    return f"the {'number' if found[1].lower() == 'many' else 'amount'} of {found[2]} {clause}"


def _how_many_plain(text: str) -> str | None:
    """How many vehicles fit the yard → the number of vehicles that fit the yard."""
    found = _HOW_MUCH_PLAIN.match(text)
    return None if found is None else f"the number of {found[1]} that {found[2]}"


def _adverb(text: str) -> str | None:
    """When did AMD buy Xilinx → AMD did buy Xilinx on; place, reason and manner likewise."""
    found = _ADVERB.match(text)
    clause = None if found is None else _put_back(found[2], found[3])
    if found is None or clause is None:
        return None
    return f"{clause} {_ENDS[found[1].lower()]}"


def _yes_no(text: str) -> str | None:
    """Is 3M a capital-intensive business → 3M is a capital-intensive business."""
    found = _YES_NO.match(text)
    return None if found is None else _put_back(found[1], found[2])


def _put_back(verb: str, rest: str) -> str | None:
    """The verb behind its subject; if the end of the subject is unclear, `do` is left out, else None."""
    for rule in _MOVED:
        if (moved := rule.match(rest)) is not None:
            return f"{moved[1]} {verb.lower()} {moved[2]}"
    return rest if verb.lower() in _DO.split("|") else None


_ENDS = {"when": "on", "where": "in", "why": "because", "how": "by"}
_RULES: tuple[Callable[[str], str | None], ...] = (_what_is, _how_much, _how_many_plain, _adverb, _yes_no)
