"""`harness init`: a folder of documents becomes a benchmark to fill."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import labels, running
from harness.cli.commands.declaring import command, flag, path
from harness.cli.terminal import TerminalReporter, print_line
from harness.values import counted

_DESCRIPTION = """\
Inspect a folder of documents and write what a benchmark needs: a configuration with settings to compare,
every line explained; queries.csv and labels.csv to fill in; and testset.yaml, for making questions
and labels step by step. Nothing is overwritten.

  harness init contracts
  harness init contracts --out contracts-bench
  harness init contracts --no-download     name only models that are installed
"""


@command(
    _DESCRIPTION,
    path("folder", "the folder that holds the documents", "FOLDER"),
    path("--out", "the folder to write; default: FOLDER's name plus -bench", "DIR"),
    flag("--no-download", "name only models that are installed, none from the hub"),
)
def init(args: argparse.Namespace) -> int:
    """Look at the folder, write the files, and print the next step."""
    out = args.out or Path(f"{labels.name_of(args.folder)}-bench")
    # before the documents, which may take long
    labels.refuse_existing(out)
    cache = out / ".cache"
    with running.Context.at(cache, TerminalReporter(), may_ask=False) as context:
        found = labels.summarise(args.folder, cache, context)
    written = labels.write_start(found, out, download=not args.no_download)
    for line in _found(found):
        print_line(line)
    print_line(f"Written to {out}/: {', '.join(path.name for path in written)}.")
    print_line("Next, make questions and labels step by step; with 34 questions of 9 passages each, grading")
    print_line("takes a person about an hour (testset.yaml: chosen, passages):")
    print_line(f"  harness testset {out} status")
    print_line(f"or fill queries.csv and labels.csv yourself, as {out}/README.md explains:")
    print_line(f"  harness validate {out}/bench.yaml")
    print_line(f"  harness bench {out}/bench.yaml")
    return 0


def _found(found: labels.FolderSummary) -> list[str]:
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in found.kinds.items())
    pages = f", {counted(found.pages, 'page')}" if found.pages else ""
    tables = (
        f"{counted(found.text.tables, 'table')} ({found.text.table_share:.0%} of the text)"
        if found.text.tables
        else "no tables"
    )
    language = found.text.language or "not recognised"
    lines = [
        f"{found.folder}: {counted(found.documents, 'document')} ({kinds}){pages}, "
        f"{found.text.characters:,} characters.",
        f"Language: {language}; {tables}.",
    ]
    if found.unread:
        others = ", ".join(f"{count} {suffix}" for suffix, count in found.unread.items())
        lines.append(f"Skipped, because they cannot be read as documents: {others}.")
    if found.skipped:
        lines.append(f"{counted(len(found.skipped), 'document')} cannot be used; the warnings above say why.")
    return lines
