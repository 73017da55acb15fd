"""What raters have graded on the labelling page of a test set, and what of it has not been read yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.labels.label_page.opening import SUFFIX
from harness.labels.label_page.state import PageState
from harness.labels.testset.rows import GradeRow, Key, PoolRow, key_of
from harness.labels.testset.state import SetState


@dataclass(frozen=True, slots=True)
class PageWork:
    """How many of ``passages`` a rater has graded; ``left`` are neither graded nor skipped.

    ``unread`` grades are not in grades.csv.
    """

    rater: str
    graded: int
    passages: int
    left: int
    unread: int


def page_work(state: SetState, pool: Sequence[PoolRow]) -> list[PageWork]:
    """The work of every rater on the page over pool.csv; none where it was never opened."""
    path = page_file(state)
    if not path.exists():
        return []
    known = {(row.grader, *key_of(row)): row.grade for row in state.rows(GradeRow)}
    wanted = {key_of(row) for row in pool}
    with PageState(path) as page:
        items = page.items(wanted=False)
        grades: dict[str, dict[Key, int | None]] = {}
        for label in page.labels():
            if label.rating.done:
                grades.setdefault(label.rater, {})[items[label.item_id].key] = label.rating.grade
    return [
        PageWork(
            rater,
            sum(own.get(key) is not None for key in wanted),
            len(wanted),
            len(wanted - own.keys()),
            sum(grade is not None and known.get((rater, *key)) != grade for key, grade in own.items()),
        )
        for rater, own in sorted(grades.items())
    ]


def page_file(state: SetState) -> Path:
    """The file in which the page keeps its grades."""
    pool = state.path(PoolRow)
    return pool.with_name(pool.stem + SUFFIX)
