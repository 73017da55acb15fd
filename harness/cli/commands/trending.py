"""`harness trend`: results of days or weeks in the order of time, and whether they have changed."""

from __future__ import annotations

import argparse

from harness import comparison, store
from harness.cli.commands.common import measures, names_of_measures
from harness.cli.commands.declaring import command, flag, option, path
from harness.cli.terminal import print_line, show
from harness.values import ConfigError

_DESCRIPTION = """\
Put results in the order of time, draw them with their intervals, and say which changes are more than chance.

  harness trend results
  harness trend results/june --by day --measures faithfulness --output trend.svg
  harness trend results --since 2026-06-01 --fail-if-fallen

Results are what `harness bench` and `harness score-answers --results` write. Answers with a `time` are placed
by it, others by when they were scored. However often you look, the chance that a stable mean is ever called
changed is at most --level in all.
"""


@command(
    _DESCRIPTION,
    path("results", "folders of results, or the folder that holds them", "RESULTS", nargs="+"),
    measures("all measures of answers, else the headline of rankings"),
    option("--setting", metavar="NAME", help="whose values; required if there are several"),
    option(
        "--by",
        choices=("result", "day", "week"),
        default="result",
        help="what makes one look; default result",
    ),
    option("--since", default="", metavar="DAY", help="leave out what is older, such as 2026-06-01"),
    option("--level", type=float, default=0.05, metavar="P", help="chance of a false alarm; default 0.05"),
    path("--output", "draw them into this .svg or .html file"),
    flag("--fail-if-fallen", "exit code 1 while the latest change of a measure is a fall"),
)
def trend(args: argparse.Namespace) -> int:
    """Print the trends; 1 if one has fallen and that fails."""
    if not 0 < args.level < 1:
        raise ConfigError(f"--level is {args.level:g}; it must be between 0 and 1.")
    kind = args.output.suffix.lower() if args.output else ".svg"
    if kind not in (".svg", ".html"):
        raise ConfigError(f"--output is {args.output}; name a .svg or .html file.")
    folders = comparison.find_results(args.results)
    names = names_of_measures(args.measures)
    trends = comparison.read_trends(folders, names, args.setting, args.by, args.since, args.level)
    promise = (
        "Each interval is of one mean. Changes are tested over all looks together: if nothing changes, the "
        f"chance that any is ever called a change is at most {args.level:g}."
    )
    sentences = tuple(line for shown in trends for line in shown.sentences)
    show(sentences, *map(comparison.trend_table, trends), (promise,))
    if args.output:
        draw = comparison.trend_svg if kind == ".svg" else comparison.trend_page
        store.write_text(args.output, draw(trends))
        print_line(f"Drawn: {args.output}")
    return int(args.fail_if_fallen and any(shown.fallen for shown in trends))
