"""What steps ask for: texts to embed, pairs to score, prompts to ask, services, tables, indexes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.models import EncoderConfig, Request
from harness.values import LlmAnswer, Need, Query, Run, Slot

if TYPE_CHECKING:
    from harness.steps.custom.service import ServiceConfig
    from harness.steps.search.passages import Passages
    from harness.steps.search.retrieve.lexical import TermIds, Terms
    from harness.steps.search.step import RerankerConfig, RetrieverConfig

Whose = Literal["passages", "queries", "sample"]
Shape = Literal["vectors", "rows", "encodings"]


@dataclass(frozen=True, slots=True, eq=False)
class Texts(Need):
    """The encodings of texts, in their order.

    ``shape``: ``vectors`` float32 [texts, dimension]; ``rows``, the same of which a part is read at a time,
    as many may not fit in memory; or ``encodings`` as they are kept, read again at each iteration.
    ``whose``: texts of passages are encoded once, when they are indexed; those of queries whenever they are
    asked; those of a sample once, to check what others have indexed. ``key`` identifies those of passages.
    """

    wait = 2
    encoder: EncoderConfig
    texts: Sequence[str]
    whose: Whose
    shape: Shape = "vectors"
    key: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PairScores(Need):
    """The scores of pairs by a model: lists of a query and its passages → a list of the scores of each."""

    wait = 3
    reranker: RerankerConfig
    lists: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Route(Need):
    """The result of another retriever for the same passages and queries, such as a route of a fusion."""

    name: str
    retriever: RetrieverConfig
    passages: Passages
    queries: Sequence[Query]


@dataclass(frozen=True, slots=True)
class Talked:
    """The answers about one thing in their order, and their cost, whichever run paid; None: no price."""

    answers: tuple[LlmAnswer, ...]
    cost: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Prompts(Need):
    """A request to a language model → what is answered about each thing, a list of `Talked`.

    ``talk`` identifies what the ``talk`` of the request does with answers, where it has one.
    """

    wait = 1
    request: Request
    talk: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Answers(Need):
    """The answers of a user-defined service to texts by their keys: facts of each text → its answer.

    A request is filled with texts and what is ``given``; ``read`` checks the answer to it and gives one
    value a text; ``prepare`` is called before the first request. The value has the answers in the order of
    the texts.
    """

    wait = 1
    service: ServiceConfig
    texts: Sequence[tuple[Sequence[Any], str]]
    stage: str
    given: Mapping[str, Any]
    read: Callable[[Any, list[str]], Sequence[Any]]
    prepare: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, eq=False)
class OwnCode(Need):
    """Leave to call the user's own code."""

    ends_mention = True


@dataclass(frozen=True, slots=True, eq=False)
class Unwritten(Need):
    """Says that what follows rests on text that is not written yet; there is none but in plans."""


@dataclass(frozen=True, slots=True, eq=False)
class AllAtOnce(Need):
    """Says that what follows is done for all queries at once, so that one alone cannot be timed, and why.

    ``runs``: it is done now, so that a plan does not go on.
    """

    why: str
    runs: bool = True

    @property
    def ends_mention(self) -> bool:
        """Where it is done now."""
        return self.runs


@dataclass(frozen=True, slots=True, eq=False)
class Cells(Need):
    """The cells of a table by document and column, those of ``documents`` only.

    ``key`` is the column with the names of the documents. Raises ConfigError for a column that is not there
    and for a document with two rows.
    """

    file: Path
    key: str
    columns: Sequence[str]
    documents: Collection[str]


@dataclass(frozen=True, slots=True, eq=False)
class TableRows(Need):
    """The cells of a table row by row; raises ConfigError for a column that is not there."""

    file: Path
    columns: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints(Need):
    """A function that gives everything that decides a vector of an encoder besides the text."""


@dataclass(frozen=True, slots=True, eq=False)
class Index(Need):
    """An open index, on disk under a key made of ``facts``.

    ``opened`` gets its place on disk, builds what is not built there, and keeps it open for as long as it is
    used. ``there``: it is that of others, so that a plan may open it as well.
    """

    ends_mention = True

    facts: Sequence[Any]
    opened: Callable[[Slot], AbstractContextManager[Any]]
    there: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PriceOfIndex(Need):
    """The `IndexPrice` of the index under the key made of ``facts``, whichever run built it."""

    facts: Sequence[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Built(Need):
    """What is made once and used for every query, such as an index in memory; ``facts`` identify it."""

    ends_mention = True

    make: Callable[[], Any]
    facts: Any = ()


@dataclass(frozen=True, slots=True, eq=False)
class TermsOf(Need):
    """The terms of passages as numbers; texts whose terms are kept are not read again.

    ``read`` reads texts where it is not ``terms`` that does.
    """

    ends_mention = True

    terms: Terms
    passages: Passages
    read: Callable[[Sequence[str]], TermIds] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CheckOnly(Need):
    """What is found out only to check a result, such as the true nearest; None where nobody looks at it.

    ``there``: it is read and not computed, so that a plan may look at it.
    """

    ends_mention = True

    make: Callable[[], Any]
    there: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Cluster(Need):
    """What spreads a job over the workers of a cluster, a `Spread`; None where this process does all."""


@dataclass(frozen=True, slots=True, eq=False)
class Noted(Need):
    """Says something worth knowing."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Warned(Need):
    """Says something that bears on the result."""

    texts: Sequence[str]


def answers_of(request: Request) -> Run[list[LlmAnswer]]:
    """The answers of a language model in the order asked, as a step."""
    talks: list[Talked] = yield Prompts(request)
    return [talk.answers[0] for talk in talks]
