"""What is known of all settings once the last stage has seen those that are left."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.comparison import Options, ScoreMatrix, SeenStage, StagedBounds, staged_bounds
from harness.report import DroppedRow
from harness.running.tuning.screen import Screened


@dataclass(frozen=True, slots=True)
class TuneChoice:
    """The ``setting`` to use, which has the highest mean of the last stage, and the bounds of what it loses.

    ``candidates`` are the dropped settings that may be better than it by more than the tolerance.
    """

    setting: str
    bounds: StagedBounds
    candidates: tuple[str, ...]

    def lead(self, dropped: str) -> float:
        """At most how much better a dropped setting may be; NaN where nothing can be said."""
        return self.bounds.dropped[dropped][self.setting]

    @property
    def unread(self) -> tuple[str, ...]:
        """The other settings of the last stage that it has no bound against: their rankings end earlier."""
        shorter = self.bounds.unread[self.setting]
        return tuple(name for name in self.bounds.survivors if name in shorter)

    @property
    def dropped_unread(self) -> tuple[str, ...]:
        """The dropped settings that it has no bound against for the same reason."""
        shorter = self.bounds.unread[self.setting]
        return tuple(name for name in self.bounds.dropped if name in shorter)


def standing_of(
    screened: Sequence[Screened],
    matrix: ScoreMatrix,
    graded_by_pool: bool,
    options: Options,
    read: Mapping[str, float],
) -> TuneChoice:
    """The bounds, from what the stages and the last one, ``matrix``, saw.

    ``read`` has the settings of ``matrix`` whose rankings were cut short, and the share of what is read that
    they hold.
    ``graded_by_pool``: a judge graded what these settings found, so that other settings have other grades.
    """
    names = {*matrix.settings}
    basis = f"whole, {len(names)} settings" if graded_by_pool else "whole"
    # a stage that lacks a setting which came back cannot compare it
    usable = [stage.seen for stage in screened if names <= {*stage.seen.matrix.settings}]
    bounds = staged_bounds([*usable, SeenStage(matrix, basis, read=read)], options)
    defined = matrix.defined()
    setting = defined.settings[int(defined.means.argmax())]
    leads = {name: each[setting] for name, each in bounds.dropped.items()}
    candidates = tuple(name for name, lead in leads.items() if not lead <= options.tolerance)
    return TuneChoice(setting, bounds, candidates)


def dropped_rows(screened: Sequence[Screened], standing: TuneChoice, characters: int) -> Iterator[DroppedRow]:
    """What each dropped setting was seen on last, in the order of the stages, and its bound.

    ``characters`` is the length of the whole text.
    """
    gone: set[str] = {*standing.bounds.survivors}
    rows = []
    for at in reversed(range(len(screened))):
        stage = screened[at]
        matrix = stage.seen.matrix.defined()
        best = max(matrix.means.tolist())
        for name, mean in zip(matrix.settings, matrix.means.tolist(), strict=True):
            if name not in gone:
                gone.add(name)
                lead = standing.lead(name)
                row = DroppedRow(
                    setting=name,
                    stage=at + 1,
                    measure=matrix.measure,
                    mean=mean,
                    behind=best - mean,
                    n_queries=len(matrix.query_ids),
                    documents=stage.documents,
                    characters=stage.characters,
                    text_share=stage.characters / max(characters, 1),
                    against=standing.setting,
                    lead_at_most=None if math.isnan(lead) else lead,
                    held_back=name in stage.seen.held,
                    may_be_better=name in standing.candidates,
                )
                rows.append(row)
    yield from reversed(rows)
