"""The one way from scores to a verdict: `bench`, `show`, `compare` and report.html all take it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness.comparison.advice import Advice
from harness.comparison.conclusions import conclude, grouped
from harness.comparison.factors import effects_of
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Options, beaten
from harness.comparison.verdict import Grounds, Verdict
from harness.comparison.verdict_parts import Costs, Effects, Holes, Trust
from harness.comparison.what_ranks import spans_read
from harness.measures import (
    across_chunkings,
    across_parsers,
    family_of,
    headline,
    is_quality,
    judged_share,
    less_is_better,
    reading_depth,
    trusted_for,
    upper_of,
)
from harness.report import PriceRow
from harness.values import ConfigError

# the tokenizer that counts words, for which no model is needed
WORDS = "words"
LOSS_MEASURE = "ndcg_text@10000"
INCOMPARABLE = "Costs are left out: the measure compares only settings over the same chunks."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores(Grounds):
    """The input of a verdict: the scores, and its grounds as far as they do not depend on the measure."""

    # the same settings by every measure, in the order in which measures were named
    matrices: Mapping[str, ScoreMatrix]
    # the names of the documents, which say whether clusters are documents
    documents: frozenset[str] = frozenset()
    # the tokens to read in every setting, by the depth of reading
    tokens: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # the share of the first ranks that is judged, by depth (such as judged@10) and setting
    judged: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # the measure to compare by in place of the headline; '' for that
    chosen: str = ""

    @property
    def headline(self) -> str:
        """The measure that these settings are compared by."""
        return self.chosen or headline(tuple(self.matrices), len({*self.chunkings.values()}) > 1)


def verdict_of(scores: Scores, measure: str | None = None, baseline: str | None = None) -> Verdict:
    """The verdict by ``measure``, by default the headline; the other measures may contradict it."""
    names = tuple(scores.matrices)
    chosen = measure or scores.headline
    matrix = scores.matrices[chosen]
    read = reading_depth(chosen)
    if (
        read is not None
        and read.unit == "tokens"
        and (apart := counted_apart(scores.configured, matrix.settings))
    ):
        raise ConfigError(f"{chosen} counts tokens: {apart}")
    different, fits = _comparing(scores)
    fit = headline(names, different)
    grounds = replace(
        scores,
        trust=trust_of(scores),
        instead=fit if fits(fit) and fit != chosen else "",
        costs=costs_of(scores, chosen) if fits(chosen) or not different else Costs(None, "", INCOMPARABLE),
        unit="document" if set(matrix.clusters) - {""} <= scores.documents else "cluster",
        holes=None if scores.complete else holes_of(scores, chosen),
        # what is lost is in units of the headline
        lost=scores.lost if chosen == fit else {},
        reading=scores.reading if chosen == fit else {},
    )
    others = [other for name, other in scores.matrices.items() if name != chosen]
    verdict = conclude(matrix, grounds, others=others, baseline=baseline)
    if baseline is not None or verdict.decision in ("nothing found", "single", "few"):
        return verdict
    effects = effects_of(matrix, grounds)
    return grouped(replace(verdict, effects=effects, advice=advised_by(effects, verdict, matrix)))


def advised_by(effects: Effects, verdict: Verdict, matrix: ScoreMatrix) -> Advice | None:
    """The setting to use by the levels to use, where effects decide these; else by pairs of settings."""
    advice = verdict.advice
    if advice is None or verdict.decision == "best" or effects.levels is None:
        return advice
    cells = verdict.design.cells(matrix.settings)
    chosen = cells.get(tuple(effects.levels[factor.name] for factor in verdict.design.factors))
    if chosen is None or chosen not in advice.among or chosen == advice.setting:
        return advice
    if verdict.mean(advice.among[0]) - verdict.mean(chosen) > verdict.options.tolerance:
        return advice
    if chosen in beaten(verdict.comparisons):
        # averaged over the rest it is best, but another setting is shown to be better
        return advice
    cheaper, prices = advice.cheaper, verdict.costs.by_setting or {}
    if cheaper is not None and prices[cheaper.setting] >= prices[chosen]:
        cheaper = None
    return replace(advice, setting=chosen, regret=advice.bounds[chosen], cheaper=cheaper, rule="effects")


def loss_measure(measures: Iterable[str], compared_by: str) -> str:
    """The unit of the losses: the measure ``compared_by`` if it is one of text read, else the first such.

    ``LOSS_MEASURE`` if there is none.
    """
    if across_chunkings(compared_by):
        return compared_by
    fit = [name for name in measures if across_chunkings(name)]
    return headline(fit, chunkings_differ=True) if fit else LOSS_MEASURE


def trust_of(scores: Scores) -> dict[str, Trust]:
    """What each measure is for, and whether it compares all these settings."""
    different, fits = _comparing(scores)
    used = {name: trusted_for(name) for name in scores.matrices}
    ours = {name: Trust(use, fits(name) or not different, bool(use)) for name, use in used.items()}
    return ours | dict(scores.trust)


def _comparing(scores: Scores) -> tuple[bool, Callable[[str], bool]]:
    """Whether the settings cut documents differently, and which measures compare settings that do."""
    settings = next(iter(scores.matrices.values())).settings
    texts = [scores.chunkings.get(name, "") for name in settings]
    cut = [json.loads(text) for text in texts if text]
    parsers = [json.dumps(way["parse"]) for way in cut if isinstance(way, dict) and "parse" in way]
    return len({*texts}) > 1, across_parsers if len({*parsers}) > 1 else across_chunkings


def holes_of(scores: Scores, measure: str) -> Holes | None:
    """The judged share of the first ranks, and the upper bound of ``measure`` if it was scored.

    Results hold the share, whatever they were scored by; of those of older versions it is known where the
    measure for it was among the others. None if neither share nor bound is known.
    """
    if measure.startswith("judged"):
        return None
    depth = judged_share(measure)
    bound, upper = _bound_of(scores.matrices, measure)
    shares = scores.judged.get(depth, {})
    if not shares and depth in scores.matrices:
        shares = _means(scores.matrices[depth])
    if not shares:
        return Holes("", {}, bound, upper) if bound else None
    return Holes(depth, shares, bound, upper)


def _bound_of(matrices: Mapping[str, ScoreMatrix], measure: str) -> tuple[str, dict[str, float]]:
    """The upper bound of a measure among those scored, and its means: for rbp its residual on top of it."""
    bound = upper_of(measure, matrices) if family_of(measure) else ""
    if bound:
        return bound, _means(matrices[bound])
    residual = measure.replace("rbp", "rbp_residual", 1)
    if not measure.startswith("rbp") or residual not in matrices:
        return "", {}
    means = _means(matrices[measure])
    return residual, {name: means[name] + more for name, more in _means(matrices[residual]).items()}


def _means(matrix: ScoreMatrix) -> dict[str, float]:
    """The mean of every setting that has one."""
    means = zip(matrix.settings, matrix.means.tolist(), strict=True)
    return {name: mean for name, mean in means if not math.isnan(mean)}


def tokens_of(prices: Iterable[tuple[str, PriceRow]]) -> dict[str, dict[str, float]]:
    """The tokens to read in every setting, by the depth to which they are read.

    ``prices`` are settings with rows of prices.csv; of several rows the last one counts.
    """
    tokens: dict[str, dict[str, float]] = {}
    for name, row in prices:
        if row.tokens_read is not None:
            tokens.setdefault(row.depth, {})[name] = row.tokens_read
    return tokens


def costs_of(scores: Scores, measure: str) -> Costs:
    """The tokens to read in every setting, counted as deep as ``measure`` reads."""
    depth = reading_depth(measure)
    if not scores.tokens or depth is None:
        return Costs(None, "")
    if apart := counted_apart(scores.configured, scores.matrices[measure].settings):
        return Costs(None, "", f"Costs are left out: {apart}")
    tokens = scores.tokens.get(str(depth), {})
    if any(name not in tokens for name in scores.matrices[measure].settings):
        reads = f"what {measure} reads ({depth})"
        return Costs(None, "", f"Costs are left out: not all results have a prices.csv that counts {reads}.")
    return Costs(tokens, depth.price)


def counted_apart(configured: Mapping[str, Mapping[str, Any]], settings: Iterable[str]) -> str:
    """Why tokens of settings cannot be compared: words in some, a model's in others; '' if they can."""
    counted_by = {name: str(configured.get(name, {}).get("tokenizer") or "") for name in settings}
    words = [name for name, tokenizer in counted_by.items() if tokenizer == WORDS]
    others = {name: tokenizer for name, tokenizer in counted_by.items() if tokenizer not in ("", WORDS)}
    if not words or not others:
        return ""
    name, tokenizer = next(iter(others.items()))
    return (
        f"tokens are words in {words[0]} and those of {tokenizer} in {name}, so counts of them do not "
        "compare. Set the key tokenizer to one for all, and run again."
    )


