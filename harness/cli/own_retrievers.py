"""Score a retriever of one's own from Python: ``harness.evaluate`` and ``harness.score_hits``."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import data, running
from harness.cli.api import Folder, Results
from harness.cli.given_inputs import GivenInputs, Table, records_of
from harness.values import ConfigError, HarnessError, Query, Reporter, Silent

CACHE = Path(".cache/harness")
DEPTH = 20


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How hits are placed in the documents and scored; refuses what does not fit with ConfigError.

    ``threshold`` is the likeness, 0 to 100, from which on text is found; the others are as ``evaluate`` has
    them.
    """

    measures: Sequence[str] | None
    cache: Path
    parser: str
    threshold: float
    other_documents: str
    on_bad_document: str

    def __post_init__(self) -> None:
        """Refuse a threshold or a way with other documents that there is not."""
        if not 0 <= self.threshold <= 100:
            raise ConfigError(f"threshold is {self.threshold:g}; it must be from 0 to 100.")
        if self.other_documents not in ("fail", "keep"):
            raise ConfigError(f"other_documents is {self.other_documents!r}; it can be fail or keep.")


def evaluate(
    retriever: Any,
    queries: Table,
    labels: Table,
    documents: Any,
    *,
    name: str | None = None,
    depth: int = DEPTH,
    measures: Sequence[str] | None = None,
    results: Folder = "results",
    cache: Folder = CACHE,
    parser: str = "pypdf",
    threshold: float = 90.0,
    other_documents: str = "fail",
    on_bad_document: str = "fail",
    progress: bool = False,
    reporter: Reporter | None = None,
) -> Results:
    """Ask a retriever every query and score what it returns, as ``harness score --hits`` does.

    ```python
    results = harness.evaluate(mine, queries="queries.csv", labels="labels.csv", documents="docs/*.pdf")
    print(results.verdict)
    harness.evaluate({"now": retriever, "new": index}, queries=…, labels=…, documents=…)  # one verdict
    ```

    ``retriever`` is a function from a query to what it returns (texts, dicts, pairs of text and score), also
    an async one; a retriever, vector store or chain of LangChain; a retriever or index of LlamaIndex; a
    component or pipeline of Haystack; a collection of Chroma; a table of LanceDB; ``harness.Collection`` for
    what needs an embedder; or a dict of several by name. ``depth`` is how many passages are asked for where
    a retriever takes such a number. ``queries`` and ``labels`` are files, DataFrames or lists of dicts with
    the columns of docs/own-documents.md, queries also a dict of texts by id; ``documents`` are paths or
    patterns, or a dict of texts by name. What is given in memory is written to ``results/<name>.inputs/``,
    with the hits, so that the files can be scored again.

    Each query is asked once, one after the other, and its time is in ``latency.csv`` and on the page. Raises
    HarnessError where a retriever fails, with the query, ConfigError for an object of an unknown shape.
    """
    retrievers = _by_name(
        "evaluate", retriever if isinstance(retriever, Mapping) else {_name_of(retriever): retriever}
    )
    searches = {label: data.search_of(named, depth) for label, named in retrievers.items()}
    inputs = GivenInputs(name, Path(results), queries, labels, documents, list(searches))
    # what is wrong with an option is said before anything is asked, which may cost money
    options = ScoringOptions(measures, Path(cache), parser, threshold, other_documents, on_bad_document)
    shown = _reporter(progress, reporter)
    score = _scoring(inputs, shown, options)
    questions = inputs.checked_queries()
    return score({label: _ask_all(label, search, questions, shown) for label, search in searches.items()})


def score_hits(
    rows: Any,
    queries: Table,
    labels: Table,
    documents: Any,
    *,
    name: str | None = None,
    measures: Sequence[str] | None = None,
    results: Folder = "results",
    cache: Folder = CACHE,
    parser: str = "pypdf",
    threshold: float = 90.0,
    other_documents: str = "fail",
    on_bad_document: str = "fail",
    progress: bool = False,
    reporter: Reporter | None = None,
) -> Results:
    """Score existing hits, as ``harness score --hits`` does; returns the results.

    ``rows`` is a DataFrame, a list of dicts or a file with the columns of docs/hits.md (query_id; rank or
    score; text, or document with page or start and end), or a dict of several of them by name. The rest is as
    for ``evaluate``.
    """
    tables = _by_name("score_hits", rows if isinstance(rows, Mapping) else {"hits": rows})
    hits = {label: records_of("rows", table) for label, table in tables.items()}
    inputs = GivenInputs(name, Path(results), queries, labels, documents, list(hits))
    options = ScoringOptions(measures, Path(cache), parser, threshold, other_documents, on_bad_document)
    return _scoring(inputs, _reporter(progress, reporter), options)(hits)


