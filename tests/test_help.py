"""`--help` fits a terminal of 80 columns, and its examples can be pasted."""

import argparse

from harness.cli.commands import COMMANDS
from harness.cli.commands.usage import Help, parser


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


def test_an_example_stays_a_command():
    text = "  harness compare results/monday results/today --measure x   # what changed\n"
    shown = "  # what changed\n  harness compare results/monday \\\n      results/today --measure x\n"
    assert Help("x", width=42)._fill_text(text, 40, "") == shown
