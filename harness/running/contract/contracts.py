"""The contract of every kind of step, as checks: a sentence that holds or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from harness.data import DocumentFile, ParsedDocument, ParserConfig, document_id, parse_document, suffixes_of
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import (
    RERANKERS,
    RETRIEVERS,
    REWRITERS,
    ChunkerConfig,
    Passages,
    RerankerConfig,
    RetrieverConfig,
    RewriterConfig,
    chunk_documents,
)
from harness.values import Chunk, ConfigError, Document, HarnessError, Query, Ranking, Silent

Outcome = Literal["ok", "failed", "note"]
Check = tuple[str, Callable[[], object]]
"""A sentence and its test, which raises HarnessError where it does not hold, Remark for a note."""
TEXTS = (
    "The storage yard holds 4,200 vehicles and was paved with recycled asphalt.",
    "A crane failure stopped loading for nine days in March.",
    "The fuel pump was recalled in 2024 because a seal could harden in the cold.",
    "年末公司共有员工39,717人。",
    "Ünïcode, “quotes” and an emoji 🚗 in one line.",
    "At the end of the year 39,717 people worked for the company.",
    "A crane failure stopped loading for nine days in March.",
)
QUESTIONS = (
    "Why was the fuel pump recalled?",
    "公司有多少员工？",
    "What stopped loading in March?",
    "🚗?",
)
PAIRS = [(question, text) for question in QUESTIONS for text in TEXTS[:5]]
DOCUMENTS = {
    "prose": " ".join(TEXTS[:3] * 60),
    "paragraphs": "\n\n".join(TEXTS * 10),
    "Windows line ends": "\r\n".join(TEXTS * 5),
    "Chinese": "储油罐区可停放4,200辆汽车；地面由再生沥青铺成。三月起重机故障，装船停了九天！" * 15,
    "emoji and combining marks": "a\u0301 🚗👩\u200d🔧 e\u0301\u0302 " * 40,
    "a table": "Year | Revenue | Profit\n" * 30,
    "one long word": "x" * 3000,
    "one character": "x",
}
_CLOSE = 1e-3
_LONGEST_CHUNK = 8000
_ALONE = 6


class BrokenError(HarnessError):
    """A step returned something that breaks the contract."""


class Remark(Exception):  # noqa: N818 - not an error
    """A step returned something allowed but worth knowing."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check; ``message`` is empty if all is well."""

    outcome: Outcome
    about: str
    message: str = ""


def run_checks(checks: Sequence[Check]) -> Iterator[CheckResult]:
    """Try one after the other; where the first does not hold, the others would say the same."""
    for place, (about, attempt) in enumerate(checks):
        try:
            attempt()
        except Remark as remark:
            yield CheckResult("note", about, str(remark))
        except HarnessError as error:
            yield CheckResult("failed", about, str(error))
            if place == 0:
                return
        else:
            yield CheckResult("ok", about)


_WAYS: dict[str, Callable[[Any, Sequence[Any]], Sequence[Any]]] = {
    "when called again": lambda run, inputs: run(inputs),
    "in another order": lambda run, inputs: run(inputs[::-1])[::-1],
    "alone and among others": lambda run, inputs: [run([one])[0] for one in inputs[:_ALONE]],
}
"""In which ways the same input may be given a second time."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What one kind of step promises: it is a function that makes one output of each of its inputs.

    ``run`` calls it and checks what it returns; ``inputs`` are what it is called with, and ``given`` and
    ``made`` the words for an input and an output. An output is the same in ``ways``: ``differ`` says how two
    outputs for one input differ, '' if they do not, and ``problem`` is what that is. ``takes`` are inputs by
    the sentence that they test, ``more`` further checks. The first check is the most telling.
    """

    run: Callable[[Sequence[Any]], Sequence[Any]]
    inputs: Sequence[Any]
    given: str
    made: str
    takes: Mapping[str, Sequence[Any]]
    differ: Callable[[Any, Any, Any], str]
    ways: Sequence[str] = ("when called again",)
    problem: type[Exception] = BrokenError
    more: Sequence[Check] = ()

    def checks(self) -> list[Check]:
        """Its checks."""
        first, *others = ((about, partial(self.run, inputs)) for about, inputs in self.takes.items())
        same = [
            (f"gives a {self.given} the same {self.made} {way}", partial(self.same, way)) for way in self.ways
        ]
        return [first, *same, *others, *self.more]

    def same(self, way: str) -> None:
        """Raise the problem where an output differs if the input is given again in one of ``_WAYS``."""
        pairs = zip(self.inputs, self.run(self.inputs), _WAYS[way](self.run, self.inputs), strict=False)
        for given, one, other in pairs:
            if difference := self.differ(given, one, other):
                raise self.problem(f"A {self.given} has a different {self.made} {way}{difference}")


