"""`--help` fits a terminal of 80 columns, and its examples can be pasted."""

import argparse

import pytest

from harness.cli.commands import COMMANDS
from harness.cli.commands.usage import Help, parser
from harness.measures.documents import CONVENTIONS
from tests.command import exit_code


def commands(whole, words=()):
    yield " ".join(words), whole
    for action in whole._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                yield from commands(one, (*words, name))


def test_no_help_is_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    checked = 0
    for words, one in commands(parser()):
        for line in one.format_help().splitlines():
            # a line of data is pasted as it stands
            assert len(line) <= 80 or line.lstrip().startswith("{"), f"{words}: {line}"
        checked += 1
    assert checked > 15


def test_a_command_alone_is_the_one_among_all():
    whole = dict(commands(parser()))
    for name in COMMANDS:
        alone = {words: one for words, one in commands(parser([name])) if words.split()[:1] == [name]}
        own = {words for words in whole if words.split()[:1] == [name]}
        assert own == set(alone)
        assert all(alone[words].format_help() == whole[words].format_help() for words in own)
    assert {words.split()[0] for words in whole if words} == set(COMMANDS)


def test_score_names_every_convention():
    page = dict(commands(parser()))["score"].format_help()
    assert all(f" {name}" in page for name in CONVENTIONS)


@pytest.mark.parametrize(
    ("words", "near"), [(["shwo"], "show"), (["judge", "exprot"], "export"), (["qqq"], None)]
)
def test_a_typo_in_a_command_is_answered_with_the_nearest_one(words, near, capsys):
    assert exit_code(*words) == 2
    message = capsys.readouterr().err
    assert f"did you mean {near}?" in message if near else "did you mean" not in message
    assert words[0] == "judge" or all(f"'{name}'" in message for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "removed"),
    [
        (["plot"], 0),
        (["judge", "batches", "--cancel"], 1),
        (["label", "--results", "results/mine"], 1),
    ],
)
def test_a_removed_command_is_answered_with_what_takes_its_place(words, removed, capsys):
    assert exit_code(*words) == 2
    assert f"{words[removed]} was removed: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        (
            "One sentence that is far too long\nfor the width, about text-precision@10.\n",
            24,
            "One sentence that is far\ntoo long for the width,\nabout text-precision@10.\n",
        ),
        (
            "  harness compare results/monday results/today --measure x   # what changed\n",
            40,
            "  # what changed\n  harness compare results/monday \\\n      results/today --measure x\n",
        ),
    ],
)
def test_prose_wraps_and_an_example_stays_a_command(text, width, shown):
    assert Help("x", width=width + 2)._fill_text(text, width, "") == shown
