"""`harness judge`: the ledger of judgments, and whether to believe a judge."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import judge, report, running, store
from harness.cli.commands.batches import show_batches
from harness.cli.commands.common import exit_code, open_ledger, refuse_below_one
from harness.cli.commands.declaring import CACHE, Command, config_file, flag, number, option, part, path
from harness.cli.terminal import TerminalReporter, print_facts, print_line, print_table, write_out
from harness.values import ConfigError, JudgeError, counted, refuse_existing, refuse_special, snippet

_DESCRIPTION = """\
Manage the judgments of language models, and check how far they can be trusted.

  harness bench my.yaml --dry-run             what judging would cost, before anything is spent
  harness judge check my.yaml                 test the judge on a small known set (spends a little)
  harness judge agreement my.yaml             compare it with your own labels
  harness judge answers my.yaml --failed      its raw answers
  harness judge batches                       what is on its way at half the price, and how far it is
  harness judge export --to judgments.jsonl   every judgment ever paid for, to keep or share
  harness judge import judgments.jsonl        load them into another cache; nothing is paid for twice
"""


@part(
    "export",
    "write all judgments as JSON lines",
    "Write every answer of the ledger as JSON lines: query, passages, grades or the reason why there are "
    "none, the raw answer, tokens, price, time. The export contains your texts in full, but no API key.",
    path("--to", "the file to write, not overwritten; default: standard output"),
    CACHE,
)
def export(args: argparse.Namespace) -> int:
    """Write the ledger as JSON lines."""
    refuse_existing(args.to)
    with open_ledger(args.cache) as ledger:
        if args.to is None:
            for line in ledger.export_lines():
                write_out(line + "\n")
            return 0
        count = store.write_bytes(args.to, (f"{line}\n".encode() for line in ledger.export_lines()))
    print_line(f"{args.to}: {counted(count, 'answer')}. The file contains queries and passages in full.")
    return 0


@part(
    "import",
    "load judgments from JSON lines",
    "Add the lines of an export that are not yet in the ledger, all or none. A line whose key does not match "
    "its content is refused.",
    path("file", "a file written by `harness judge export`"),
    CACHE,
)
def import_(args: argparse.Namespace) -> int:
    """Add the lines of an export to the ledger."""
    try:
        refuse_special(args.file)
        with (
            args.file.open(encoding="utf-8-sig") as lines,
            store.Ledger(store.CacheLayout(args.cache).ledger) as ledger,
        ):
            imported = ledger.import_lines(lines, str(args.file))
    except UnicodeDecodeError as error:
        raise JudgeError(f"{args.file} cannot be read: {error}. Export it again.") from error
    print_line(f"{counted(imported.added, 'answer')} added, {imported.already_there} were already there.")
    return 0


@part(
    "check",
    "test the judge on a small known set",
    "Run about 50 known passages, several times each, through the judge of CONFIG. Does it grade plain "
    "passages as a person could? Does it obey instructions inside a passage, on topic or off topic? Does it "
    "agree with itself? Does the position in a list matter? This costs a little; the answers go into the "
    "ledger. Exit code 1 if it finds a problem.",
    config_file("with relevance: {judge: llm, …}"),
    number("--repeats", 3, "how often each call is made"),
)
def check(args: argparse.Namespace) -> int:
    """Run the known set through every model that judges and print the result."""
    if args.repeats < 2:
        raise ConfigError(f"--repeats is at least 2, as a judge is compared with itself, not {args.repeats}.")
    config = running.load_config(args.config)
    passed = True
    for grader in running.llm_configs(config):
        with store.Ledger(store.CacheLayout(config.cache).ledger) as ledger:
            checked = judge.check_judge(grader, ledger, reporter=TerminalReporter(), repeats=args.repeats)
        _print_check(checked)
        passed = passed and not checked.problems
    return 0 if passed else 1


def _print_check(checked: judge.CheckReport) -> None:
    bias = checked.position_bias
    position = "one passage per call" if bias is None else f"{bias:+.2f} grades"
    print_facts(
        f"{checked.judge}: known set of {counted(checked.passages, 'passage')}, alone and under attack",
        [
            ("sensible grades", f"{checked.in_range:.0%} of the plain passages"),
            *(
                (f"gained by: {attack}, {carrier}", f"{gain:+.2f} grades")
                for (attack, carrier), gain in checked.leakage.items()
            ),
            ("agrees with itself", f"{checked.self_agreement:.0%}"),
            ("place in the list", position),
            ("without a grade", f"{checked.summary.unscored_count} of {checked.summary.pairs}"),
            ("calls", checked.summary.calls),
            ("cost", "unknown" if checked.summary.cost is None else f"{checked.summary.cost:.4f}"),
        ],
    )
    for problem in checked.problems:
        print_line(f"problem: {problem}")


_ANSWERS = """\
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
    _ANSWERS,
    config_file("with relevance: {judge: llm, …}"),
    option("--query", metavar="ID|TEXT", help="answers to one query, or to those with this text"),
    flag("--failed", "answers without a grade"),
    flag("--flagged", "passages that address the judge"),
    flag("--full", "print passages in full"),
    number("--limit", 20, "the newest N answers; 0: all"),
)
def show_answers(args: argparse.Namespace) -> int:
    """Print the answers, newest last, and how many there are of each kind."""
    if args.limit < 0:
        raise ConfigError(f"--limit counts answers, 0 for all; it cannot be {args.limit}.")
    config = running.load_config(args.config)
    judges = running.llm_configs(config)
    wanted = {"failed": args.failed, "flagged": args.flagged}
    with open_ledger(config.cache) as ledger:
        entries = list(running.answers(ledger, judges, config, args.query, **wanted))
    shown = entries[-args.limit :] if args.limit else entries
    numbered = any(entry.sample for entry in entries)
    for entry in shown:
        for line in _entry_lines(entry, full=args.full, numbered=numbered):
            print_line(line)
    reasons = Counter(entry.reason for entry in entries if entry.grades is None)
    failed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    left = f", the newest {len(shown)} shown (--limit 0 shows all)" if len(shown) < len(entries) else ""
    print_line(
        f"{counted(len(entries), 'answer')}{left}; without a grade: {reasons.total()}"
        f"{f' ({failed})' if failed else ''}."
    )
    return 0


