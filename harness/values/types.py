"""The values that flow through the pipeline. Standard library only; frozen, slotted, compared by value."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from harness.values.columns import Column, id_of_query

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation")
MAX_GRADE = 4
# The score of a chunk that a reranker did not score: it keeps its place below all scored ones.
NOT_SCORED = float("-inf")
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Document:
    """The extracted text of one file; every span refers to it.

    ``page_starts[i]`` is the character offset at which page ``i + 1`` begins (empty for unpaged text);
    ``sha256`` is the hash of ``text`` in UTF-8 (lone surrogates passed through).
    """

    doc_id: str
    text: str
    page_starts: tuple[int, ...]
    sha256: str

    def page_of(self, offset: int) -> int | None:
        """The 1-based page that holds the character at ``offset``; None for unpaged text."""
        return bisect_right(self.page_starts, offset) if self.page_starts else None

    def page_span(self, page: int) -> tuple[int, int]:
        """The half-open character range of a 1-based page; raises IndexError when there is no such page."""
        if not 1 <= page <= len(self.page_starts):
            raise IndexError(f"{self.doc_id} has {len(self.page_starts)} pages, not page {page}")
        last = page == len(self.page_starts)
        return self.page_starts[page - 1], len(self.text) if last else self.page_starts[page]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A half-open character range of a document, and ranges of the document shown before it.

    ``before`` are ranges that many chunks repeat, such as the heading row of a table above each of its rows:
    in the order of the text, apart from each other, and before ``start``. ``text`` is the slices of ``spans``
    joined, always; without ``before`` it is ``document.text[start:end]``.
    """

    chunk_id: str
    doc_id: str
    start: int
    end: int
    text: str
    before: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, document: Document, start: int, end: int, before: tuple[tuple[int, int], ...] = ()) -> Chunk:
        """Slice ``document`` by offsets; the id is ``doc:start-end``, or ``doc:0-20+start-end``."""
        spans = (*before, (start, end))
        name = "+".join(f"{first}-{last}" for first, last in spans)
        text = "".join(document.text[first:last] for first, last in spans)
        return cls(f"{document.doc_id}:{name}", document.doc_id, start, end, text, before)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """All ranges of the document that it shows, in their order."""
        return (*self.before, (self.start, self.end))


@dataclass(frozen=True, slots=True)
class Query:
    """One information need. ``answerable`` is False if the documents are known to hold no answer.

    ``cluster`` names what it is tested with, because its questions are alike; '' where the file does not say.
    """

    query_id: Annotated[str, Column("its id, without spaces", read=id_of_query)]
    text: Annotated[str, Column("the query", filled=True)]
    split: Annotated[Split, Column("`train` or `validation`; not needed if the configuration divides them")]
    answerable: Annotated[bool, Column("whether the documents hold an answer")] = True
    cluster: Annotated[str, Column("the group of queries that it is tested with, as they are alike")] = ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A graded span of a document for a query.

    ``grade`` is 0..4, or None for *not scored* (never 0). Judgments of one query that share a non-empty
    ``evidence`` name are copies of one fact. ``source`` says where it comes from (a label file, a ledger),
    ``judge`` who graded (``human``, a model name), ``prompt_sha`` the hash of the prompt ('' for people).
    ``answer`` is the part of the span that answers, a half-open range of the document; None: all of it.
    """

    query_id: str
    doc_id: str
    start: int
    end: int
    grade: int | None
    evidence: str = ""
    source: str = ""
    judge: str = ""
    prompt_sha: str = ""
    answer: tuple[int, int] | None = None

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What is graded: the query, the document, and the range of its text."""
        return self.query_id, self.doc_id, self.start, self.end


def most_frequent(grades: Sequence[int]) -> int:
    """The most frequent grade; of equals the lower, as doubt goes to the lower grade."""
    counts = Counter(grades)
    return min(counts, key=lambda grade: (-counts[grade], grade))


def vote_of(grades: Sequence[int | None]) -> int | None:
    """The most frequent grade of raters; None unless more than half of them have given one."""
    votes = [grade for grade in grades if grade is not None]
    return most_frequent(votes) if 2 * len(votes) > len(grades) else None


@dataclass(frozen=True, slots=True)
class LlmCall:
    """One call of a language model: everything that can change its answer.

    ``query`` and ``passages`` are the texts that the prompt shows. ``sample`` numbers the repetitions of the
    same question.
    """

    query: str
    passages: tuple[str, ...]
    prompt_sha: str
    model: str
    parameters: dict[str, Any]
    sample: int