def _by_name(function: str, entries: Mapping[Any, Any]) -> dict[str, Any]:
    """Retrievers or hits by their names as text; raises ConfigError for none, and for a name used twice."""
    named = {str(name): entry for name, entry in entries.items()}
    if not named:
        raise ConfigError(f"{function}: no {'retriever is' if function == 'evaluate' else 'hits are'} given.")
    if "" in named:
        raise ConfigError(f"{function}: a name is empty. The results list each by its name.")
    if len(named) < len(entries):
        names = ", ".join(map(repr, entries))
        raise ConfigError(f"{function}: two of the names {names} are the same as text. Rename one.")
    return named


def _name_of(retriever: Any) -> str:
    """The name of a single retriever: that of its function or class."""
    words = getattr(retriever, "__name__", "") or type(retriever).__name__
    return re.sub(r"[^\w.-]+", "", words) or "retriever"


def _reporter(progress: bool, reporter: Reporter | None) -> Reporter:
    if reporter is None and progress:
        from harness.cli.notebook import progress_shown

        return progress_shown()
    return reporter or Silent()


def _ask_all(
    name: str, search: Callable[[str], Any], queries: Sequence[Query], reporter: Reporter
) -> list[dict[str, Any]]:
    """The hits of every query as rows, with rank and seconds; raises HarnessError where it fails."""
    rows: list[dict[str, Any]] = []
    with _event_loop() as wait, reporter.task(f"{name}: search", len(queries)) as task:
        for query in queries:
            begin = time.perf_counter()
            try:
                returned = search(query.text)
                if inspect.isawaitable(returned) or inspect.isasyncgen(returned):
                    returned = wait(returned)
                # a generator searches while it is read
                returned = list(returned) if isinstance(returned, Iterator) else returned
                seconds = time.perf_counter() - begin
                hits = data.hits_of(returned)
            except ConfigError:
                raise
            except HarnessError as error:
                raise HarnessError(f"{name}, query {query.query_id}: the retriever {error}.") from None
            except Exception as error:
                raise HarnessError(
                    f"{name}, query {query.query_id}: the retriever failed with {type(error).__name__}: "
                    f"{error}. Nothing was scored: a failed search is not an empty one."
                ) from error
            rows += [
                {"query_id": query.query_id, "rank": rank, **hit, "seconds": round(seconds, 6)}
                for rank, hit in enumerate(hits, start=1)
            ]
            task.advance(1)
    if not rows:
        raise HarnessError(f"{name}: the retriever returned nothing for any of {len(queries)} queries.")
    return rows


@contextmanager
def _event_loop() -> Iterator[Callable[[Any], Any]]:
    """One event loop for all queries of an async retriever, whose client belongs to the loop it met first.

    It has a thread of its own, because a notebook runs a loop in this one.
    """
    from concurrent.futures import ThreadPoolExecutor

    async def result_of(answer: Any) -> Any:
        return [hit async for hit in answer] if inspect.isasyncgen(answer) else await answer

    runner = asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:
        try:
            yield lambda awaitable: thread.submit(runner.run, result_of(awaitable)).result()
        finally:
            thread.submit(runner.close).result()


def _scoring(
    inputs: GivenInputs, reporter: Reporter, options: ScoringOptions
) -> Callable[[Mapping[str, Sequence[Mapping[str, Any]]]], Results]:
    """How rows of hits by name are written and scored; raises ConfigError for options that do not fit."""
    from harness.cli.hit_files import hits_config

    config = hits_config(
        inputs.hits,
        name=inputs.name,
        documents=inputs.patterns,
        queries=inputs.queries,
        labels=inputs.labels,
        cache=options.cache,
        results=inputs.results,
        parser=options.parser,
        on_bad_document=options.on_bad_document,
        measures=(options.measures,) if isinstance(options.measures, str) else options.measures,
    )

    def finish(folder: Path, results: Any) -> None:
        running.write_page(folder, reporter=reporter, name=config.name, results=results)

    def score(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Results:
        inputs.write(rows)
        keep_others = options.other_documents == "keep"
        _, folder = running.score_hits(config, options.threshold, keep_others, reporter, finish)
        return Results(folder)

    return score