def _entry_lines(entry: store.LedgerEntry, *, full: bool, numbered: bool) -> Iterator[str]:
    grades = " ".join(map(str, entry.grades)) if entry.grades is not None else f"none ({entry.reason})"
    again = "" if entry.settled else ", asked again"
    sample = f", sample {entry.sample + 1}" if numbered else ""
    used = f"{entry.prompt_tokens or '?'} + {entry.completion_tokens or '?'} tokens"
    yield (
        f"{entry.answered_at[:19]}  {entry.served_model or entry.model}{sample}  grade: {grades}{again}"
        f"  {used}, {entry.seconds:.1f} s"
    )
    yield f"  query:   {entry.query}"
    for passage in entry.passages:
        yield "  passage: " + (passage.replace("\n", "\n           ") if full else snippet(passage))
        words = judge.find_injection(passage)
        if words:
            yield f"  flagged: “{words}”"
    yield "  answer:  " + (entry.raw or "(nothing)").replace("\n", "\n           ")
    yield ""


_AGREEMENT = """\
Let the judge of CONFIG grade what people have labelled (labels: in CONFIG) and compare: confusion matrix,
Cohen's kappa, Krippendorff's alpha, bias for each human grade, with intervals over queries.

  harness judge agreement my.yaml --dry-run   how many calls this takes
  harness judge agreement my.yaml             writes agreement.csv
  harness judge agreement my.yaml --settings  also judges the pool: do both rank the settings alike?
  harness judge agreement --pairs pairs.csv --max-grade 3

With --settings it also corrects the means of the judge, which holds if the labelled queries are a random
sample of all. pairs.csv has pairs from elsewhere: query_id, human_grade, llm_grade, model.
"""


@part(
    "agreement",
    "compare a judge with people",
    _AGREEMENT,
    path("config", "with a judge and labels", "CONFIG", nargs="?"),
    flag("--settings", "also compare the order of the settings"),
    flag("--dry-run", "print the cost and stop"),
    path("--pairs", "graded pairs as CSV, instead of a CONFIG"),
    number("--max-grade", 4, "top of the scale"),
    option(
        "--out-of-scale", choices=("reject", "clamp"), default="reject", help="of --pairs; default reject"
    ),
    path("--to", "default results/<name>-agreement", "DIR"),
)
def agreement(args: argparse.Namespace) -> int:
    """Compare a judge with people, on pairs from a file or on the labels of a configuration."""
    if (args.config is None) == (args.pairs is None):
        raise ConfigError("harness judge agreement takes either a CONFIG or --pairs FILE.")
    if args.pairs is not None and (args.settings or args.dry_run):
        raise ConfigError("--settings and --dry-run go with a CONFIG, not with --pairs.")
    if args.pairs is None and (args.max_grade, args.out_of_scale) != (4, "reject"):
        raise ConfigError("--max-grade and --out-of-scale go with --pairs.")
    refuse_below_one(**{"max-grade": args.max_grade})
    return _of_file(args) if args.config is None else _of_config(args)


def _of_file(args: argparse.Namespace) -> int:
    by_judge, odd = running.read_pairs(args.pairs, args.max_grade, args.out_of_scale)
    agreements = [
        judge.measure_agreement(name, pairs, args.max_grade, out_of_scale=odd[name])
        for name, pairs in by_judge.items()
    ]
    _leave(args.to or Path("results") / f"{args.pairs.stem}-agreement", agreements, None)
    return 0


