"""`harness show`: print what finished results came to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.report import SummaryRow, Table

_DESCRIPTION = """\
Print what a folder of results came to: means, where quality is lost, how the chunks look.

  harness show results/quickstart
  harness show results/quickstart --worst 10      the worst queries, and the stage to blame
  harness show results/quickstart --worst 10 --setting "chunk=500/0"

docs/results.md describes every file and column of a result.
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "show",
        help="print the summary of finished results",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/quickstart")
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="list the N worst queries of a setting; default 0"
    )
    parser.add_argument("--setting", metavar="NAME", help="of this setting; default: the best one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the results and print them."""
    from harness.report import chunk_table, loss_table, read_summary, read_table, read_waterfall
    from harness.terminal import print_summary, show

    rows, record = read_summary(args.results)
    print_summary(record["config"]["name"], rows, record["config"]["bootstrap"]["level"])
    losses = read_waterfall(args.results)
    if losses:
        show(loss_table(losses))
    chunks = read_table(args.results, "chunks.csv")
    if chunks:
        show(chunk_table(chunks))
    if args.worst > 0:
        show(_worst(args, rows))
    return 0


def _worst(args: argparse.Namespace, rows: list[SummaryRow]) -> Table:
    from harness.errors import ConfigError
    from harness.report import read_first_passages, read_waterfall, worst_table

    losses = read_waterfall(args.results)
    known = list(dict.fromkeys(row.setting for row in losses))
    if not known:
        raise ConfigError(
            f"{args.results} does not say where quality is lost: it has no waterfall.csv. Run it again."
        )
    setting = args.setting or _best(rows)
    if setting not in known:
        raise ConfigError(f"There is no setting {setting!r}. Settings: {', '.join(known)}.")
    return worst_table(losses, setting, args.worst, read_first_passages(args.results, setting))


def _best(rows: list[SummaryRow]) -> str:
    """The setting whose last stage is best by the first measure."""
    heads = {row.setting: row.mean for row in rows if row.split == "all" and row.measure == rows[0].measure}
    return max(heads, key=lambda setting: -1.0 if heads[setting] is None else heads[setting] or 0.0)