def chunkings_of(settings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """How each configured setting cuts what is read, as text to compare by, by its name.

    Where parsers differ, also what it cuts: of two texts no chunking is the same.
    """
    chunked = [setting for setting in settings if "name" in setting and setting.get("chunk") is not None]
    parsed = [setting.get("parse") for setting in chunked]
    several = any(parse != parsed[0] for parse in parsed)
    return {
        str(setting["name"]): json.dumps(
            {"cut": _cut(setting), "parse": setting.get("parse")} if several else _cut(setting),
            sort_keys=True,
            default=str,
        )
        for setting in chunked
    }


def _cut(setting: Mapping[str, Any]) -> Any:
    """The chunker, and the reader where it reads other text than the chunks."""
    reader = spans_read(setting.get("read"))
    return setting["chunk"] if reader is None else [setting["chunk"], reader]


def headline_of(record: Mapping[str, Any], measures: Sequence[str]) -> str:
    """The headline of a result, from its run record and the measures it was scored by."""
    chunkings = chunkings_of(record.get("config", {}).get("settings", []))
    return headline(measures, len({*chunkings.values()}) > 1)


def refuse_no_quality(measure: str) -> None:
    """Raise ConfigError for a measure that no setting can be chosen by."""
    if less_is_better(measure):
        raise ConfigError(
            f"{measure} is a cost, where less is better. Compare by a measure of quality; costs are shown "
            "next to it."
        )
    if not is_quality(measure):
        raise ConfigError(
            f"{measure} is a bound, or says how much was judged or is unknown, not how good a ranking is. "
            "Name a measure of quality such as ndcg_exp@10."
        )


def options_of(record: Mapping[str, Any]) -> Options:
    """How a result is to be compared, from its run record: everywhere in the same way."""
    config = record.get("config", {})
    stated = {**config, **config.get("bootstrap", {})}
    return Options(
        **{option.name: stated[option.name] for option in fields(Options) if option.name in stated}
    )
