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
    "judge": ("judge.family", "judgments: show, export, import; test a judge, compare it with people"),
    "import": ("importing.import_", "import a known collection, a test set, or answers as a corpus"),
    "cache": ("cache.cache", "show the size of the cache, and free space"),
}

# those that are gone -> what takes their place
REMOVED = {
    "check-kind": "what a step of your own returns is checked when it runs",
    "abilities": "measure answers to your own questions, by the section `answer` or harness score-answers",
    "judge check-answers": "harness score-answers --human shows how well measures agree with people",
    "judge batches": "raise endpoint.max_concurrency or use a cheaper model; a batch in progress is "
    "collected by the version that sent it",
    "import financebench": "in a clone, python -m benchmarks.public_data financebench DIR does it",
    "import chunking_eval": "in a clone, python -m benchmarks.public_data chunking_eval DIR does it",
    "import traces": "write what your pipeline returned as a table and use harness score --hits, or its "
    "answers in ragas' columns and use harness import ragas",
    "plot": "the report page saves its charts as SVG",
    "labels next": "use harness labels unjudged; what most settings found comes first",
    "testset DIR propose --offline": "use --by-hand, which gives passages to ask about, or --from FILE",
    "label --results": "name the configuration, harness label my.yaml",
    "label --hide-verdict": "the page shows no verdict",
}


def command_named(name: str) -> Command:
    """The command of that name; the others are not imported."""
    module, _, variable = COMMANDS[name][0].partition(".")
    command: Command = getattr(import_module(f"{__name__}.{module}"), variable)
    return command