def retriever_contract(config: RetrieverConfig) -> Contract:
    """What a retriever promises."""
    few = config.model_copy(update={"top_k": 3, "top_chars": None, "rewrite": None})
    many = few.model_copy(update={"top_k": 10 * len(TEXTS)})

    def ranks(
        asked: Sequence[str], read: Sequence[str] = TEXTS, config: RetrieverConfig = few
    ) -> list[Ranking]:
        # with nothing known of earlier searches
        with _fresh_tools() as tools:
            return RETRIEVERS.make(config).run(_passages(read), _queries(asked), tools).rankings

    def difference(question: str, one: Ranking, other: Ranking) -> str:
        if one.chunk_ids == other.chunk_ids:
            return ""
        first, second = ([name.partition(":")[0][1:] for name in which.chunk_ids] for which in (one, other))
        return f": {first} and {second} for {question!r}. Fix its seed, and break ties by position."

    def forgets() -> None:
        before = [ranks(QUESTIONS, TEXTS[:3]) for _ in range(2)][-1]
        ranks(QUESTIONS, TEXTS[3:])
        for question, one, other in zip(QUESTIONS, before, ranks(QUESTIONS, TEXTS[:3]), strict=True):
            if what := difference(question, one, other):
                raise BrokenError(f"After a search of other passages, a query has a different ranking{what}")

    def finds() -> None:
        found = zip(ranks(TEXTS[:3], TEXTS[:3]), _passages(TEXTS[:3]).ids, strict=True)
        missed = [name for ranking, name in found if name not in ranking.chunk_ids[:1]]
        if missed:
            raise Remark(
                f"{len(missed)} of 3 passages, given verbatim as queries, are not ranked first. Are scores "
                "distances, or are positions counted from 1?"
            )

    return Contract(
        ranks,
        QUESTIONS,
        "query",
        "ranking",
        {
            "ranks known passages for every query, best first, none twice": QUESTIONS,
            "accepts an empty query": [""],
            "accepts a very long query": [" ".join(QUESTIONS) * 200],
        },
        difference,
        ("when called again", "alone and among others"),
        more=(
            ("accepts a k larger than the number of passages", partial(ranks, QUESTIONS, TEXTS, many)),
            ("accepts a single passage", partial(ranks, QUESTIONS, TEXTS[:1], many)),
            ("keeps no passages of another search", forgets),
            ("ranks a passage first if the query is its exact text", finds),
        ),
    )


