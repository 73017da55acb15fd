"""What a run says, and what it notes of itself for its record."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from harness import models
from harness.values import RecordingReporter, Reporter, ResultWarning, Sentence, WarningKind


@dataclass(slots=True)
class Bills:
    """What language models and endpoints were asked for, and what it cost."""

    spent: dict[str, models.Spending] = field(default_factory=dict)
    """What steps have asked of language models, by prompt and model."""
    purposes: dict[str, models.Purpose] = field(default_factory=dict)
    """What for."""
    within_limits: dict[str, models.Spending] = field(default_factory=dict)
    """What counts towards one ``max_cost`` and ``max_calls``."""
    served: dict[str, models.Spending] = field(default_factory=dict)
    """What was asked of endpoints, by model."""
    looked_up: dict[str, set[bytes]] = field(default_factory=dict)
    """Which of their numbers were needed, by model."""

    @property
    def calls(self) -> int:
        """How many calls of language models were made."""
        return sum(spent.calls for spent in self.spent.values())


@dataclass(slots=True)
class RunNotes:
    """Where a run reports, and what its record will say: seconds, counts, bills and warnings."""

    reporter: Reporter
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    timings: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """The seconds of its stages."""
    counts: Counter[str] = field(default_factory=Counter)
    """The counters of its record."""
    bills: Bills = field(default_factory=Bills)
    warnings: list[ResultWarning] = field(default_factory=list)
    """What bears on numbers of the result."""
    panels: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How the models of panels voted, by measure of answers."""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the with block, in seconds, to ``stage``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] += time.perf_counter() - start

    def warn(
        self,
        sentence: Sentence,
        measures: Iterable[str] = (),
        settings: Iterable[str] = (),
    ) -> None:
        """Warn of what bears on numbers (see ``ResultWarning``): said at once, and kept with the result.

        The code of the sentence begins with the kind of warning.
        """
        kind = cast(WarningKind, sentence.code.partition(".")[0])
        self._keep(kind, sentence, tuple(measures), tuple(settings))
        self.reporter.warn(sentence)

    def _keep(
        self, kind: WarningKind, text: str, measures: tuple[str, ...] = (), settings: tuple[str, ...] = ()
    ) -> None:
        """Keep a warning with its code and values, which the words of another program do not have."""
        made_of = (text.code, text.values) if isinstance(text, Sentence) else ()
        self.warnings.append(ResultWarning(kind, str(text), measures, settings, *made_of))

    def keeping(self, kind: WarningKind) -> Reporter:
        """The reporter for a step whose warnings all bear on numbers."""
        return RecordingReporter(self.reporter, partial(self._keep, kind))
