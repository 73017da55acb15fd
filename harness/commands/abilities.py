"""`harness abilities`: what a model makes of noise, missing, scattered and false evidence."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.answer.stage import AnswerConfig

_DESCRIPTION = """\
Test a model on the four abilities of RGB (Chen et al., AAAI 2024): answering despite noise, saying that
the answer is missing, combining evidence, and noticing false evidence. With your own corpus and labels:

  harness bench my.yaml                                     # queries with a column answer
  harness abilities own results/mine --output trials.jsonl
  harness abilities try trials.jsonl --config my.yaml       # its section answer says which model answers

Or with RGB's files, which may be used for evaluation only (CC BY-NC-SA 4.0):

  harness abilities rgb rgb/en_fact.jsonl rgb/zh_refine.jsonl --output trials.jsonl
"""


def add(commands: Any) -> None:
    """Describe the commands."""
    parser = commands.add_parser(
        "abilities", help="test a model on noise, missing and false evidence", description=_DESCRIPTION
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    own = parts.add_parser(
        "own",
        help="make trials from a folder of results",
        description="Make trials from your own questions: evidence from their labels, near misses from real "
        "rankings. Questions need golden answers (a column answer in the query file; `;` separates parts).",
    )
    own.add_argument("results", type=Path, metavar="RESULTS", help="folder such as results/mine")
    own.set_defaults(run=run_own)
    rgb = parts.add_parser(
        "rgb",
        help="make trials from RGB's files",
        description="Make trials from RGB's files, by the rules of its script.",
    )
    rgb.add_argument("files", type=Path, nargs="+", metavar="FILE", help="such as en_fact.jsonl")
    rgb.add_argument(
        "--true",
        action="store_true",
        help="use the true passages of counterfactual files (*_fact), for noise and rejection",
    )
    rgb.set_defaults(run=run_rgb)
    for making in (own, rgb):
        making.add_argument("--output", type=Path, required=True, metavar="FILE", help="not overwritten")
        making.add_argument(
            "--passages", type=int, default=5, metavar="N", help="passages per trial; default 5"
        )
        making.add_argument(
            "--rates",
            default="0,0.2,0.4,0.6,0.8",
            metavar="LIST",
            help="shares of noise; default 0,0.2,0.4,0.6,0.8; ⌈N · rate⌉ passages are noise",
        )
        making.add_argument(
            "--seed", type=int, default=2333, metavar="N", help="seed of random draws; default 2333"
        )
    trying = parts.add_parser(
        "try",
        help="let a model answer trials, and print the table",
        description="Let the answerer of CONFIG (its section `answer`) answer every trial, and print the "
        "shares by ability and noise. Answers of a language model are paid for once and kept in the ledger. "
        "The built-in prompt `abilities` (`abilities_zh`) asks for the phrases by which answers are marked.",
    )
    trying.add_argument(
        "trials", type=Path, metavar="TRIALS", help="file written by `abilities own` or `rgb`"
    )
    trying.add_argument("--config", type=Path, required=True, metavar="CONFIG", help="YAML with `answer`")
    trying.add_argument(
        "--output", type=Path, metavar="FILE", help="write every answer and mark to a .csv file"
    )
    trying.add_argument(
        "--any-refusal",
        action="store_true",
        help="also count refusals in other words than those RGB looks for; its published figures do not",
    )
    trying.add_argument(
        "--dry-run", action="store_true", help="say how many calls it takes and what they cost; ask nothing"
    )
    trying.add_argument("--quiet", action="store_true", help="no progress bars and warnings")
    trying.set_defaults(run=run_try)


def run_own(args: argparse.Namespace) -> int:
    """Make them of a folder of results."""
    from harness.abilities.from_results import evidence_of
    from harness.abilities.own import LeftOut, own_trials
    from harness.terminal import print_line

    left = LeftOut({})
    evidence = evidence_of(args.results)
    _write(args, list(own_trials(evidence, _options(args), left)))
    for (ability, why), count in sorted(left.counts.items()):
        print_line(f"  {ability}: {count} left out ({why})")
    return 0


def run_rgb(args: argparse.Namespace) -> int:
    """Make them of files of RGB."""
    from harness.abilities.rgb import read_rgb, rgb_trials

    options = _options(args)
    _write(args, [one for file in args.files for one in rgb_trials(read_rgb(file, true=args.true), options)])
    return 0


def run_try(args: argparse.Namespace) -> int:
    """Answer them and print the table."""
    from harness.abilities.answered import price, shares_table, try_out
    from harness.abilities.trial import read_trials
    from harness.errors import ConfigError
    from harness.report import counted
    from harness.running.context import Context
    from harness.terminal import TerminalReporter, print_line, show

    if args.output and args.output.suffix.lower() != ".csv":
        raise ConfigError(f"--output is {args.output}; name a .csv file.")
    answerer, cache = _answerer(args.config)
    trials = read_trials(args.trials)
    with Context.at(cache, TerminalReporter(quiet=args.quiet), may_ask=not args.dry_run) as context:
        if args.dry_run:
            missing = price(trials, answerer, context)
            for one in missing:
                print_line(f"{one.name}: {one.estimate}" + (f" {one.problem}" if one.problem else ""))
            if not missing:
                print_line("No calls are needed.")
            return 0
        tried = try_out(trials, answerer, context, any_refusal=args.any_refusal)
    show(shares_table(f"{args.trials.name}: {counted(len(trials), 'trial')}", tried))
    if args.output:
        _write_marks(args.output, tried)
        print_line(f"Every answer: {args.output}")
    return 0


def _options(args: argparse.Namespace) -> Any:
    from harness.abilities.rgb import RgbOptions
    from harness.errors import ConfigError

    try:
        rates = tuple(dict.fromkeys(float(one) for one in args.rates.split(",")))
    except ValueError:
        raise ConfigError(f"--rates is {args.rates!r}; write shares such as 0,0.2,0.4.") from None
    if args.passages < 1 or not all(0 <= rate < 1 for rate in rates):
        raise ConfigError("--passages is at least 1, and --rates are from 0 to below 1 (1 is rejection).")
    return RgbOptions(args.passages, rates, args.seed)


def _write(args: argparse.Namespace, trials: list[Any]) -> None:
    from collections import Counter

    from harness.abilities.trial import write_trials
    from harness.errors import CorpusError
    from harness.report import counted
    from harness.terminal import print_line

    if not trials:
        raise CorpusError(
            "No question gives a trial: trials need evidence, near misses and golden answers. Write answers "
            "into the column answer of the query file, label their evidence, and run the benchmark again."
        )
    write_trials(trials, args.output)
    told = ", ".join(f"{ability} {count}" for ability, count in Counter(t.ability for t in trials).items())
    print_line(f"{args.output}: {counted(len(trials), 'trial')} ({told})")


def _answerer(path: Path) -> tuple[AnswerConfig, Path]:
    """The section ``answer`` of a file, which has one answerer, and the cache that the file names."""
    from pydantic import ValidationError

    from harness.answer.stage import ANSWERERS
    from harness.config.explain import explain
    from harness.config.source import read_source

    source = read_source(path)
    section = source.data.get("answer")
    if not isinstance(section, dict):
        raise source.error(("answer",), "must be one section here, such as `answer: {kind: extractive}`.")
    kind = ANSWERERS.find(section.get("kind", ANSWERERS.default))
    try:
        config: AnswerConfig = kind.config.model_validate(section)
    except ValidationError as error:
        raise explain(source, ("answer",), error, known=kind.config.model_fields) from None
    cache = source.data.get("cache", ".cache/harness")
    if not isinstance(cache, str):
        raise source.error(("cache",), "must be the path of a folder.")
    return config, Path(cache)


def _write_marks(path: Path, tried: list[Any]) -> None:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("trial_id", "ability", "rate", "answer", "reason", "right", "rejects", "detects"))
        for one in tried:
            marks = ["", "", ""]
            if one.marked is not None:
                marks = [
                    "yes" if m else "no" for m in (one.marked.right, one.marked.rejects, one.marked.detects)
                ]
            trial = one.trial
            writer.writerow(
                (trial.trial_id, trial.ability, trial.rate, one.reply.text or "", one.reply.reason, *marks)
            )