def reranker_contract(config: RerankerConfig) -> Contract:
    """What a reranker promises."""
    scorer = RERANKERS.make(config)

    def scores_of(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scores: dict[int, float] = {}
        for batch in scorer.batches(pairs):
            scores |= zip(batch, scorer.score([pairs[i] for i in batch]).tolist(), strict=True)
        return [scores[i] for i in range(len(pairs))]

    def difference(pair: tuple[str, str], one: float, other: float) -> str:
        alike = np.isclose(one, other, rtol=_CLOSE, atol=_CLOSE)
        return "" if alike else f": {one:g} and {other:g} for {pair!r}."

    def distinguishes() -> None:
        scores = scores_of([(TEXTS[0], text) for text in TEXTS[:4]])
        if len(set(scores)) == 1:
            raise Remark(f"All passages have the score {scores[0]:g}.")
        if scores.index(max(scores)) != 0:
            raise Remark(
                "A passage that is the query itself does not have the highest score. Is higher better?"
            )

    return Contract(
        scores_of,
        PAIRS,
        "pair",
        "score",
        {
            "gives every pair one finite score": PAIRS,
            "accepts an empty query and an empty passage": [("", TEXTS[0]), ("a", "")],
            "accepts a very long passage": [(QUESTIONS[0], " ".join(TEXTS) * 100)],
        },
        difference,
        tuple(_WAYS),
        more=[("distinguishes passages, with the query itself first", distinguishes)],
    )


def rewriter_contract(config: RewriterConfig) -> Contract:
    """What a rewriter promises: texts that differ are only noted, as the first ones are kept."""

    def rewritten(texts: Sequence[str]) -> list[str]:
        with _fresh_tools() as tools:
            return [query.text for query in REWRITERS.make(config).run(_queries(texts), tools)]

    def says_something() -> None:
        for question, text in zip(QUESTIONS, rewritten(QUESTIONS), strict=True):
            if not text.strip():
                raise Remark(f"The text for {question!r} is empty: a retriever finds nothing for it.")

    return Contract(
        rewritten,
        QUESTIONS,
        "question",
        "text",
        {"gives every question one text": QUESTIONS, "accepts an empty question": [""]},
        lambda _, one, other: "" if one == other else ". The first ones are kept under the version.",
        ("when called again", "alone and among others"),
        Remark,
        [("returns text for every question", says_something)],
    )


def chunker_contract(config: ChunkerConfig) -> Contract:
    """What a chunker promises."""
    documents = [
        Document(name, text, (), sha256(text.encode()).hexdigest()) for name, text in DOCUMENTS.items()
    ]

    def cut(documents: Sequence[Document]) -> list[list[Chunk]]:
        return [chunk_documents([document], config) for document in documents]

    def covers() -> None:
        pairs = zip(documents, cut(documents), strict=True)
        left_out = {document.doc_id: _left_out(document, chunks) for document, chunks in pairs}
        if total := sum(left_out.values()):
            worst = max(left_out, key=lambda name: left_out[name])
            raise Remark(
                f"{total:,} characters are in no chunk, {left_out[worst]:,} of them in the text {worst!r}. "
                "What no chunk covers cannot be found, and counts as a loss."
            )

    def no_giant() -> None:
        longest = max((chunk for chunks in cut(documents) for chunk in chunks), key=lambda c: len(c.text))
        if len(longest.text) > _LONGEST_CHUNK:
            raise Remark(
                f"The longest chunk has {len(longest.text):,} characters, in the text {longest.doc_id!r}."
            )

    return Contract(
        cut,
        documents,
        "text",
        "cut",
        {f"cuts by offsets: {document.doc_id}": [document] for document in documents},
        lambda document, one, other: "" if one == other else f": {document.doc_id}.",
        more=(("covers all text", covers), ("gives no chunk of more than 8,000 characters", no_giant)),
    )


def _left_out(document: Document, chunks: Sequence[Chunk]) -> int:
    """How many characters, white space apart, are in no chunk."""
    covered = bytearray(len(document.text))
    for chunk in chunks:
        for start, end in chunk.spans:
            covered[start:end] = b"\1" * (end - start)
    return sum(not seen and not c.isspace() for c, seen in zip(document.text, covered, strict=True))


def parser_contract(config: ParserConfig, files: Sequence[Path]) -> Contract:
    """What a parser promises of the user's files; raises ConfigError if it reads none of them."""
    own = [path for path in files if path.suffix.lower() in suffixes_of(config)]
    if not own:
        raise ConfigError(
            f"parser: none of the files has an extension that it reads ({', '.join(suffixes_of(config))}). "
            "Give one with --file, and list its extension in suffixes."
        )

    def read(paths: Sequence[Path]) -> list[ParsedDocument]:
        return [parse_document(DocumentFile(document_id(path.stem), path), config) for path in paths]

    def is_legible() -> None:
        for stats in (parsed.stats for parsed in read(own)):
            if stats.suspect_characters:
                raise Remark(
                    f"{stats.suspect_characters:,} of {stats.characters:,} characters are undecodable, "
                    "control or private-use characters."
                )

    def difference(path: Path, one: ParsedDocument, other: ParsedDocument) -> str:
        first, second = one.document.text, other.document.text
        shorter = min(len(first), len(second))
        at = next((i for i in range(shorter) if first[i] != second[i]), shorter)
        shown = f"at offset {at} {first[at : at + 20]!r} and {second[at : at + 20]!r}"
        return "" if one.document == other.document else f", {path.name}: {shown}."

    return Contract(
        read,
        own[:1],
        "file",
        "text",
        {f"reads {path.name}": [path] for path in own},
        difference,
        more=[("gives characters that can be read", is_legible)],
    )


@contextmanager
def _fresh_tools() -> Iterator[RunTools]:
    """The tools of a run that knows nothing of earlier ones."""
    with TemporaryDirectory() as folder, Context.at(Path(folder), Silent()) as context:
        yield RunTools(context)


def _passages(texts: Sequence[str]) -> Passages:
    """Passages as a setting hands them to its retriever."""
    ids = tuple(f"d{i}:0-{len(text)}" for i, text in enumerate(texts))
    key = sha256("\0".join(texts).encode()).hexdigest()
    return Passages(ids, tuple(texts), tuple(map(len, texts)), key)


def _queries(texts: Sequence[str]) -> list[Query]:
    """Queries by the names q1, q2 and so on."""
    return [Query(f"q{i}", text, "train") for i, text in enumerate(texts, 1)]


CONTRACTS: Mapping[str, Callable[..., Contract]] = {
    "retriever": retriever_contract,
    "reranker": reranker_contract,
    "rewriter": rewriter_contract,
    "chunker": chunker_contract,
    "parser": parser_contract,
}
