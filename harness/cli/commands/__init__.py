"""The commands, in the order of the help: each declared over the function that does its work.

The list of them imports none, and what a command takes from other rooms it takes as ``room.name``, which is
loaded when the name is used: help and errors must be fast.
"""

from __future__ import annotations

from importlib import import_module

from harness.cli.commands.declaring import Command

# name -> module and the name in it; its line in the list of commands
COMMANDS = {
    "demo": ("bench.demo", "run the benchmark that is shipped, and open its page"),
    "init": ("testset.init", "start from a folder of documents"),
    "bench": ("bench.bench", "run a benchmark and write its results"),
    "validate": ("bench.validate", "check a configuration and print what it would run"),
    "show": ("show.show", "print the summary of finished results"),
    "report": ("show.make_page", "make report.html, a page that shows the results"),
    "compare": ("comparing.compare", "compare settings: which is best, and is it real?"),
    "gate": ("comparing.gate", "fail if a setting has become worse than a baseline"),
    "find": ("labels.find", "find passages in your documents, to label them"),
    "label": ("labels.label", "grade passages in the browser"),
    "labels": ("labels.family", "grade retrieved passages that are unjudged"),
    "testset": ("testset.testset", "make questions and labels step by step"),
    "score": ("score.score", "evaluate a TREC run against qrels, or what another pipeline returned"),
    "score-answers": ("score.score_answers", "measure the answers of another pipeline"),
    "export-answers": ("score.export_answers", "write the answers of a run for other tools, such as ragas"),
    "judge": ("judge.family", "judgments: read, export, import; test a judge, compare it with people"),
    "import": ("importing.import_", "import a known collection, a test set, or answers as a corpus"),
    "cache": ("cache.cache", "show the size of the cache, and free space"),
}


def command_named(name: str) -> Command:
    """The command of that name; the others are not imported."""
    module, _, variable = COMMANDS[name][0].partition(".")
    command: Command = getattr(import_module(f"{__name__}.{module}"), variable)
    return command
