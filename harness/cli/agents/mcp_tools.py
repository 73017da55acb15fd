"""The tools that `harness mcp` serves: thin functions over what the commands of the same name do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from harness import __version__, comparison, labels, report, running
from harness.cli.agents.permits import Permits
from harness.cli.agents.progress_notices import ProgressNotices
from harness.cli.commands.bench import estimate_of, facts_of, settings_table
from harness.cli.commands.show import worst_of
from harness.store import os_error_line
from harness.values import ConfigError, HarnessError, Silent

T = TypeVar("T")
Answer = dict[str, Any]
_MOST = 50
_INSTRUCTIONS = """\
Measures how well settings of a retrieval pipeline find labelled evidence in the user's documents.
Begin with `validate` on a configuration (a YAML file below {root}), then `estimate` what it would
cost, then `bench`; `verdict` and `worst_queries` read results that are there, and `find_evidence`
finds passages to label. Nothing outside {root} is read; {left:g} may be spent.
"""


def serve(permits: Permits) -> None:
    """Serve the tools over standard input and output until the client closes them."""
    permits.guard()
    server_of(permits).run("stdio")


def server_of(permits: Permits) -> Any:
    """The server with its tools; each refuses what ``permits`` do not allow."""
    tools = AgentTools(permits)
    server = MCPServer(
        "ndcg-harness",
        title="Retrieval ranking benchmarks",
        instructions=_INSTRUCTIONS.format(root=permits.root, left=permits.left),
        version=__version__,
        log_level="ERROR",
    )
    for name in ("validate", "estimate", "bench", "verdict", "worst_queries", "find_evidence"):
        server.add_tool(getattr(tools, name), name=name)
    return server


class AgentTools:
    """The tools, which work one at a time: a run takes the machine, and the folder is one."""

    def __init__(self, permits: Permits) -> None:
        self._permits, self._turn = permits, anyio.Lock()

    async def validate(self, config: str, context: Context) -> Answer:
        """Check a configuration, a YAML file, and say what a run of it would read, embed, ask and judge.

        Reads the documents and anchors the labels; embeds nothing and pays for nothing.
        """
        return await self._work(context, partial(self._validate, config))

    async def estimate(self, config: str, context: Context) -> Answer:
        """What a run would cost: calls, tokens and price of rewriting, endpoints, answers and judge.

        Spends nothing; searches only where a price depends on the results.
        """
        return await self._work(context, partial(self._estimate, config))

    async def bench(self, config: str, context: Context) -> Answer:
        """Run every setting of a configuration: which is best, by how much, and is it real?

        What was computed before is reused. Writes a folder of results with a page, report.html.
        """
        return await self._work(context, partial(self._bench, config))

    async def verdict(self, results: str, context: Context, measure: str | None = None) -> Answer:
        """The verdict on a folder of results: what to use, margin, test, caveats and next steps.

        By its headline, or by the measure named, such as `ndcg_exp@10`.
        """
        return await self._work(context, partial(self._verdict, results, measure))

    async def worst_queries(
        self, results: str, context: Context, count: int = 10, setting: str | None = None
    ) -> Answer:
        """The worst queries of a setting: what should have been found, its rank, and what was ranked first.

        Of the setting to use, or of the one named.
        """
        return await self._work(context, partial(self._worst_queries, results, count, setting))

    async def find_evidence(self, config: str, text: str, context: Context, count: int = 10) -> Answer:
        """Passages of a configuration's documents for a question or a quote, to label them or to read them.

        Exact matches come first, then passages that share words with it, with document, page and offsets.
        """
        return await self._work(context, partial(self._find_evidence, config, text, count))

    async def _work(self, context: Context, work: Callable[[ProgressNotices], T]) -> T:
        """Do it in a thread, with notices of progress; raises ToolError with the command's sentence."""
        loop = asyncio.get_running_loop()

        def send(done: float, line: str) -> None:
            asyncio.run_coroutine_threadsafe(context.report_progress(done, None, line), loop)

        async with self._turn:
            try:
                return await anyio.to_thread.run_sync(work, ProgressNotices(send))
            except HarnessError as error:
                raise ToolError(str(error)) from None
            except OSError as error:
                raise ToolError(os_error_line(error)) from None

    def _validate(self, name: str, notices: ProgressNotices) -> Answer:
        config = self._permits.config(name)
        plan = running.make_plan(config, notices)
        facts = {key: str(value) for key, value in facts_of(config, plan)}
        return {
            "name": config.name,
            "facts": facts,
            "settings": _rows(settings_table(plan)),
            **_said(notices),
        }

    def _estimate(self, name: str, notices: ProgressNotices) -> Answer:
        config = self._permits.config(name)
        before, pairs, after = estimate_of(running.make_plan(config, notices, search=True))
        return {
            "lines": [*before, *after],
            "pairs_to_judge": dict(pairs),
            "left": self._permits.left,
            **_said(notices),
        }

    def _bench(self, name: str, notices: ProgressNotices) -> Answer:
        config = self._permits.config(name)
        cap = self._permits.cap(config)
        # at its highest while it runs, and for good: what was spent of it is in its record
        self._permits.spent += cap
        run = running.run_or_reuse(config, notices, again=False)
        if run.results is None:
            self._permits.spent -= cap
        return {
            "results": self._shown(run.folder),
            "page": self._shown(run.folder / report.REPORT),
            "unchanged_since": str(run.date) if run.results is None else None,
            "left": self._permits.left,
            **_verdict_on(run.folder, None),
            **_said(notices),
        }

    def _verdict(self, results: str, measure: str | None, notices: ProgressNotices) -> Answer:
        return _verdict_on(self._permits.inside(results), measure)

    def _worst_queries(
        self, results: str, count: int, setting: str | None, notices: ProgressNotices
    ) -> Answer:
        table = worst_of(self._permits.inside(results), _count(count), setting)
        return {"title": table.title, "queries": _rows(table), "notes": list(table.notes)}

    def _find_evidence(self, name: str, text: str, count: int, notices: ProgressNotices) -> Answer:
        config = self._permits.config(name)
        if not text.strip():
            raise ConfigError("text is empty: give words of the passage, or of the query.")
        with running.Session.at(config.cache, Silent(), may_ask=False) as session:
            documents = running.load_documents(config, session.document_reader, "")
            passages = labels.find_evidence(text, documents, running.Running(session), _count(count), "")
        return {
            "passages": [
                {
                    "document": passage.doc_id,
                    "page": passage.page,
                    "start": passage.start,
                    "end": passage.end,
                    "match": passage.origin,
                    "text": passage.text,
                }
                for passage in passages
            ]
        }

    def _shown(self, path: Path) -> str:
        """A path as a tool takes it again."""
        return path.resolve().relative_to(self._permits.root).as_posix()


def _count(count: int) -> int:
    if not 1 <= count <= _MOST:
        raise ConfigError(f"count is {count}; it can be from 1 to {_MOST}.")
    return count


def _verdict_on(folder: Path, measure: str | None) -> Answer:
    """The verdict in words and values; where there is none, the reason."""
    if measure is None:
        report.read_result(folder)
    try:
        stored, taken = running.read_to_compare([folder], "final", measure)
        names = comparison.names_of([folder])
        named = {names[0]: stored[folder]}
        verdict = comparison.verdict_of(comparison.scores_of(named, taken))
    except HarnessError as error:
        if measure is not None:
            raise
        return {"words": [f"There is no verdict: {error}"], "verdict": None}
    return {
        "words": list(comparison.sentences_of(verdict)),
        "verdict": dict(comparison.verdict_json(verdict)),
    }


def _rows(table: report.Table) -> list[dict[str, str]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _said(notices: ProgressNotices) -> Answer:
    """What a run has to say besides its results."""
    return {"notes": notices.notes, "warnings": notices.warnings}
