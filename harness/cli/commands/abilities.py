"""`harness abilities`: how a model handles noise, missing, scattered and false evidence."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from harness import report, running, steps, store
from harness.cli.commands.declaring import (
    QUIET,
    Command,
    flag,
    number,
    part,
    path,
    results_folder,
    several,
)
from harness.cli.commands.shared import print_prices, refuse_other_than_csv
from harness.cli.terminal import TerminalReporter, print_line, show
from harness.values import ConfigError, CorpusError, counted

_DESCRIPTION = """\
Test a model on the four abilities of RGB (Chen et al., AAAI 2024): answering despite noise, saying that
the answer is missing, combining evidence, and noticing false evidence. With your own corpus and labels:

  harness bench my.yaml                                     # queries with a column answer
  harness abilities own results/mine --output trials.jsonl
  harness abilities try trials.jsonl --config my.yaml       # its section answer says which model answers

Or with RGB's files, which may be used for evaluation only (CC BY-NC-SA 4.0):

  harness abilities rgb rgb/en_fact.jsonl rgb/zh_refine.jsonl --output trials.jsonl
"""
_MAKING = (
    path("--output", "not overwritten", required=True),
    number("--passages", 5, "passages per trial"),
    several(
        "--rates",
        "shares of noise, separated by commas or spaces; default 0,0.2,0.4,0.6,0.8; ⌈N · rate⌉ passages are "
        "noise",
        "SHARE",
    ),
    number("--seed", 2333, "seed of random draws"),
)


@part(
    "own",
    "make trials from a folder of results",
    "Make trials from your own questions: evidence from their labels, near misses from real rankings. "
    "Questions need golden answers (a column answer in the query file; `;` separates parts).",
    results_folder(),
    *_MAKING,
)
def own(args: argparse.Namespace) -> int:
    """Make them of a folder of results."""
    left = running.LeftOut()
    evidence = running.evidence_of(args.results)
    _write(args, list(running.own_trials(evidence, _options(args), left)))
    for (ability, why), count in sorted(left.items()):
        print_line(f"  {ability}: {count} left out ({why})")
    return 0


@part(
    "rgb",
    "make trials from RGB's files",
    "Make trials from RGB's files, by the rules of its script.",
    path("files", "such as en_fact.jsonl", nargs="+"),
    flag("--true", "use the true passages of counterfactual files (*_fact), for noise and rejection"),
    *_MAKING,
)
def rgb(args: argparse.Namespace) -> int:
    """Make them of files of RGB."""
    options = _options(args)
    _write(args, [one for file in args.files for one in running.rgb_trials(file, options, true=args.true)])
    return 0


@part(
    "try",
    "let a model answer trials, and print the table",
    "Let the answerer of CONFIG (its section `answer`) answer every trial, and print the shares by ability "
    "and noise. Answers of a language model are paid for once and kept in the ledger. The built-in prompt "
    "`abilities` (`abilities_zh`) asks for the phrases by which answers are marked.",
    path("trials", "file written by `abilities own` or `rgb`", "TRIALS"),
    path("--config", "YAML with `answer`", "CONFIG", required=True),
    path("--output", "write every answer and mark to a .csv file"),
    flag(
        "--any-refusal",
        "also count refusals in other words than those RGB looks for; its published figures do not",
    ),
    flag("--dry-run", "say how many calls it takes and what they cost; ask nothing"),
    QUIET,
)
def try_(args: argparse.Namespace) -> int:
    """Answer them and print the table."""
    refuse_other_than_csv(args.output)
    answerer, cache = _answerer(args.config)
    trials = running.read_trials(args.trials)
    with running.Context.at(cache, TerminalReporter(quiet=args.quiet), may_ask=not args.dry_run) as context:
        if args.dry_run:
            print_prices(running.price(trials, answerer, context))
            return 0
        tried = running.answer_trials(trials, answerer, context, any_refusal=args.any_refusal)
    show(running.shares_table(f"{args.trials.name}: {counted(len(trials), 'trial')}", tried))
    if args.output:
        store.write_text(args.output, _marks_csv(tried))
        print_line(f"Every answer: {args.output}")
    return 0


def _options(args: argparse.Namespace) -> Any:
    given = ",".join(args.rates) or "0,0.2,0.4,0.6,0.8"
    try:
        rates = tuple(dict.fromkeys(float(one) for one in given.split(",")))
    except ValueError:
        raise ConfigError(f"--rates is {given!r}; write shares such as 0,0.2,0.4.") from None
    if args.passages < 1 or not all(0 <= rate < 1 for rate in rates):
        raise ConfigError("--passages is at least 1, and --rates are from 0 to below 1 (1 is rejection).")
    return running.RgbOptions(args.passages, rates, args.seed)


def _write(args: argparse.Namespace, trials: list[Any]) -> None:
    if not trials:
        raise CorpusError(
            "No question gives a trial: trials need evidence, near misses and golden answers. Write answers "
            "into the column answer of the query file, label their evidence, and run the benchmark again."
        )
    running.write_trials(trials, args.output)
    counts = ", ".join(f"{ability} {count}" for ability, count in Counter(t.ability for t in trials).items())
    print_line(f"{args.output}: {counted(len(trials), 'trial')} ({counts})")


def _answerer(path: Path) -> tuple[steps.AnswerConfig, Path]:
    """The section ``answer`` of a file, which has one answerer, and the cache that the file names."""
    source = running.read_source(path)
    section = source.data.get("answer")
    if not isinstance(section, dict):
        raise source.error(("answer",), "must be one section here, such as `answer: {kind: extractive}`.")
    config: steps.AnswerConfig = source.of_kind(steps.ANSWERERS, section, ("answer",))
    cache = source.data.get("cache", ".cache/harness")
    if not isinstance(cache, str):
        raise source.error(("cache",), "must be the path of a folder.")
    return config, Path(cache)


def _marks_csv(tried: list[Any]) -> str:
    marks = ("right", "rejects", "detects")
    return report.to_csv(
        ("trial_id", "ability", "rate", "answer", "reason", *marks),
        (
            {
                "trial_id": one.trial.trial_id,
                "ability": one.trial.ability,
                "rate": one.trial.rate,
                "answer": one.reply.text,
                "reason": one.reply.reason,
                **{mark: getattr(one.marked, mark, None) for mark in marks},
            }
            for one in tried
        ),
    )


abilities = Command(_DESCRIPTION, parts=(own, rgb, try_))
