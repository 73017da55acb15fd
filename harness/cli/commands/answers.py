"""`harness judge answers`: the answers of a judge, word for word, and its failures."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from harness import judge, running, store
from harness.cli.commands.declaring import config_file, flag, number, option, part
from harness.cli.commands.shared import open_ledger
from harness.cli.terminal import print_line
from harness.values import counted

_PASSAGE = 200
_DESCRIPTION = """\
Print the raw answers of the judge of CONFIG from the ledger: query, passage, grade or the reason
why there is none, tokens, time. Answers that were superseded by a retry are shown too. No call is made.

  harness judge answers my.yaml --failed            answers without a grade
  harness judge answers my.yaml --query q17         by the id of a query, or words of its text
  harness judge answers my.yaml --flagged           passages that address the judge
  harness judge answers my.yaml --full --limit 0    all of it, passages in full
"""


@part(
    "answers",
    "show what a judge has answered, and where it failed",
    _DESCRIPTION,
    config_file("with relevance: {judge: llm, …}"),
    option("--query", metavar="ID|TEXT", help="answers to one query, or to those with this text"),
    flag("--failed", "answers without a grade"),
    flag("--flagged", "passages that address the judge"),
    flag("--full", "print passages in full"),
    number("--limit", 20, "the newest N answers; 0: all"),
)
def show_answers(args: argparse.Namespace) -> int:
    """Print the answers, newest last, and how many there are of each kind."""
    config = running.load_config(args.config)
    judges = running.llm_configs(config)
    wanted = running.AnswerFilter(args.query, failed=args.failed, flagged=args.flagged)
    with open_ledger(config.cache) as ledger:
        found = list(running.answers(ledger, judges, config, wanted))
    shown = found[-args.limit :] if args.limit else found
    for entry in shown:
        for line in _entry_lines(entry, full=args.full):
            print_line(line)
    reasons = Counter(entry.reason for entry in found if entry.grades is None)
    failed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    left = f", the newest {len(shown)} shown (--limit 0 shows all)" if len(shown) < len(found) else ""
    print_line(
        f"{counted(len(found), 'answer')}{left}; without a grade: {reasons.total()}"
        f"{f' ({failed})' if failed else ''}."
    )
    return 0


def _shortened(passage: str) -> str:
    """The beginning of a passage on one line: the columns of a table are far apart in the text of a page."""
    text = " ".join(passage.split())
    return text if len(text) <= _PASSAGE else f"{text[:_PASSAGE]} […]"


def _entry_lines(entry: store.LedgerEntry, *, full: bool) -> Iterator[str]:
    grades = " ".join(map(str, entry.grades)) if entry.grades is not None else f"none ({entry.reason})"
    again = "" if entry.settled else ", asked again"
    sample = f", sample {entry.sample}" if entry.sample else ""
    used = f"{entry.prompt_tokens or '?'} + {entry.completion_tokens or '?'} tokens"
    yield (
        f"{entry.answered_at[:19]}  {entry.served_model or entry.model}{sample}  grade: {grades}{again}"
        f"  {used}, {entry.seconds:.1f} s"
    )
    yield f"  query:   {entry.query}"
    for passage in entry.passages:
        yield "  passage: " + (passage.replace("\n", "\n           ") if full else _shortened(passage))
        words = judge.find_injection(passage)
        if words:
            yield f"  flagged: “{words}”"
    yield "  answer:  " + (entry.raw or "(nothing)").replace("\n", "\n           ")
    yield ""
