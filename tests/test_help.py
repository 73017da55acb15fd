"""`--help` fits a terminal of 80 columns, and its examples can be pasted."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import help_speed
from harness.cli.commands import COMMANDS
from harness.cli.commands.usage import Help, parser

ROOT = Path(__file__).parent.parent


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


# each command's help in one process, and the packages beside Python's own that it has loaded
PROGRAM = """
import contextlib, io, sys
from harness.cli import main
from harness.cli.commands import COMMANDS
for words in ((), *((name,) for name in COMMANDS)):
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main([*words, "--help"])
    assert "usage" in shown.getvalue().lower(), words
    tops = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
    print(*words, *sorted(tops & set(sys.argv[1:])), sep=",")
"""
# what asks a model, computes or reads tables, and pydantic, whose classes are built when they are imported
HEAVY = ("openai", "httpx", "httpx2", "numpy", "pandas", "scipy", "torch", "transformers", "tokenizers")
HEAVY += ("chromadb", "pypdf", "yaml", "jmespath", "jinja2", "pydantic")


def test_no_help_loads_a_package_that_takes_long():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *HEAVY],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = dict.fromkeys(["", *COMMANDS], "")
    for line in done.stdout.splitlines():
        words = line.split(",")
        name = words.pop(0) if words[0] in loaded else ""
        loaded[name] = ",".join(words)
    light = {name for name, packages in loaded.items() if not packages}
    # the formats of `import` are classes of pydantic, and the commands after it are in the same process
    order = list(loaded)
    assert light == set(order[: order.index("import")])
    assert {loaded[name] for name in order[order.index("import") :]} == {"pydantic"}


def test_the_table_of_times_is_of_cpu_seconds_by_those_of_an_empty_python():
    times = {help_speed.EMPTY: (0.05, 0.02), help_speed.NUMPY: (0.2, 0.1), "`harness --help`": (0.3, 0.12)}
    assert "| `harness --help` | 0.30 | 0.12 | 6.0 | 1.2 |" in help_speed.report(times)
    assert list(help_speed.programs(["judge batches"]))[2:] == [
        "`harness --help`",
        "`harness judge batches --help`",
    ]


def test_help_is_measured_beside_python():
    measured = help_speed.shortest([], runs=1)
    assert set(measured) == {help_speed.EMPTY, help_speed.NUMPY, "`harness --help`"}
    assert all(elapsed > 0 for elapsed, _ in measured.values())
