"""The commands, in the order of the help: each declared over the function that does its work.

The list of them imports none, and what a command takes from other rooms it takes as ``room.name``, which is
loaded when the name is used: help and errors must be fast.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from harness.cli.commands.declaring import Command

# name -> module and the name in it; its line in the list of commands
COMMANDS = {
    "demo": ("bench.demo", "run the benchmark that is shipped, and open its page"),
    "init": ("testset.init", "start from a folder of documents"),
    "bench": ("bench.bench", "run a benchmark and write its results"),
    "tune": ("tuning.tune", "choose among many settings, most of which see a part"),
    "validate": ("bench.validate", "check a configuration and print what it would run"),
    "show": ("show.show", "print the summary of finished results"),
    "report": ("show.make_page", "make report.html, a page that shows the results"),
    "compare": ("comparing.compare", "compare settings: which is best, and is it real?"),
    "gate": ("comparing.gate", "fail if a setting has become worse than a baseline"),
    "comment": ("comment.comment", "write what a run found on its pull request"),
    "trend": ("trending.trend", "draw results of days or weeks, and say what has changed"),
    "find": ("labels.find", "find passages in your documents, to label them"),
    "label": ("labels.label", "grade passages in the browser"),
    "labels": ("labels.family", "grade retrieved passages that are unjudged"),
    "testset": ("testset.testset", "make questions and labels step by step"),
    "score": ("score.score", "evaluate a TREC run against qrels, or what another pipeline returned"),
    "score-answers": ("score.score_answers", "measure the answers of another pipeline"),
    "export-answers": ("score.export_answers", "write the answers of a run for other tools, such as ragas"),
    "judge": ("judge.family", "judgments: read, export, import; test a judge, compare it with people"),
    "import": ("importing.import_", "import a known collection, a test set, or answers as a corpus"),
    "mcp": ("serving.mcp", "serve tools to an agent, within limits on what it may read and spend"),
    "completion": ("completing.completion", "print a script by which a shell completes these words"),
    "cache": ("cache.cache", "show the size of the cache, and free space"),
    "docs": ("docs.docs", "open the docs of this version, offline"),
}


GROUP = "harness.commands"
"""Entry points of other packages: a name, and a function that adds options to its argparse parser.

It sets ``run``, a function from the parsed arguments to an exit code: ``parser.set_defaults(run=…)``.
"""


def commands_of_packages() -> dict[str, EntryPoint]:
    """The commands that installed packages add, by name; ours cannot be replaced."""
    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in COMMANDS}


def fill_from(entry: EntryPoint, parser: Any) -> None:
    """Have a package add its options; raises HarnessError that names the package where it fails."""
    from harness.values import HarnessError

    try:
        entry.load()(parser)
    except Exception as error:
        raise HarnessError(
            f"The command {entry.name} of another package ({entry.value}) cannot be loaded: "
            f"{type(error).__name__}: {error}. Mend or remove the package."
        ) from error
    if parser.get_default("run") is None:
        raise HarnessError(f"The command {entry.name} ({entry.value}) sets no function run.")
    parser.set_defaults(wrong_usage=parser.error)


def command_named(name: str) -> Command:
    """The command of that name; the others are not imported."""
    module, _, variable = COMMANDS[name][0].partition(".")
    command: Command = getattr(import_module(f"{__name__}.{module}"), variable)
    return command
