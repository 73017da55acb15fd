"""What every option of every command does with values: one keeps one, a list keeps all."""

import argparse

import pytest

from harness.cli.commands.usage import parser
from tests.command import exit_code
from tests.test_help import commands


def options(wanted):
    """(parser of a command, option) of all commands."""
    for _, one in commands(parser()):
        for action in one._actions:
            if action.option_strings and wanted(action):
                yield one, action


def is_list(action):
    return action.nargs in ("*", "+") or isinstance(
        action, argparse._AppendAction | argparse._ExtendAction | argparse._AppendConstAction
    )


def parsed(one, action, *words):
    """What the option keeps of these words, with all that the command requires of others made optional."""
    for other in one._actions:
        other.required = False
        if not other.option_strings:
            other.nargs = "*"
    return getattr(one.parse_known_args(words)[0], action.dest)


def test_a_list_keeps_all_values_in_both_spellings():
    words = first, second, third = ["one", "two", "three"]
    found = set()
    for one, action in options(is_list):
        values = [action.type(word) if action.type else word for word in words]
        name = action.option_strings[0]
        assert parsed(one, action, name, first, name, second, name, third) == values, one.prog
        assert parsed(one, action, name, first, second, third) == values, one.prog
        assert parsed(one, action, name, first, second, name, third) == values, one.prog
        found.add(name)
    # an option in the plural whose value is text that the command splits would pass for one value
    assert found == {"--documents", "--endpoints", "--hits", "--log-to", "--measures", "--run"}


def test_one_value_is_not_silently_replaced_by_a_second(capsys):
    for one, action in options(lambda action: action.nargs is None and not is_list(action)):
        name = action.option_strings[0]
        value = str(next(iter(action.choices))) if action.choices else "1"
        with pytest.raises(SystemExit) as stopped:
            parsed(one, action, name, value, name, value)
        assert stopped.value.code == 2, (one.prog, name)
        assert f"{name} is given twice, but takes one value" in capsys.readouterr().err, one.prog


def test_an_empty_value_is_refused_everywhere(capsys):
    checked = 0
    for _, one in commands(parser()):
        for action in one._actions:
            if action.nargs == 0 or action.choices:
                continue
            for value in ("", " "):
                words = [*action.option_strings[:1], value]
                with pytest.raises(SystemExit) as stopped:
                    one.parse_args(words)
                assert stopped.value.code == 2, (one.prog, words)
                assert "the value is empty" in capsys.readouterr().err, (one.prog, words)
                checked += 1
    assert checked > 200


def test_numbers_are_finite(capsys):
    checked = set()
    for one, action in options(lambda action: action.type is float):
        for word in ("nan", "inf", "-inf"):
            with pytest.raises(SystemExit):
                parsed(one, action, f"{action.option_strings[0]}={word}")
            assert f"{word} is no finite number" in capsys.readouterr().err, one.prog
        checked.add(action.option_strings[0])
    assert {"--confidence", "--max-drop"} <= checked


def test_values_of_other_options_end_a_list(tmp_path, capsys):
    assert exit_code("score", "--run", "a", "b", "--qrels", tmp_path / "none", "--run", "c") == 1
    assert str(tmp_path / "none") in capsys.readouterr().err
