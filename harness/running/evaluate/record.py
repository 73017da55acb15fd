"""The run record: everything needed to know how a result came about."""

from __future__ import annotations

import math
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from harness import __version__
from harness.measures import ANSWER_MEASURES, LlmMeasure, SpanQrels, median_length
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.costs import endpoint_facts, rewriting_facts
from harness.running.evaluate.left_out import left_out
from harness.running.judging.pool import Judged
from harness.running.search import Searched
from harness.values import RunRecord, packages_in_use

_PACKAGES = (
    "chromadb",
    "langchain-text-splitters",
    "numpy",
    "openai",
    "pypdf",
    "pypdfium2",
    "rapidfuzz",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)
CONVENTIONS = (
    "gain: exponential 2^g-1 (ndcg_exp) and linear g (ndcg_lin); discount log2(rank+1)",
    "ideal: the best k of all judged items of the query, not of what was retrieved",
    "rank order is authoritative; ties keep the earlier stage's order",
    "a query without a ranking scores 0 and counts; one without relevant text has no NDCG and is counted "
    "separately",
    "unjudged text has gain 0 in the headline measure; judged@k says how much was judged",
    "text or evidence that was already read earns nothing more",
    "a failed judgment is not a grade",
)


def make_record(
    config: BenchConfig, corpus: Corpus, searched: Sequence[Searched], judged: Judged, context: Context
) -> RunRecord:
    """Make the record of a run."""
    faults = context.faults.sentences()
    return RunRecord(
        config=config.model_dump(mode="json"),
        hashes=corpus.hashes,
        versions={"python": platform.python_version(), **_versions()},
        models={name: dict(facts) for name, facts in context.models().items()},
        seeds={"bootstrap": config.bootstrap.seed, "split": config.split.seed},
        timings={stage: round(seconds, 3) for stage, seconds in context.timings.items()},
        counts={
            **context.counts,
            **({"cache_faults": faults} if faults else {}),
            **({"rewriting": rewriting_facts(context)} if context.spent else {}),
            **({"endpoints": endpoint_facts(context)} if context.served else {}),
            **({"answer_prompts": prompts} if (prompts := _answer_prompts(config)) else {}),
            "documents": len(corpus.doc_ids),
            "documents_skipped": len(corpus.skipped),
            "queries": len(corpus.queries.queries),
            "left_out": left_out(corpus.queries.queries, judged.judgments, config.relevance),
            "judgments": len(judged.judgments),
            "label_characters_p50": _median_label(judged),
            "labels": len(corpus.labels),
            "labels_not_anchored": sum(not a.accepted for a in corpus.anchored.anchorings),
            "settings": {s.setting.name: {**s.chunking.health, **s.notes} for s in searched},
            "conventions": list(CONVENTIONS),
        },
        judge={"name": judged.judge, **judged.fingerprint},
        cost=judged.spent,
        git=_git(),
        date=context.begun.isoformat(timespec="seconds"),
        config_sha256=config.file_sha256,
        warnings=tuple(dict.fromkeys(context.warnings)),
    )


def _answer_prompts(config: BenchConfig) -> dict[str, Any]:
    """The prompts of every measure of answers that asks a language model, by the name of the measure."""
    if all(setting.answer is None for setting in config.settings):
        return {}
    measures = [ANSWER_MEASURES.make(one) for one in config.answer_measures]
    return {one.name: one.record() for one in measures if isinstance(one, LlmMeasure) and "llm" in one.needs}


def _median_label(judged: Judged) -> float | None:
    """The median length of the text judged relevant, in characters; None if there is none."""
    length = median_length(SpanQrels.from_judgments(judged.judgments))
    return None if math.isnan(length) else length


def _versions() -> dict[str, str]:
    found = {"harness": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | packages_in_use()


def _git() -> dict[str, Any]:
    """Commit and dirty flag of the working folder; empty outside a checkout."""

    def ask(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "HEAD")
    if commit is None:
        return {}
    return {"commit": commit, "dirty": bool(ask("status", "--porcelain", "--untracked-files=no"))}
