"""Progress outside a terminal, by a clock that the test sets."""

import io

import pytest
from rich.console import Console

from harness.cli.terminal import TerminalReporter
from harness.values.progress import LinesTask, duration, remaining


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def lines():
    return []


def test_a_step_says_a_line_a_minute_and_one_at_its_end(lines):
    clock = Clock()
    task = LinesTask("vectors", 1000, lines.append, clock)
    for _ in range(9):
        clock.now += 20
        task.advance(100)
    clock.now += 20
    task.advance(100)
    task.close()
    assert lines == [
        # 300 in 60 s: 700 more take 140 s
        "vectors: 300 of 1,000, 1 min, about 2 min 20 s left",
        "vectors: 600 of 1,000, 2 min, about 1 min 20 s left",
        "vectors: 900 of 1,000, 3 min, about 20 s left",
        "vectors: 1,000 in 3 min 20 s",
    ]


@pytest.mark.parametrize(
    ("total", "seconds", "expected"),
    # a short step says nothing; one that is cut short says how far it came
    [(10, 1, []), (30, 30, ["pairs: 10 of 30 in 30 s"])],
)
def test_the_end_of_a_step(total, seconds, expected, lines):
    clock = Clock()
    task = LinesTask("pairs", total, lines.append, clock)
    clock.now += seconds
    task.advance(10)
    task.close()
    assert lines == expected


def test_durations_as_people_say_them():
    said = ["0 s", "59 s", "1 min", "9 min 59 s", "10 min", "1 h", "2 h 5 min"]
    assert [duration(seconds) for seconds in (0.2, 59.4, 60, 599, 629, 3600, 7500)] == said


def test_nothing_is_known_of_the_rest_before_something_is_done():
    assert remaining(50, 0, 10) is None
    assert remaining(50, 1, None) is None
    assert remaining(50, 5, 10) == 50


def test_a_piped_run_tells_its_steps(monkeypatch):
    out = io.StringIO()
    clock = Clock()
    monkeypatch.setattr("harness.cli.terminal.LinesTask", lambda *args: LinesTask(*args, clock))
    reporter = TerminalReporter(console=Console(file=out, width=80))
    with reporter.task("vectors", 4) as task:
        clock.now += 70
        task.advance(1)
        task.advance(3)
    assert out.getvalue() == "vectors: 1 of 4, 1 min 10 s, about 3 min 30 s left\nvectors: 4 in 1 min 10 s\n"


def test_the_bar_of_a_terminal_has_an_estimate_from_its_first_unit():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    reporter = TerminalReporter(console=console)
    with reporter.task("vectors", 601) as task:
        task.advance(1)
        console.print(reporter._progress)
    assert " left" in out.getvalue()
