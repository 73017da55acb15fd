"""The words of the command line and their help."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from harness import __version__
from harness.commands import COMMANDS
from harness.commands.formatter import Help
from harness.printable import printable_lines

_DESCRIPTION = """\
Benchmark retrieval over your own documents: which chunking, retriever and reranker
ranks best, by how much, and is the difference real?

Start with:
  harness init FOLDER                    begin with a folder of documents
  harness testset DIR status             make questions and labels, step by step
  harness bench configs/quickstart.yaml  run a benchmark, write its results
  harness validate my.yaml               check a configuration; say what would run
  harness show results/quickstart        print the summary of finished results
  harness report results/quickstart      make report.html, a page to look at
  harness compare results/quickstart     which setting is best, and is it real?
  harness judge --help                   language models as judges: cost, trust
  harness score --run R --qrels Q        evaluate a TREC run, as trec_eval does
  harness find "revenue" --in my.yaml    find passages in your documents, to label
  harness label my.yaml                  grade passages in the browser
  harness labels --help                  grade what was retrieved, in a spreadsheet
  harness check-kind my.yaml             try steps of your own before a run does
"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        """Refuse an argument, which is shown but steers no terminal; ends with 2."""
        super().error(printable_lines(message))


def parser(word: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; what it returns has ``run``, which does the work of the one chosen.

    ``word`` names the command that is asked for: of the others nothing is then built. What is no command
    gets them all, to say which there are.
    """
    whole = _Parser(prog="harness", description=_DESCRIPTION)
    whole.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    asked = [command for command, words in COMMANDS.items() if word in words]
    for command in asked or COMMANDS:
        command.add(commands)
    return whole
