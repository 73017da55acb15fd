"""`harness judge batches`: batches that are in progress, and how to end it."""

from __future__ import annotations

import argparse

from harness import models
from harness.cli.commands.declaring import CACHE, flag, one_of, option, part
from harness.cli.commands.shared import open_ledger
from harness.cli.terminal import print_line, print_table
from harness.values import LlmError, counted

_DESCRIPTION = """\
Show the batches that runs with `batch: true` have sent and not yet collected: those of the judge, and
of everything else that uses the same ledger. Asks the endpoints how far they are; API keys are read
from the same variables as in the runs.

  harness judge batches                    what is in progress
  harness judge batches --cancel           cancel all of them
  harness judge batches --cancel --only batch_abc
  harness judge batches --forget batch_abc drop a batch that its endpoint no longer knows

To collect the answers, repeat the command that sent them. Calls that a cancelled batch has answered by then
are billed, and the next run collects them too. Calls of a forgotten batch are made and paid for again.
"""


@part(
    "batches",
    "show the batches that are in progress, or cancel them",
    _DESCRIPTION,
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
                raise LlmError(f"No batch {only} is in progress. `harness judge batches` lists them.")
        if args.forget:
            for batch in batches:
                ledger.batches.remove(batch.number)
                print_line(f"Dropped: {counted(batch.size, 'call')} of {batch.model}.")
            return 0
    if not batches:
        print_line("No batch is in progress.")
        return 0
    seen = models.batch_statuses(batches, cancel=args.cancel)
    columns = ("no.", "batch", "model", "sent (UTC)", "calls", "status", "answered")
    print_table("batches in progress", columns, [_row(one) for one in seen])
    for one in seen:
        if one.problem:
            print_line(f"{one.batch.number}: {one.problem}")
    if args.cancel:
        print_line(
            "Calls they have answered by now are billed; the next run with the same ledger collects them."
        )
    return int(any(one.problem and one.batch.file_id for one in seen))


def _row(one: models.BatchStatus) -> tuple[str, ...]:
    batch, state = one.batch, one.state
    return (
        str(batch.number),
        batch.batch_id or (state.batch_id if state else "-"),
        batch.model,
        batch.made_at.removesuffix("+00:00"),
        f"{batch.size:,}",
        state.status if state else "unknown",
        f"{state.completed:,}" if state else "-",
    )