def _of_config(args: argparse.Namespace) -> int:
    config = running.load_config(args.config)
    grader = running.pool_judge_config(config)
    if grader is None:
        raise ConfigError(
            f"{args.config}: the judge is `labels`; there is no other judge to compare with people."
        )
    with running.Session.at(config.cache, TerminalReporter(), may_ask=not args.dry_run) as session:
        corpus, searched = (
            running.search_all(config, session)
            if args.settings
            else (running.load_corpus(config, session.document_reader), [])
        )
        skipped = [item.doc_id for item in corpus.skipped]
        if args.dry_run:
            pairs = [
                *running.label_pairs(corpus),
                *(running.make_pool(searched, corpus, grader.pool).pairs if searched else ()),
            ]
            in_order = sorted(pairs, key=lambda pair: pair.query.query_id)
            ledger, planning = session.cache.ledger, running.Planning(session)
            estimate = running.estimate_pool(in_order, grader, ledger, planning, corpus)
            to_buy = running.scores_to_buy(in_order, grader, ledger, planning, corpus)
            bought = "; ".join(map(str, to_buy))
            free = f"{counted(len(pairs), 'pair')}, at no cost"
            print_line(f"{grader.title}: {estimate or bought or free}. Nothing was spent.")
            return exit_code(config, skipped)
        ledger, visitor = session.cache.ledger, running.Running(session)
        agreement = running.grade_agreement(corpus, grader, ledger, visitor, session.notes)
        settings = None
        if args.settings:
            judged = running.judge_pool(searched, corpus, config, ledger, visitor, session.notes)
            settings = running.settings_agreement(searched, corpus, config, judged, session.models)
    _leave(args.to or config.results / f"{config.name}-agreement", [agreement], settings)
    return exit_code(config, skipped)


def _leave(
    folder: Path, agreements: list[judge.Agreement], settings: running.SettingsAgreement | None
) -> None:
    """Print the figures and write the files."""
    columns = ("judge", "pairs", "no grade", "kappa", "quadratic kappa", "alpha (ordinal)", "bias")
    rows = [
        (
            *(agreement.judge, agreement.pairs, agreement.unscored),
            *map(str, (agreement.kappa, agreement.kappa_quadratic, agreement.alpha_ordinal)),
            f"{agreement.bias:+.2f}",
        )
        for agreement in agreements
    ]
    if len(rows) == 1:
        print_facts("agreement with people", list(zip(columns, rows[0], strict=True)))
        print_line(agreements[0].in_words)
    else:
        print_table("agreement with people", columns, rows)
    store.write_text(folder / "agreement.csv", judge.agreement_csv(agreements))
    if settings is not None:
        _leave_order(folder, settings)
        _leave_corrected(folder, settings)
    print_line(f"Written: {folder}/")


def _leave_order(folder: Path, settings: running.SettingsAgreement) -> None:
    order = settings.order
    if order is None:
        print_line(
            "Comparing the order of settings takes at least two rankings and a query that both can score."
        )
        return
    rows = [("all", order.settings, order.tau), ("top", order.top, order.tau_top)]
    print_table(
        f"order of settings by {settings.measure}, {counted(settings.queries, 'query', 'queries')}",
        ("settings", "how many", "Kendall's tau"),
        [(which, count, str(tau)) for which, count, tau in rows],
    )
    columns = ("which", "settings", "measure", "queries", "value", "low", "high")
    shared = {"measure": settings.measure, "queries": settings.queries}
    table = [{"which": which, "settings": n, **shared, **asdict(tau)} for which, n, tau in rows]
    store.write_text(folder / "order.csv", report.to_csv(columns, table))


def _leave_corrected(folder: Path, settings: running.SettingsAgreement) -> None:
    if not settings.corrected:
        print_line("Too few labelled queries for judge-corrected means.")
        return
    of = {"measure": settings.measure}
    means = [
        {"setting": name, "stage": stage, **of, **asdict(estimate)}
        for (name, stage), estimate in settings.corrected.items()
    ]
    differences = [
        {"setting": best[0], "stage": best[1], "against": name, "against_stage": stage, **asdict(estimate)}
        for (best, (name, stage)), estimate in settings.differences.items()
    ]
    title = f"judge-corrected {settings.measure}; valid only if the labelled queries are a random sample"
    shown = [("corrected.csv", title, ("setting", "stage"), means)]
    if differences:
        best = f"{differences[0]['setting']} ({differences[0]['stage']})"
        title = f"judge-corrected difference of {best} to each other, paired by query"
        shown.append(("corrected_differences.csv", title, ("against", "against_stage"), differences))
    for file, title, names, rows in shown:
        store.write_text(folder / file, report.to_csv(tuple(rows[0]), rows))
        columns = (names[0], "stage", "corrected", "people alone", "judge alone")
        print_table(title, columns, [(*(row[name] for name in names), *_estimates(row)) for row in rows])


def _estimates(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
        f"{row['human_only']:.3f} [{row['human_only_low']:.3f}, {row['human_only_high']:.3f}]",
        f"{row['judge_only']:.3f}",
    )


family = Command(
    _DESCRIPTION,
    parts=(export, import_, check, agreement, show_answers, show_batches),
    title="what to do",
    metavar="WHAT",
)
