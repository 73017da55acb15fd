"""The commands, in the order of the help: each declared over the function that does its work.

That function imports what it needs inside: --help must be fast.
"""

from __future__ import annotations

from importlib import import_module

from harness.cli.commands.declaring import Command

# name -> module and the name in it
COMMANDS = {
    "init": "init.init",
    "bench": "bench.bench",
    "validate": "validate.validate",
    "show": "show.show",
    "report": "report.report",
    "compare": "comparing.compare",
    "gate": "comparing.gate",
    "find": "find.find",
    "label": "label.label",
    "labels": "labels.labels",
    "testset": "testset.testset",
    "score": "score.score",
    "score-answers": "score_answers.score_answers",
    "export-answers": "score_answers.export_answers",
    "abilities": "abilities.abilities",
    "judge": "judge.judge",
    "import": "importing.import_",
    "check-kind": "check_kind.check_kind",
    "cache": "cache.cache",
}


def command_named(name: str) -> Command:
    """The command of that name; the others are not imported."""
    module, _, variable = COMMANDS[name].partition(".")
    command: Command = getattr(import_module(f"{__name__}.{module}"), variable)
    return command
