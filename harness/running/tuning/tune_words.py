"""What `harness tune` says: its plan, where it stands after a stage, and what it has found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.comparison import Options, depth_key, sentence_of
from harness.measures import reading_depth
from harness.report import Table
from harness.running.config.models import BenchConfig
from harness.running.evaluate.evaluating import run_headline
from harness.running.note_wordings import TUNE
from harness.running.pipeline import retriever_config
from harness.running.tuning.certifying import certifying
from harness.running.tuning.ladder import Ladder, PlannedStage, outlay_in_words
from harness.running.tuning.sampler import STARTUP
from harness.running.tuning.sampling import round_size
from harness.running.tuning.screen import Screened
from harness.running.tuning.standing import TuneChoice
from harness.values import Sentence, counted, listed, number, worded

_SHOWN = 3


def plan_table(ladder: Ladder) -> Table:
    """The stages with what each sees and costs; queries without an answer are asked and not scored."""
    rows = []
    for at, stage in enumerate(ladder.stages, start=1):
        rows.append(
            (
                str(at),
                _text_of(stage),
                str(stage.queries) + (" of train" if stage.part.split == "train" else ""),
                "?" if stage.answered is None else str(stage.answered),
                f"{stage.enter} → {stage.leave}" if at < len(ladder.stages) else str(stage.enter),
                outlay_in_words(stage.outlay, ladder.whole),
            )
        )
    return Table("stages", ("stage", "text", "queries", "scored", "settings", "about"), tuple(rows))


def _unanswered(asked: int, answered: int | None) -> str:
    return "" if answered in (None, asked) else f", {answered} of them scored"


def early_line(names: Sequence[str], config: BenchConfig, code: str) -> Sentence:
    """That rankings of settings end early, or will, by the ``code``; what that means, and the key to set."""
    measure = run_headline(config)
    key = _deeper(config, names)
    return worded(
        TUNE,
        f"{code}.key" if key else code,
        early=str(len(names)),
        settings=counted(len(config.settings), "setting"),
        read=_what_is_read(measure),
        key=key,
    )


def _what_is_read(measure: str) -> str:
    """Such as ``the 5,000 characters that ndcg_evidence@5000 reads``."""
    depth = reading_depth(measure)
    if depth is None or depth.amount is None:
        return f"what {measure} reads"
    return f"the {depth.amount:,} {depth.unit} that {measure} reads"


def _deeper(config: BenchConfig, names: Sequence[str]) -> str:
    """The key that makes a setting retrieve all that is read; '' for none."""
    setting = next((each for each in config.settings if each.name in {*names}), None)
    kind = getattr(retriever_config(setting), "kind", None) if setting is not None else None
    return depth_key(run_headline(config), kind)


def promise_lines(ladder: Ladder, config: BenchConfig) -> Iterator[str]:
    """What the end can promise, and what not."""
    first, tuning = ladder.stages[0], config.tune
    if ladder.early:
        yield early_line(ladder.early, config, "tune.will end")
    if tuning.strategy != "grid":
        yield (
            f"Stage 1 tries {counted(first.enter, 'setting')} that a sampler proposes ({tuning.strategy}, "
            f"seed {tuning.seed}): {min(STARTUP, first.enter)} drawn evenly, then {round_size(first.enter)} "
            "at a time by the scores of earlier ones. What they take is estimated from others drawn evenly."
        )
        yield sentence_of("tuning.covered")
    if ladder.stages[-1].enter == first.enter:
        yield "All settings see everything: a full sweep is within the budget."
        return
    give, confidence = tuning.give, tuning.confidence
    sure = f"{100 * confidence:g} %"
    yield (
        f"The end will bound what the chosen setting may lose to those of the last stage, with {sure} "
        "confidence and from all queries; and, apart from it, to the dropped ones, from the part that they "
        "were seen on. The second bound is wider."
    )
    if any(stage.part.text < 1 for stage in ladder.stages[:-1]):
        yield (
            "Stages that see a part of the text bound nothing about the whole text: how a dropped setting "
            "does on documents that it was not searched in is not known."
        )
    if any(stage.held for stage in ladder.stages):
        yield (
            "The first stage holds rerankers back, and drops settings by what these would have got to rank. "
            "What a reranker makes of a retriever that was dropped is not known."
        )
    quantised = any(stage.quantised for stage in ladder.stages)
    if quantised:
        yield (
            "Stages before the last compute vectors in int8, which changes some of the first ten chunks of a "
            "query. The last stage computes what is left again without this. No figure of the results comes "
            "from the screen, and what exact vectors would give a dropped setting is not known."
        )
    if give == "certify":
        yield (
            "To certify, a stage drops only what is shown to be worse. If more is left than planned and the "
            "budget does not cover it, this stops and says what certifying takes. --certify goes on anyway."
        )
    if give == "search":
        sure = "`give: certify`, or --certify afterwards,"
        sure = "Without `screen`, `give: certify`" if quantised else sure
        yield (
            f"This is a search: what it drops may be better. {sure} drops only what is shown to be worse, "
            "and takes longer."
        )


def _text_of(stage: PlannedStage) -> str:
    held = ", without rerankers" if stage.held else ""
    held += ", vectors in int8" if stage.quantised else ""
    if stage.part.text == 1:
        return f"all documents{held}"
    others = f" and {100 * stage.part.text:g} % of the others" if stage.part.text else ""
    return f"labelled documents{others}{held}"


def standing_line(
    at: int, count: int, stage: PlannedStage, screened: Screened, kept: Sequence[str]
) -> Sentence:
    """Who is still in after a stage, and by how much."""
    asked, matrix = len(screened.seen.matrix.query_ids), screened.seen.matrix.defined()
    means = dict(zip(matrix.settings, matrix.means.tolist(), strict=True))
    order = sorted(means, key=lambda name: -means[name])
    first = means[order[0]]
    leaders = listed([f"{name} {number(means[name])}" for name in order], _SHOWN)
    gone = [name for name in order if name not in {*kept}]
    stands = {
        "at": str(at),
        "stages": str(count),
        "text": _text_of(stage),
        "queries": counted(asked, "query", "queries") + _unanswered(asked, len(matrix.query_ids)),
        "kept": str(len(kept)),
        "settings": counted(len(means), "setting"),
        "leaders": leaders,
    }
    if not gone:
        return worded(TUNE, "tune.stage.all", **stands)
    last = [name for name in order if name in {*kept}][-1]
    behind, dropped = number(first - means[last]), number(first - means[gone[0]])
    return worded(TUNE, "tune.stage", last=behind, dropped=dropped, **stands)


def next_line(at: int, count: int, stage: PlannedStage, settings: int) -> Sentence:
    """What comes next."""
    return worded(
        TUNE,
        "tune.next",
        at=str(at),
        stages=str(count),
        settings=counted(settings, "setting"),
        text=_text_of(stage),
        queries=counted(stage.queries, "query", "queries") + _unanswered(stage.queries, stage.answered),
    )


def finding_lines(
    standing: TuneChoice,
    ladder: Ladder,
    screened: Sequence[Screened],
    options: Options,
    config: BenchConfig,
) -> Iterator[str]:
    """The setting to use, both bounds, what could still be better, and what was left out."""
    sure, dropped = f"{100 * options.level:g} %", len(standing.bounds.dropped)
    paid = "all that was seen" if any(stage.seen.held for stage in screened) else str(len(config.settings))
    yield from _choice_lines(
        standing, config, f"{sure}, from all queries, paying for the choice among {paid}"
    )
    if not dropped:
        yield "No setting was dropped, so this is a full sweep."
        return
    early = len(standing.dropped_unread)
    unbounded = sum(math.isnan(standing.lead(name)) for name in standing.bounds.dropped)
    unknown = unbounded - early
    part = any(stage.seen.basis.startswith("0") for stage in screened)
    where = "on the text and queries they were seen on" if part else "from the queries they were seen on"
    if unknown:
        yield (
            f"Of {counted(unknown, 'dropped setting')} no bound is known: "
            f"{'they were' if unknown > 1 else 'it was'} seen without rerankers, or on too little."
        )
    if early:
        yield (
            f"Of {counted(early, 'dropped setting')} no bound is known, as rankings ended before "
            f"{_what_is_read(run_headline(config))}: with deeper ones {'they' if early > 1 else 'it'} may be "
            "better."
        )
    if dropped > unbounded:
        yield (
            f"Against the {dropped - unbounded} {'others ' if unbounded else ''}that were dropped it loses "
            f"at most {number(standing.bounds.against_dropped(standing.setting))} {where} ({sure}, by "
            "itself)."
        )
    if part:
        yield "What they would do on the whole text was not seen; no bound covers it."
    quantised = any(stage.quantised for stage in ladder.stages)
    better = f"may be better by more than {options.tolerance:g}{' in int8' if quantised else ''}"
    if quantised:
        yield sentence_of("tuning.screened")
    if not standing.candidates:
        yield f"None of them {better}."
        return
    worth = sorted(standing.candidates, key=lambda name: -_known(standing.lead(name)))
    yield f"{len(worth)} of them {better}: {listed(worth, _SHOWN)}."
    if quantised:
        yield "To certify, leave out tune.screen and run again with `give: certify`."
    else:
        yield (
            "To certify they would have to see everything: about "
            f"{outlay_in_words(certifying(ladder, len(worth)), ladder.whole)}, by `harness tune --certify`."
        )


def _choice_lines(standing: TuneChoice, config: BenchConfig, terms: str) -> Iterator[str]:
    """The setting to use, or that leads, and its bound against those that saw everything."""
    measure, unread = run_headline(config), standing.unread
    settings, others = counted(len(config.settings), "setting"), len(standing.bounds.survivors) - 1
    if unread:
        key = _deeper(config, unread)
        yield (
            f"{standing.setting} has the highest mean of {settings}, but none can be advised: rankings of "
            f"{listed(unread, _SHOWN)} end before {_what_is_read(measure)}, and with deeper ones "
            f"{'they' if len(unread) > 1 else 'it'} may be better."
            + (f" Set {key} and run again." if key else "")
        )
    else:
        yield f"Use {standing.setting}, of {settings}."
    if bounded := others - len(unread):
        yield (
            f"Against the {counted(bounded, 'other')} that saw everything it loses at most "
            f"{number(standing.bounds.survivors[standing.setting])} of {measure} ({terms})."
        )


def _known(lead: float) -> float:
    """What is not known may be any better."""
    return math.inf if math.isnan(lead) else lead