@dataclass(frozen=True, slots=True)
class LlmAnswer(LlmCall):
    """One try of a call and its outcome, as a ledger keeps it.

    ``raw`` is the text of the answer. ``grades`` has one grade per passage where a judge was asked and could
    be read. ``reason`` says why an answer cannot be used ('' where it can), ``raw`` then the message of the
    endpoint. ``settled``: the call need not be tried again. ``price`` is None when unknown; ``seconds``
    is the time of the call. ``finish`` is the endpoint's word for why the answer has ended, None if
    nothing was answered or, in old records, where it was not kept; ``logprobs`` are the log probabilities of
    its tokens as the endpoint wrote them, where they were asked for.
    """

    settled: bool
    grades: tuple[int, ...] | None
    reason: str
    raw: str
    prompt_tokens: int | None
    completion_tokens: int | None
    price: float | None
    seconds: float
    request_id: str
    served_model: str
    finish: str | None = field(default=None, kw_only=True)
    logprobs: list[dict[str, Any]] | None = field(default=None, kw_only=True)

    @property
    def usable(self) -> bool:
        """Whether it has grades or, for a prompt that asks for words, is a text without a fault."""
        return self.grades is not None or not self.reason


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked chunks of one query. The order of ``chunk_ids`` is the rank order and is authoritative.

    A score is NOT_SCORED where the last stage did not score the chunk.
    """

    query_id: str
    chunk_ids: tuple[str, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a ranking that cannot be scored: unequal lengths, a chunk ranked twice, a NaN score."""
        if len(self.chunk_ids) != len(self.scores):
            raise ValueError(f"{self.query_id}: {len(self.chunk_ids)} chunks, {len(self.scores)} scores")
        if len(set(self.chunk_ids)) != len(self.chunk_ids):
            raise ValueError(f"{self.query_id}: a chunk occurs more than once in its ranking")
        if any(score != score for score in self.scores):
            raise ValueError(f"{self.query_id}: a score is NaN")

    @classmethod
    def by_score(cls, query_id: str, chunk_ids: Sequence[str], scores: Sequence[float]) -> Ranking:
        """Order by score, highest first; equal scores keep the order given (the earlier stage's order).

        Raises ValueError unless there is a score for each chunk.
        """
        pairs = sorted(zip(chunk_ids, scores, strict=True), key=lambda pair: -pair[1])
        return cls(query_id, tuple(chunk for chunk, _ in pairs), tuple(float(score) for _, score in pairs))


ANSWER = "answer"
"""The stage of scores of answers; the others are those of rankings."""
Details = Mapping[str, Any]
_NO_DETAILS: Details = {}


@dataclass(frozen=True, slots=True)
class QueryScore:
    """The value of one measure for one query under one setting; None if it is undefined or not known.

    For an answer that has none, ``reason`` says why, and ``failed`` that there is one, but it is not known,
    as a call has failed. ``details`` is JSON-able: the statements with their verdicts, and whatever else led
    to the value.
    """

    setting: str
    stage: str
    query_id: str
    measure: str
    value: float | None
    reason: str = ""
    details: Details = field(default_factory=lambda: _NO_DETAILS)
    failed: bool = False


WarningKind = Literal[
    "text",
    "questions",
    "labels",
    "chunks",
    "depth",
    "parsers",
    "language",
    "prefixes",
    "judge",
    "model calls",
    "cache",
    "precision",
    "hits",
    "tuning",
]


@dataclass(frozen=True, slots=True)
class ResultWarning:
    """A warning that bears on numbers of a result, and goes wherever they go.

    ``measures`` and ``settings`` are those whose numbers it bears on; empty: all. ``text`` is made of
    ``code`` and ``values`` by the tables of sentences; results of older versions have the text alone.
    """

    kind: WarningKind
    text: str
    measures: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    code: str = field(default="", compare=False)
    values: Mapping[str, str | int] = field(default_factory=dict, compare=False)

    def bears_on(self, measure: str) -> bool:
        """Whether it bears on the values of a measure."""
        return not self.measures or measure in self.measures


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything needed to know how a result came about; written next to it as ``record.json``.

    ``date`` is when the run began (UTC, ISO 8601), ``config_sha256`` the hash of the configuration file's
    bytes ('' where there was none). ``engine`` names the workers of a cluster; empty for this process.
    ``warnings`` are all that bear on its numbers, in the order of the run.
    """

    config: dict[str, Any]
    hashes: dict[str, str]
    versions: dict[str, str]
    models: dict[str, dict[str, Any]]
    seeds: dict[str, int]
    timings: dict[str, float]
    counts: dict[str, Any]
    judge: dict[str, Any] = field(default_factory=dict)
    cost: dict[str, Any] = field(default_factory=dict)
    git: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)
    date: str = ""
    config_sha256: str = ""
    warnings: tuple[ResultWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Slot:
    """The folder of an index on disk, for one reader.

    Unless ``built``, its builder calls ``finish`` once it is complete, and calls ``filled`` with the
    seconds that filling took, wherever the index lies, and its bytes, None if unknown.
    """

    path: Path
    built: bool
    finish: Callable[[], None]
    filled: Callable[[float, int | None], None] = lambda seconds, size: None


BY = "@"


def by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key, keys and values in the order of the pairs."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def text_id(doc_id: str, parser: str) -> str:
    """The id of the text that ``parser``, a name without ``@``, has made of a document."""
    return f"{doc_id}{BY}{parser}"


def document_of(text: str) -> str:
    """The document of such a text; of an id without a parser the id itself."""
    return text.rpartition(BY)[0] or text
