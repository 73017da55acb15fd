"""The configurations to begin with, every line explained; what suits the documents is chosen here."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.labels.scaffold.folder_summary import TextFacts

ENGLISH_MODEL = "embedded:all-MiniLM-L6-v2"
MULTILINGUAL_MODEL = "intfloat/multilingual-e5-small"
_PREFIXES = ', query_prefix: "query: ", passage_prefix: "passage: "'
# the share of characters in tables from which rows are worth a chunking of their own
_MANY_TABLES = 0.1


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of the files of a benchmark, as a configuration names them."""

    name: str
    documents: tuple[str, ...]
    folder: Path
    cache: str = ""
    results: str = ""

    def at(self, name: str) -> str:
        """A file of its folder, quoted for YAML."""
        return quoted(self.folder / name)


def name_of(folder: Path) -> str:
    """A name for results that a configuration may have."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-._")[:60]
    return name or "mine"


def quoted(value: object) -> str:
    """A value as YAML, whatever letters it holds."""
    return json.dumps(str(value), ensure_ascii=False)


def needs_other_model(facts: TextFacts) -> bool:
    """Whether the embedded model, which reads English, does not suit the documents."""
    return facts.language not in ("English", "")


def bench_text(facts: TextFacts, paths: Paths, download: bool = True) -> str:
    """The configuration of a benchmark; without ``download`` it names only models that are installed."""
    dense = download or not needs_other_model(facts)
    parts = [
        f"# Written by harness init. Run it with: harness bench {paths.folder / 'bench.yaml'}\n",
        "# Paths are relative to the folder in which harness is run.\n",
        f"name: {paths.name}   # the folder of the results\n",
        f"documents: {_globs(paths.documents)}   # what is searched\n",
        "on_bad_document: skip   # a file that cannot be read is left out and named; fail: it ends the run\n",
        f"queries: {paths.at('queries.csv')}   # the questions\n",
        f"labels: {paths.at('labels.csv')}   # which passages answer them: graded spans of the documents\n",
        _chunks(facts),
        _settings(facts, dense),
        "relevance: {judge: labels}   # people grade; a language model can: docs/judge.md\n",
        _measures(facts),
        f"cache: {quoted(paths.cache) if paths.cache else paths.at('.cache')}   # what was computed\n",
        f"results: {quoted(paths.results) if paths.results else paths.at('results')}   # tables and "
        "report.html, in a folder named as above\n",
    ]
    return "".join(parts)


def steps_text(facts: TextFacts, paths: Paths, download: bool = True) -> str:
    """The configuration of a test set that is made step by step."""
    language = "zh" if facts.language == "Chinese" else "en"
    model = ENGLISH_MODEL
    more = ""
    if needs_other_model(facts):
        model, more = MULTILINGUAL_MODEL, _PREFIXES
    embed = f"embed: {{model: {quoted(model)}{more}}}   # the retriever by meaning that helps to gather\n"
    if needs_other_model(facts) and not download:
        embed = f"# {embed}"
    return (
        "# How the test set in this folder is made: harness testset, docs/testset.md.\n"
        "# Paths are relative to the folder in which harness is run.\n"
        f"documents: {_globs(paths.documents)}   # what the questions are about\n"
        "on_bad_document: skip   # a file that cannot be read is left out and named\n"
        f"language: {language}   # of the prompts: en or zh; questions are in the language of the "
        "documents\n"
        "questions: 60   # how many to propose\n"
        "chosen: 34   # how many to keep; a verdict needs 30 that can be answered\n"
        "passages: 9   # how many to gather for each; 34 x 9 take a person about an hour to grade\n"
        f"{embed}"
        f"cache: {paths.at('.cache')}   # parsed documents, vectors, and every paid answer "
        "(judgments.sqlite)\n"
        f"results: {paths.at('results')}   # of a benchmark on what is exported\n"
        "# A language model that proposes, grades and answers, where you have one. Without it, questions "
        "are\n"
        "# drafted from headings, tables and sentences (propose --offline), and people do the rest.\n"
        "# llm:\n"
        "#   endpoint: {model: gpt-4o-2024-08-06, api_key_env: OPENAI_API_KEY}   # the name of the "
        "variable\n"
        "#   prices: {gpt-4o-2024-08-06: {input: 2.5, output: 10.0}}   # per million tokens; look yours "
        "up\n"
        "#   max_cost: 5.0   # the most that one step may spend\n"
    )


def _globs(patterns: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, patterns))}]"


def _chunks(facts: TextFacts) -> str:
    """Two sizes, and rows where tables are a good part of the text."""
    why = "two lengths of chunks are compared, in characters"
    sizes = "[500, 1000]"
    if facts.is_cjk:
        sizes, why = "[200, 400]", "two lengths, in characters; one of these says more than a Latin letter"
    cutter = "sentence" if facts.is_cjk else "recursive"
    if facts.table_share < _MANY_TABLES:
        return f"chunk: {{kind: {cutter}, chunk_size: {sizes}}}   # {why}\n"
    smaller = sizes.strip("[]").split(",")[0]
    return (
        f"chunk:   # {why}; and tables row by row\n"
        f"  - {{kind: {cutter}, chunk_size: {sizes}}}\n"
        f"  - {{kind: rows, chunk_size: {smaller}}}   # {facts.table_share:.0%} of the text is in "
        "tables\n"
    )


def _settings(facts: TextFacts, dense: bool) -> str:
    words = "by words: pairs of characters" if facts.is_cjk else "by words"
    lines = ["settings:   # each is tried with every chunk above, and returns the same amount of text\n"]
    bm25 = "{kind: bm25, top_chars: 10000}"
    lines.append(f"  - retrieve: &words {bm25}   # {words}\n")
    if not dense:
        lines.append(
            f"  # Without a model that reads {facts.language or 'the language'} nothing is searched by "
            "meaning. With"
            " one, add:\n"
            "  # - retrieve: &dense "
            f"{{kind: chroma, model: {quoted(MULTILINGUAL_MODEL)}{_PREFIXES}, top_chars: 10000}}\n"
            "  # - retrieve: {kind: minmax, top_chars: 10000, routes: [*dense, *words]}\n"
        )
        # two different ones, so that there is something to compare
        lines.append(
            "  - retrieve: {kind: bm25, top_chars: 10000, method: bm25+}   # by words, another formula\n"
        )
        return "".join(lines)
    model, why = f"model: {quoted(ENGLISH_MODEL)}", "by meaning; the model is installed and reads English"
    if needs_other_model(facts):
        model = f"model: {quoted(MULTILINGUAL_MODEL)}{_PREFIXES}"
        why = "by meaning; fetched from the hub once, or name a local folder"
    lines.append(f"  - retrieve: &dense {{kind: chroma, {model}, top_chars: 10000}}   # {why}\n")
    lines.append("  - retrieve: {kind: minmax, top_chars: 10000, routes: [*dense, *words]}   # by both\n")
    return "".join(lines)


def _measures(facts: TextFacts) -> str:
    unit, depth = ("_tokens", 1250) if facts.is_cjk else ("", 5000)
    reading = ", ".join(
        f"{name}@{depth}"
        for name in (f"ndcg_evidence{unit}", f"ndcg_evidence{unit}_upper", f"judged_text{unit}")
    )
    return (
        f"measures: [ndcg_exp@10, {reading}, recall@10, judged@10]"
        "   # the second one compares chunk sizes; docs/measures.md\n"
    )
