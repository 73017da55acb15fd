"""Progress outside a terminal, by a clock that the test sets."""

import io

import pytest
from rich.console import Console

from harness.cli.terminal import TerminalReporter
from harness.values import LinesTask, duration, remaining


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("total", "seconds", "advances", "expected"),
    [
        # 300 in 60 s: 700 more take 140 s
        (
            1000,
            20,
            [100] * 10,
            [
                "pairs: 300 of 1,000, 1 min, about 2 min 20 s left",
                "pairs: 600 of 1,000, 2 min, about 1 min 20 s left",
                "pairs: 900 of 1,000, 3 min, about 20 s left",
                "pairs: 1,000 in 3 min 20 s",
            ],
        ),
        # a short step says nothing; one that is cut short says how far it came
        (10, 1, [10], []),
        (30, 30, [10], ["pairs: 10 of 30 in 30 s"]),
    ],
)
def test_a_step_says_a_line_a_minute_and_one_at_its_end(total, seconds, advances, expected):
    clock, lines = Clock(), []
    task = LinesTask("pairs", total, lines.append, clock)
    for count in advances:
        clock.now += seconds
        task.advance(count)
    task.close()
    assert lines == expected


def test_durations_as_people_say_them():
    said = ["0 s", "59 s", "1 min", "9 min 59 s", "10 min", "1 h", "2 h 5 min"]
    assert [duration(seconds) for seconds in (0.2, 59.4, 60, 599, 629, 3600, 7500)] == said
    # nothing is known of the rest before something is done
    assert [remaining(50, *done) for done in ((0, 10), (1, None), (5, 10))] == [None, None, 50]


def test_the_bar_of_a_terminal_has_an_estimate_from_its_first_unit():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    reporter = TerminalReporter(console=console)
    with reporter.task("vectors", 601) as task:
        task.advance(1)
        console.print(reporter._progress)
    assert " left" in out.getvalue()
