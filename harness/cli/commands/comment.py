"""`harness comment`: what a run found, as one comment on a pull request."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import comparison, report
from harness.cli.commands.declaring import command, option, path, results_folder
from harness.cli.forges import forge_of
from harness.cli.gate_check import check_against, means_in
from harness.cli.terminal import print_line, write_lines
from harness.values import listed

_DESCRIPTION = """\
Write what a run found as one comment on a pull request: a sentence, a table, a chart and the queries that
lost most. The next run replaces the comment.

  harness comment results/mine --baseline main/mine --max-drop 0.02
  harness comment results/mine --baseline main/mine --output comment.md

In a workflow of GitHub the pull request is the one that runs it, and the token is GITHUB_TOKEN; in one of
GitLab it is the merge request, and the token GITLAB_TOKEN. Exits with 1 as `harness gate` does, after the
comment is written. Without a baseline the comment has the means and the verdict. docs/gate.md has whole
workflows.
"""


@command(
    _DESCRIPTION,
    results_folder(),
    path("--baseline", "the results to compare with", "BASE"),
    option("--max-drop", type=float, default=0.0, metavar="X", help="the largest drop tolerated; default 0"),
    option("--min", type=float, metavar="X", dest="least", help="the mean that every setting must reach"),
    option("--measure", metavar="NAME", help="default: the headline of the results"),
    option("--link", metavar="URL", help="where all results of the run are"),
    path("--output", "write the comment to this file, and to no pull request"),
    path("--summary", "append the comment to this file too, such as $GITHUB_STEP_SUMMARY"),
    option(
        "--repository", metavar="NAME", help="owner/name, or the id of a project; default: of the workflow"
    ),
    option("--number", type=int, metavar="N", help="the pull request; default: of the workflow"),
)
def comment(args: argparse.Namespace) -> int:
    """Write the comment; 1 if the gate fails."""
    name = args.results.resolve().name
    if args.baseline is None:
        means = means_in(args.results, args.measure)
        low = means.below(args.least)
        failed = bool(low)
        sentence = f"{listed(low, 3)}: below the {args.least:g} required." if low else means.sentences[0]
        body = comparison.comment_without_baseline(
            sentence, failed, means.measure, means.by_setting, means.sentences, name, args.link or ""
        )
    else:
        checked = check_against(
            args.results, args.baseline, measure=args.measure, max_drop=args.max_drop, least=args.least
        )
        failed = checked.result.failed
        body = comparison.comment_on(
            checked.result,
            checked.sentence,
            checked.matrices,
            query_texts(args.results),
            name,
            (*checked.before, *checked.after),
            args.link or "",
        )
    if args.summary:
        with args.summary.open("a", encoding="utf-8") as summary:
            summary.write(body)
    if args.output:
        write_lines(body, args.output)
    else:
        address = forge_of(args.repository, args.number).publish(comparison.marker(name), body)
        print_line(f"Comment: {address}")
    return 1 if failed else 0


def query_texts(folder: Path) -> dict[str, str]:
    """The texts of the queries of a folder of results by id; none where it does not keep them."""
    if not (folder / "queries.csv").exists():
        return {}
    table = report.read_table(folder, "queries")
    return dict(zip(table["query_id"], table["text"], strict=True))
