"""Turn a question into a statement by rules, in English and Chinese: no language model, the same every time.

Bi-encoders are mostly trained on statements. What a question has besides its content (`how many`, `谁是`, the
order of its verb) matches other questions, not answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from harness.steps.search.needs import Noted
from harness.steps.search.search_wordings import SEARCH
from harness.steps.search.step import Identity, Rewriter, RewriterConfig
from harness.values import Query, Run, worded

# Raised when the same question becomes another statement.
_VERSION = 2

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
_OWNED = r"(?i:the|a|an|its|their|his|her|our|your|this|that|these|those)"
# Words that begin the thing asked for, so that the verb may follow it.
_THING = rf"(?:(?:{_OWNED}|(?i:each|every|all|some))\s|{_NAME})"

_WHAT_IS = re.compile(rf"^(?i:what|which|who)(?:['’]s|\s+((?i:{_BE})))\s+(?={_THING})(.+)$", re.DOTALL)
# which company plans to …: one or two words, then what is seen to be a verb, and no other subject
_WHICH = re.compile(
    rf"^(?i:which|what)\s+((?:[\w-]+\s+)?[\w-]*[^s\W])\s+"
    rf"((?i:{_BE})(?!\s+{_SUBJECT})|(?i:{_HAVE}|{_MODAL})(?!\s+{_THING})|(?!(?i:{_ANY})\b)\w+(?:[^s\W]s|ed))\s+(.+)$",
    re.DOTALL,
)
_WHO = re.compile(
    rf"^(?i:who)\s+(?!(?i:{_ANY})\b)(\w+(?:s|ed|ote|ook|ade|aid|ew|old|ought)\s+.+)$", re.DOTALL
)
_HOW_MUCH = re.compile(rf"(?is)^how\s+(many|much)\s+(?:of\s+)?(.+?)\s+({_ANY})\s+(.+)$")
# the last word of what is counted is a plural
_HOW_MANY_PLAIN = re.compile(
    r"(?is)^how\s+many\s+((?:\S+\s+){0,3}?(?:[\w-]+s|people|men|women|children))\s+(.+)$"
)
_ADVERB = re.compile(rf"(?is)^(when|where|why|how)\s+({_ANY})\s+(.+)$")
_YES_NO = re.compile(rf"(?is)^({_ANY})\s+(.+)$")
# the pump recalled; the yard hold: a participle ends the subject, or the third of three words does
_MOVED = (
    re.compile(rf"^({_SUBJECT})\s+(\S.*)$", re.DOTALL),
    re.compile(rf"^({_OWNED}(?:\s+\S+){{1,4}}?)\s+(\w+ed\b.*)$", re.DOTALL),
    re.compile(rf"^({_OWNED}\s+\S+)\s+(\S+)$"),
)


class StatementConfig(RewriterConfig):
    """An English or Chinese question as a statement, by rules (docs/rewriting.md shows them)."""

    kind: Literal["statement"] = "statement"


class StatementRewriter(Rewriter[StatementConfig]):
    """Rewrites the questions that a rule fits; the others are searched as they are, and counted."""

    repeatable = True

    def identity(self) -> Identity:
        """The rules."""
        return ["statement", _VERSION]

    def run(self, queries: Sequence[Query]) -> Run[list[Query]]:
        """Every question as a statement."""
        texts = [statement_of(query.text) for query in queries]
        left = texts.count(None)
        if left:
            queries_in_all = str(len(queries))
            yield Noted([worded(SEARCH, "rewrite.unmatched", left=str(left), queries=queries_in_all)])
        return [
            query if text is None else replace(query, text=text)
            for query, text in zip(queries, texts, strict=True)
        ]


def statement_of(question: str) -> str | None:
    """The question as a statement; None if no rule fits. Other English sentences around it stay.

    >>> statement_of("谁是李白的朋友")
    '李白的朋友是谁。'
    >>> statement_of("What was the revenue of 3M?")
    'The revenue of 3M was'
    """
    if _HAN.search(question):
        return _of_chinese(question)
    sentences = _SENTENCES.split(question.strip())
    stated = [_of_sentence(sentence) for sentence in sentences]
    if not any(stated):
        return None
    parts = [
        sentence if text is None else text + "." for sentence, text in zip(sentences, stated, strict=True)
    ]
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
    match = _WHAT_IS.match(text)
    return None if match is None else f"{match[2]} {(match[1] or 'is').lower()}"


def _which(text: str) -> str | None:
    """Which company plans to release it → the company that plans to release it is."""
    match = _WHICH.match(text)
    return None if match is None else f"the {match[1]} that {match[2]} {match[3]} is"


def _who(text: str) -> str | None:
    """Who wrote the report → the one who wrote the report is."""
    match = _WHO.match(text)
    return None if match is None else f"the one who {match[1]} is"


def _how_much(text: str) -> str | None:
    """How many cars can the yard hold → the number of cars the yard can hold."""
    match = _HOW_MUCH.match(text)
    clause = None if match is None else _put_back(match[3], match[4])
    if match is None or clause is None:
        return None
    return f"the {'number' if match[1].lower() == 'many' else 'amount'} of {match[2]} {clause}"


def _how_many_plain(text: str) -> str | None:
    """How many vehicles fit the yard → the number of vehicles that fit the yard."""
    match = _HOW_MANY_PLAIN.match(text)
    return None if match is None else f"the number of {match[1]} that {match[2]}"


def _adverb(text: str) -> str | None:
    """When did AMD buy Xilinx → AMD did buy Xilinx on; place, reason and manner likewise."""
    match = _ADVERB.match(text)
    clause = None if match is None else _put_back(match[2], match[3])
    if match is None or clause is None:
        return None
    return f"{clause} {_ENDS[match[1].lower()]}"


def _yes_no(text: str) -> str | None:
    """Is 3M a capital-intensive business → 3M is a capital-intensive business."""
    match = _YES_NO.match(text)
    return None if match is None else _put_back(match[1], match[2])


def _put_back(verb: str, rest: str) -> str | None:
    """The verb behind its subject; if the end of the subject is unclear, `do` is left out, else None."""
    for rule in _MOVED:
        if (moved := rule.match(rest)) is not None:
            return f"{moved[1]} {verb.lower()} {moved[2]}"
    return rest if verb.lower() in _DO.split("|") else None


_ENDS = {"when": "on", "where": "in", "why": "because", "how": "by"}
_RULES: tuple[Callable[[str], str | None], ...] = (
    _what_is,
    _which,
    _who,
    _how_much,
    _how_many_plain,
    _adverb,
    _yes_no,
)

_HAN = re.compile(r"[\u3400-\u9fff]")
_CHINESE_POLITE = re.compile(
    r"^(?:(?:请问|请告诉我|请解释(?:一下)?|你知道|我想知道|我想问(?:一下)?|想请教(?:一下)?)[，,\s]*)+"
)
# question marks and the particles before them; 吗 alone makes a question, so it is kept apart
_CHINESE_END = re.compile(r"(?:呢|啊|呀)?[\s？?。]*$")
_MEASURE = "个|家|位|名|款|本|部|种|座|条|项|只|台|次|份|届|支|间|所|片|张|首"
_WHEN = "什么时候|何时|什么时间|哪一年|哪年|几时"
_WHERE = "在哪里|在哪儿|在什么地方|在何处"
_HOW = "如何|怎样|怎么(?!样)"
# what a pattern makes of a question, the first that fits; a group is a part of it
_CHINESE_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"^{pattern}$"), statement)
    for pattern, statement in (
        # already in the order of a statement
        (
            r"(.+(?:是|为(?!什么)|叫)(?:谁|什么|多少|几|哪里|哪(?:一)?(?:" + _MEASURE + r"))[^是为的]{0,3})",
            "{0}",
        ),
        (r"谁是(.+)", "{0}是谁"),
        (r"(?:什么是|何谓|啥是)(.+)", "{0}是什么"),
        (r"谁(.+)", "{0}的人是谁"),
        (
            rf"(?:是)?哪(一)?({_MEASURE})([\u3400-\u9fff]{{1,4}}?)"
            r"(?:是)?((?:计划|将|曾|正|会|要|能|可以|拥有|发|写|开|收购|生产|制造|提供|举办|获得|推出|在|有).+)",
            "{3}的{2}是哪{0}{1}",
        ),
        (rf"(.+?)(?:是)?(?:{_WHEN})(.+?)的?", "{0}{1}的时间"),
        (rf"(.+?)(?:{_WHERE})", "{0}所在的地方"),
        (rf"(.+?)(?:{_WHERE})(.+)", "{0}{1}的地方"),
        (r"(?:为什么|为何)(.+?)了?", "{0}的原因"),
        (r"(.+?)(?:为什么|为何)(.+?)了?", "{0}{1}的原因"),
        (rf"(?:{_HOW})(.+)", "{0}的方法"),
        (rf"(.+?)(?:{_HOW})(.+)", "{0}{1}的方法"),
        (rf"(.+?)(?:一共|总共|共)?有(?:多少|几)(?:{_MEASURE}|人)?([\w ]+)", "{0}的{1}数量"),
        (r"(.+?)(?:是不是|是否是)(.+?)", "{0}是{1}"),
        (r"(.+?)是否(.+?)", "{0}{1}"),
        (r"(.+?)吗", "{0}"),
    )
)


def _of_chinese(question: str) -> str | None:
    """谁是李白的朋友 → 李白的朋友是谁。 Only a text that is one sentence."""
    bare = _CHINESE_END.sub("", _CHINESE_POLITE.sub("", question.strip()))
    if not bare or re.search(r"[。？?！!；;\n]", bare):
        return None
    for pattern, statement in _CHINESE_RULES:
        if (match := pattern.match(bare)) is not None:
            return statement.format(*(part or "" for part in match.groups())) + "。"
    return None
