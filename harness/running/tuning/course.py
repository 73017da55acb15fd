"""`harness tune`: a recorded plan, its stages one after the other, and those that are left on everything.

All that decides is in one file beside the results: the plan, and what each finished stage saw. So a run that
was stopped goes on with the next stage, and ends with the numbers of one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness import __version__, report, store, values
from harness.comparison import (
    Options,
    SeenStage,
    ending_early,
    from_rows,
    read_stored,
    sentence_of,
    shown_worse,
)
from harness.models import CalibrationTexts
from harness.running.bench.job import input_hashes, run_or_reuse
from harness.running.config.models import BenchConfig, Setting
from harness.running.config.space import Space
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import run_headline
from harness.running.judging.judged import pool_judge_config
from harness.running.note_wordings import TUNE
from harness.running.notes import RunNotes
from harness.running.stored_state import CollectionState, collection_states
from harness.running.tuning.calibrating import check_screen
from harness.running.tuning.certifying import affords, refuse_beyond
from harness.running.tuning.ladder import Ladder
from harness.running.tuning.sampler import optuna
from harness.running.tuning.sampling import Sampled, sample
from harness.running.tuning.screen import Screened, retriever_of, screen
from harness.running.tuning.stage_plan import QuietReporter, make_plan_of_stages
from harness.running.tuning.standing import TuneChoice, dropped_rows, standing_of
from harness.running.tuning.tune_words import early_line, finding_lines, next_line, standing_line
from harness.running.tuning.tuned import Tuned
from harness.values import HarnessError, Reporter, by_key, finite, listed

TUNED = "tune.json"
"""What `tune` adds to the folder of the results."""
# raised when plans and stages are written with other keys, so that older ones begin anew
_FORMAT = 2


@dataclass(slots=True)
class Course:
    """What was planned and seen so far; ``certify``: dropped settings that may be better come back.

    ``space`` is what settings are proposed from, None where the configuration names them. ``calibration`` is
    what models learn by that compute in int8. ``collections`` are the states of existing collections.
    """

    origin: str
    ladder: Ladder
    screened: list[Screened] = field(default_factory=list)
    certify: bool = False
    space: Space | None = None
    sampled: Sampled = field(default_factory=Sampled)
    calibration: CalibrationTexts | None = None
    collections: dict[str, CollectionState] = field(default_factory=dict)

    def calibration_at(self, stage: int) -> CalibrationTexts | None:
        """The texts that the models of a stage, counted from 0, are calibrated by; None: it is exact."""
        return self.calibration if self.ladder.stages[stage].quantised else None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "origin": self.origin,
            "plan": self.ladder.to_json(),
            "certify": self.certify,
            "sampled": self.sampled.to_json(),
            "calibration": None if self.calibration is None else self.calibration.texts,
            "collections": {name: state.to_json() for name, state in self.collections.items()},
            "stages": [stage.to_json() for stage in self.screened],
        }


def plan_file(config: BenchConfig) -> Path:
    """Where the plan and what stages saw are kept."""
    return config.results / f"{config.name}.tune.json"


def open_course(config: BenchConfig, reporter: Reporter, space: Space | None = None) -> tuple[Course, bool]:
    """The course that was begun, or a new one, and whether it is new. Nothing is written.

    ``space`` is what a sampler proposes settings from; HarnessError where its package is missing.
    """
    if space is not None:
        optuna()
    if config.int8_changes:
        raise values.ConfigError(
            "int8_changes is for `harness bench`; the stages of `harness tune` must compute alike. Leave it "
            "out: tune: {screen: true} has the stages before the last compute in int8."
        )
    if config.tune.screen:
        check_screen(config)
    origin = _origin(config)
    collections = collection_states(config)
    begun = _read(plan_file(config), origin, collections, reporter)
    if begun is not None:
        begun.space = space
        return begun, False
    ladder, calibration = make_plan_of_stages(config, reporter)
    return Course(origin, ladder, space=space, calibration=calibration, collections=collections), True


def _origin(config: BenchConfig) -> str:
    """What a plan and its stages are made from."""
    stated = config.model_dump(mode="json", exclude={"engine", "cache", "results", "shared_cache"})
    return values.key_of(__version__, _FORMAT, stated, input_hashes(config))


def _read(
    path: Path, origin: str, collections: dict[str, CollectionState], reporter: Reporter
) -> Course | None:
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text("utf-8"))
        if value["origin"] != origin:
            reporter.note(values.worded(TUNE, "tune.changed", file=path.name))
            return None
        screened = [Screened.from_json(stage) for stage in value["stages"]]
        sampled = Sampled.from_json(value["sampled"]) if "sampled" in value else Sampled()
        ladder = Ladder.from_json(value["plan"])
        texts = value.get("calibration")
        course = Course(value["origin"], ladder, screened, value["certify"], sampled=sampled)
        course.calibration = None if texts is None else CalibrationTexts(tuple(texts))
        states = value.get("collections", {})
        course.collections = {
            name: CollectionState(**state) for name, state in states.items() if isinstance(state, dict)
        }
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise HarnessError(
            f"{path} is damaged ({type(error).__name__}): it holds the plan of `harness tune`. Move it away; "
            "tune then begins again, and takes what was computed from the cache."
        ) from None
    if changed := _changed(course.collections, collections):
        reporter.note(values.worded(TUNE, "tune.other rows", file=path.name, collection=changed))
        return None
    return course


def _changed(before: dict[str, CollectionState], now: dict[str, CollectionState]) -> str:
    """The first collection with another state, and its rows; '' where there is none."""
    for name, state in now.items():
        earlier = before.get(name)
        if earlier is None or not earlier.same_as(state):
            rows = "an unknown number of rows" if earlier is None else values.counted(earlier.rows, "row")
            return f"{name} ({rows} then, {values.counted(state.rows, 'row')} now)"
    return ""


def _refuse_change(config: BenchConfig, course: Course) -> None:
    """Raise HarnessError where a collection is another one than that which earlier stages have searched."""
    if changed := _changed(course.collections, collection_states(config)):
        raise HarnessError(
            f"{changed} has changed during tune, so its stages have searched different collections. Run "
            "again when it does not change: tune then begins again, and takes what it can from the cache."
        )


def run_course(config: BenchConfig, course: Course, reporter: Reporter, *, certify: bool = False) -> Tuned:
    """Run the stages that are left, then the survivors on everything, and write the bounds.

    ``certify`` also runs the dropped settings that may be better than the chosen one by more than the
    tolerance, whatever that takes. Each finished stage is kept at once. Raises HarnessError where more
    settings cannot be dropped with certainty than the budget has room for.
    """
    tuning = config.tune
    measure = run_headline(config)
    options = options_for(config)
    course.certify = course.certify or certify
    keep = partial(_write, plan_file(config), course)
    keep()
    stages = course.ladder.stages
    if course.space is not None:
        reporters = reporter, QuietReporter(reporter)
        space, calibration = course.space, course.calibration_at(0)
        first = stages[0].part
        config = sample(config, space, course.sampled, first, measure, reporters, keep, calibration)
        if not course.screened and course.sampled.screened is not None:
            course.screened.append(course.sampled.screened)
            keep()
    left = [setting.name for setting in config.settings]
    entered = [len(left)]
    for at, stage in enumerate(stages[:-1]):
        if at == len(course.screened):
            chosen = [setting for setting in config.settings if setting.name in {*left}]
            update = {"settings": tuple(chosen), "part": stage.part}
            part = config.model_copy(update=update)
            calibration = course.calibration_at(at)
            _refuse_change(config, course)
            seen = screen(part, measure, QuietReporter(reporter), held=stage.held, calibration=calibration)
            course.screened.append(seen)
            keep()
        screened = course.screened[at]
        if tuning.give == "certify":
            worse = shown_worse(screened.seen, options, len(stages) - 1)
            kept = [name for name in left if name not in worse]
        else:
            kept = survivors(screened.seen, stage.leave, config.settings if stage.held else ())
        reporter.note(standing_line(at + 1, len(stages), stage, screened, kept))
        early = ending_early(screened.seen.read, screened.seen.matrix.settings)
        if not {*early} <= {*course.ladder.early}:
            reporter.note(early_line(early, config, "tune.early"))
        left = kept
        entered.append(len(left))
        if tuning.give == "certify":
            refuse_beyond(course.ladder, entered, tuning, certify=course.certify)
        reporter.note(next_line(at + 2, len(stages), stages[at + 1], len(left)))
    ended = _end(config, course, left, reporter)
    if not ended.standing.candidates or not (
        course.certify
        or (tuning.give == "certify" and affords(course.ladder, entered, ended.standing, tuning))
    ):
        return ended
    better = ended.standing.candidates
    reporter.note(values.worded(TUNE, "tune.certify", count=len(better), settings=listed(better, 3)))
    return _end(config, course, [*left, *ended.standing.candidates], reporter)


def options_for(config: BenchConfig) -> Options:
    """How the bounds are computed."""
    tuning, flips = config.tune, config.bootstrap
    return Options(
        level=tuning.confidence,
        resamples=flips.resamples,
        seed=flips.seed,
        tolerance=tuning.tolerance or config.tolerance,
    )


def survivors(seen: SeenStage, leave: int, held: Sequence[Setting] = ()) -> list[str]:
    """The best settings of a stage, in their order; so many go on.

    Of ``held`` ones, whose rerankers were held back, those that retrieve alike go on together: the best of
    them, and others as long as there is room for all that are alike.
    """
    matrix = seen.matrix.defined()
    order = [matrix.settings[place] for place in np.argsort(-matrix.means, kind="stable")]
    if not held:
        best = {*order[:leave]}
        return [name for name in matrix.settings if name in best]
    alike = by_key((retriever_of(setting), setting.name) for setting in held)
    groups = {name: names for names in alike.values() for name in names}
    best = set()
    for name in order:
        if name not in best and (not best or len(best) + len(groups[name]) <= leave):
            best |= {*groups[name]}
    return [name for name in matrix.settings if name in best]


def _write(path: Path, course: Course) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(path, json.dumps(course.to_json()) + "\n")


def _end(config: BenchConfig, course: Course, left: Sequence[str], reporter: Reporter) -> Tuned:
    """The survivors on everything, as a benchmark of their own, and what is known of all settings."""
    _refuse_change(config, course)
    measure, options = run_headline(config), options_for(config)
    settings = tuple(setting for setting in config.settings if setting.name in {*left})
    final = config.model_copy(update={"settings": settings})
    pooled = pool_judge_config(config) is not None
    dropped = len(settings) < len(config.settings)

    def add(
        notes: RunNotes, corpus: Corpus, scores: Sequence[report.ScoreRow]
    ) -> Iterable[report.DroppedRow]:
        if course.space is not None:
            notes.warn(sentence_of("tuning.proposed"))
        if not dropped:
            return ()
        left = {"left": len(settings), "total": len(config.settings)}
        notes.warn(sentence_of("tuning.dropped", **left))
        if course.calibration is not None:
            notes.warn(sentence_of("tuning.screened"))
        # bounds of dropped settings are of what stages saw, and need not know how deep the last one read
        seen = standing_of(course.screened, from_rows(scores, measure), pooled, options, {})
        characters = sum(len(document.text) for document in corpus.documents)
        return dropped_rows(course.screened, seen, characters)

    run = run_or_reuse(final, reporter, add=add)
    stored = read_stored(run.folder)
    standing = standing_of(course.screened, stored.matrix(measure), pooled, options, stored.read(measure))
    if run.results is None and not _lists(run.folder, course, standing):
        # the same settings are left of another plan, under which the others were seen on something else
        run = run_or_reuse(final, reporter, again=True, add=add)
    lines = tuple(finding_lines(standing, course.ladder, course.screened, options, config))
    if course.space is not None:
        lines = (*lines, sentence_of("tuning.proposed"))
    store.write_text(
        run.folder / TUNED,
        json.dumps(
            {
                "setting": standing.setting,
                "measure": measure,
                "confidence": options.level,
                "tolerance": options.tolerance,
                "survivors": {name: finite(loss) for name, loss in standing.bounds.survivors.items()},
                "dropped": {name: finite(standing.lead(name)) for name in standing.bounds.dropped},
                "may_be_better": list(standing.candidates),
                "rankings_end_early": [*standing.unread, *standing.dropped_unread],
                "plan": course.ladder.to_json(),
                "proposed": _proposed(config, course.sampled),
                "cpu_seconds": [stage.cpu_seconds for stage in course.screened],
                "sentences": list(lines),
            },
            indent=2,
        )
        + "\n",
    )
    return Tuned(run.folder, standing, lines, run.ending)


def _proposed(config: BenchConfig, sampled: Sampled) -> list[dict[str, Any]]:
    """The proposals in order, with their numbers and their means on the first part."""
    if not sampled.proposals:
        return []
    rows = zip(config.settings, sampled.proposals, sampled.scores, strict=True)
    return [{"setting": setting.name, "values": values, "mean": mean} for setting, values, mean in rows]


def _lists(folder: Path, course: Course, standing: TuneChoice) -> bool:
    """Whether the results list what was dropped as it was seen."""
    stored = {row.setting: row for row in report.read_any(folder, report.DroppedRow)}
    rows = {row.setting: row for row in dropped_rows(course.screened, standing, 1)}
    return stored.keys() == rows.keys() and all(
        stored[name] == replace(row, text_share=stored[name].text_share) for name, row in rows.items()
    )
