"""Output to a terminal or the log of a CI runner: no file or configuration steers either."""

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.cli import terminal
from harness.report import Table
from harness.report.rendering import cell, original
from harness.values import printable, printable_lines, without_controls

HOSTILE = "my.yaml:100: [query] [bold]x[/bold] \x1b[31m\x9b1m\x00\u202e ##[add-mask]x ##vso[t]\r::error::y"
SHOWN = (
    r"my.yaml:100: [query] [bold]x[/bold] \x1b[31m\x9b1m\x00\u202e \x23#[add-mask]x \x23#vso[t] \x3a:error::y"
)


def test_control_sequences_are_shown_as_text():
    assert printable(HOSTILE) == SHOWN
    assert printable_lines(f"a\n{HOSTILE}") == f"a\n{SHOWN}"
    assert printable("a\nb\tc\u00a0d\u2028e") == "a b c d e"
    assert printable("std::vector, می\u200cخواهم") == "std::vector, می\u200cخواهم"
    assert printable("\ud800 \U000e0041") == r"\ud800 \U000e0041"


@given(st.text())
def test_nothing_that_is_not_printable_is_left(text):
    shown = printable(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    shown.encode()
    assert printable(shown) == shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", without_controls(text))


@given(st.text(st.sampled_from("\\xu1bd8\x1b\ud800\x00 a\n"), max_size=12))
def test_a_cell_has_no_control_characters_and_can_be_read_back(text):
    written = cell(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", written)
    assert original(written) == text


def test_a_cell_is_escaped_only_where_it_must_be():
    written = {
        "\x1b[31m and \x00": r"\x1b[31m and \x00",
        r"\alpha \x \n": r"\alpha \x \n",
        r"print('\x1b')": r"print('\\x1b')",
    }
    assert {text: cell(text) for text in written} == written


PRINTED = {
    "print_error": terminal.print_error,
    "print_line": terminal.print_line,
    "note": lambda text: terminal.TerminalReporter().note(text),
    "warn": lambda text: terminal.TerminalReporter().warn(text),
    "print_facts": lambda text: terminal.print_facts(text, [(text, text)]),
    "print_table": lambda text: terminal.print_table(text, (text, "n"), [(text, 1)]),
    "show": lambda text: terminal.show(Table(text, (text, "n"), ((text, "1"),), notes=(text,)), (text,)),
}


@pytest.mark.parametrize("show", PRINTED.values(), ids=PRINTED)
def test_every_way_to_print_cleans(show, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "400")
    show(HOSTILE)
    out, err = capsys.readouterr()
    output = out + err
    assert SHOWN in output
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", output)


@pytest.mark.parametrize("show", PRINTED.values(), ids=PRINTED)
def test_no_line_is_a_command_to_a_runner_wherever_it_is_wrapped(show, monkeypatch, capsys):
    for columns in ("20", "33", "80"):
        monkeypatch.setenv("COLUMNS", columns)
        for filler in range(0, 40, 3):
            show("x" * filler + " a\n::error title=a::b\n  ::stop-commands::c ##[error]d")
    out, err = capsys.readouterr()
    lines = (out + err).splitlines()
    assert len(lines) > 10
    assert not [line for line in lines if re.match(r"\W*::[a-z-]+.*::", line) or "##[" in line]


def test_bars_and_boards_clean():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=140, height=30)
    reporter = terminal.TerminalReporter(console=console)
    with reporter.board(("setting", "rerank")) as board, reporter.task("[query] :100:", 2) as task:
        board.put("a\x07[bold] :100:", {"rerank": "\x070.5"})
        task.describe("\x07[red] :100:")
        # the display draws itself by the clock; a test does not wait for it
        console.print(board, reporter._progress)
    drawn = out.getvalue()
    assert "\x07" not in drawn
    assert "\N{HUNDRED POINTS SYMBOL}" not in drawn
    for text in ("[query] :100:", r"a\x07[bold] :100:", r"\x07[red] :100:", r"\x070.5"):
        assert text in drawn


def test_what_another_program_reads_keeps_all_but_control_characters(capsys, monkeypatch):
    # without a terminal short steps leave nothing behind
    monkeypatch.setattr("harness.values.progress.WORTH_A_LINE", float("inf"))
    with terminal.TerminalReporter().task("pairs", 1) as task:
        task.advance()
    terminal.write_out("::error title=a::b\n\tمی\u200cخواهم \x1b[1m\ud800\n")
    assert capsys.readouterr() == ("::error title=a::b\n\tمی\u200cخواهم \\x1b[1m\\ud800\n", "")


def test_every_function_that_prints_is_tested_here():
    tested = {*PRINTED, "write_out"}
    through = {"write_parts": "show", "write_lines": "write_out"}
    silent = {"fitting_summary", "width"}
    public = {
        name
        for name, thing in vars(terminal).items()
        if callable(thing) and getattr(thing, "__module__", "") == terminal.__name__ and name[0] != "_"
    }
    assert public - {"TerminalReporter", "LiveBoard"} == (tested - {"note", "warn"}) | through.keys() | silent


def test_a_reader_of_errors_that_has_left_stops_nothing(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    reporter = terminal.TerminalReporter()
    with reporter.task("pairs", 1) as task:
        task.advance()
    reporter.warn("nobody reads this")
    terminal.print_error("nor this")
