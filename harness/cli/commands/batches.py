"""`harness judge batches`: what is on its way in batches, how far it is, and what to do about it."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta

from harness import models
from harness.cli.commands.common import open_ledger
from harness.cli.commands.declaring import CACHE, flag, one_of, option, part
from harness.cli.terminal import print_line, print_table
from harness.values import LlmError, counted

_BATCHES = """\
Show the batches that runs with `endpoint: {batch: true}` have sent and not yet collected: those of the judge,
and of everything else that asks a language model with this cache. Asks the endpoints how far they are; API
keys are read from the same variables as in the runs. Nothing is sent anew, and nothing is paid.

  harness judge batches                      what is on its way
  harness judge batches --cancel             cancel all of them
  harness judge batches --cancel --only batch_abc
  harness judge batches --forget batch_abc   drop one its endpoint has lost

To collect the answers, run the command that sent the calls again: it asks nothing twice, also after Ctrl-C or
a kill. Calls that a cancelled batch has answered by then are billed, and the next run collects them. Calls of
a forgotten batch are made and paid for again.

Columns: calls in the batch; how many are answered and how many failed; what it costs at most, by the prices
of the configuration. A state of in_progress, validating or finalizing ends by itself within the window (24 h
unless you set another); completed, expired and cancelled batches wait to be collected.
"""


@part(
    "batches",
    "show the batches that are on their way, or cancel them",
    _BATCHES,
    one_of(
        flag("--cancel", "cancel them at their endpoints"),
        option(
            "--forget", metavar="BATCH", help="drop this batch, whose answers are lost, by its id or number"
        ),
    ),
    option("--only", metavar="BATCH", help="one batch, by its id or number"),
    CACHE,
)
def show_batches(args: argparse.Namespace) -> int:
    """Print the batches and how far they are; exit code 1 if an endpoint did not answer."""
    only = args.forget or args.only
    with open_ledger(args.cache) as ledger:
        batches = ledger.batches.all()
        if only is not None:
            batches = [batch for batch in batches if only in (batch.batch_id, str(batch.number))]
            if not batches:
                raise LlmError(f"No batch {only} is on its way. `harness judge batches` lists them.")
        if args.forget:
            for batch in batches:
                ledger.batches.remove(batch.number)
                print_line(f"Dropped: {counted(batch.size, 'call')} of {batch.model}.")
            return 0
    if not batches:
        print_line("No batch is on its way.")
        return 0
    statuses = models.batch_statuses(batches, cancel=args.cancel)
    columns = ("no.", "batch", "model", "age", "calls", "answered", "failed", "at most", "state")
    print_table("batches on their way", columns, [_row(status) for status in statuses])
    for status in statuses:
        print_line(f"{status.batch.number}: {status.problem or status.next_step}.")
    if args.cancel:
        print_line(
            "Calls they have answered by now are billed; the next run with the same ledger collects them."
        )
    return int(any(status.problem for status in statuses))


def _row(status: models.BatchStatus) -> tuple[str, ...]:
    batch, state = status.batch, status.state
    unmade = "unknown" if status.problem else "not made"
    return (
        str(batch.number),
        batch.batch_id or (state.batch_id if state else "-"),
        batch.model,
        _age(datetime.now(UTC) - datetime.fromisoformat(batch.made_at)),
        f"{batch.size:,}",
        f"{state.completed:,}" if state else "-",
        f"{state.failed:,}" if state else "-",
        "unknown" if batch.most is None else f"{batch.most:.4f}",
        state.status if state else unmade,
    )


def _age(time: timedelta) -> str:
    """A length of time in days and hours, hours and minutes, or minutes."""
    minutes = max(0, int(time.total_seconds())) // 60
    days, hours = divmod(minutes // 60, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
