"""docs/reading-a-run.md: the result of the quickstart, explained figure by figure."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from harness import comparison
from harness.cli.api import Results
from harness.comparison.first_screen import pair_of, setting_chart
from harness.comparison.glance import holds, largest
from harness.comparison.next_steps import steps_of
from harness.comparison.verdict_parts import Effect, Standing

# the headline first: the settings differ in their chunks
MEASURES = ("ndcg_evidence@5000", "ndcg_exp@10", "ndcg_lin@10", "recall@10", "judged@10")
HEADLINE = MEASURES[0]
# What each part of a loss means, in the order in which a query goes through the steps.
_PARTS = {
    "badly chunked": "chunks split the evidence up, or surround it with other text",
    "not found": "the search did not find the chunk that has it",
    "ranked too low": "the chunk was found, but ranked below others",
    "by the rerank step": "the reranker moved it down; a loss below 0 is a gain",
}
_GROUPS = {"use": "use this", "may": "may be best", "out": "ruled out"}

_PAGE = """\
# Reading a run

Read a run in this order: which setting to use, how sure that is, what each choice does, where quality is
lost, and what to do next. The last lines of `harness bench` and the first screen of [the report
page](report.md) say just that. This page explains one of them, `make bench
CONFIG=configs/quickstart.yaml`, figure by figure. `make docs` writes its figures from that run, and CI
checks them.

## What was compared

{settings} settings: two chunk sizes, each searched in four ways. On the screen a setting is named in
words, by what varies; in files and commands by its keys:

| in words | in files | means |
|---|---|---|
| 500 or 1,000 characters | `chunk=500/0`, `chunk=1000/0` | at most so many in a chunk, without overlap |
| vector search | `chroma` | ranked by the vectors of the bundled model all-MiniLM-L6-v2, so by meaning |
| keyword search | `bm25` | ranked by BM25, so by the words that query and passage share |
| keyword + vector search | `minmax` | both; the scores of each are scaled to 0 to 1 and added |
| reranked | `late_interaction` | what both found, ranked again by comparing tokens |

The [collection](../corpora/meridian/README.md) has {documents} documents and {queries} queries. The
documents answer {answerable} of them. For the other {unanswerable} there is nothing to find, so they
count in no mean here; `answerability.csv` says how well a low score reveals them.

## Which setting, and how sure?

> {sentence}

> {holds}

- **Use …**: the setting with the highest mean, or one as good that may lose less. Its name says what to set.
- **At most {regret}**: no other setting of the run is better by more than this, with 95 %
  confidence for all of them at once. If you can accept that, use it, whatever else is undecided.
- **Its NDCG over the first 5,000 characters read**, {HEADLINE} in files and tables: how good it is,
  which the bound does not say. Where even the best mean is below 0.3, the
  verdict is that none is good enough.
- **Also holds for …**: queries on one document resemble each other, so many queries on few documents say
  little about the next document. New documents are spoken of only with queries on enough of them
  ([statistics](statistics.md#clusters)).

## What does each choice do?

| choice | difference | 95 % interval | |
|---|---:|---:|---|
{factors}

- **difference**: of the means in {HEADLINE}, averaged over all settings that differ in nothing else.
  {first}
- **95 % interval**: of that difference. Where it contains 0, chance may explain the difference. All rows
  are tested at once, so that none is called better by luck; this makes the intervals wider.
- **better, worse**: the interval does not contain 0; *here*: shown for these documents, not for new ones.
  *No difference found* does not mean that there is none: it may be small, or there are too few queries.
  *Equal within 0.02* means that the whole interval is inside ±0.02, the `tolerance`, a difference that
  you would not act on.
- `harness compare results/quickstart` lists the differences of all pairs of settings.

## How good is each setting?

| setting | {measures} | 95 % interval | train | validation | group |
|---|{columns}---|
{board}

- **{HEADLINE}** reads the ranking as one text, up to 5,000 characters, and credits each piece of evidence
  by how soon it has been read. 1 means that all evidence came first. *{used}* reaches {mean} of 1.
- **95 % interval**: the mean over many more such queries lies between {low} and {high}, with 95 %
  confidence. This is the interval of one mean. It cannot tell whether two settings differ, because both
  were asked the same queries.
- **ndcg_exp@10, ndcg_lin@10, recall@10** count chunks, so they compare only settings with the same
  chunks. With both searches, `ndcg_exp@10` is {small_chunks} for 500 characters and {large_chunks}
  for 1,000, but `{HEADLINE}` is {small} and {large}. A chunk earns its full grade however much other text
  comes with it, which favours large chunks ([why this measure](study-measure.md)).
- **judged@10** is the share of the first ten passages that have a grade. Passages without one count as
  irrelevant. Of the first 5,000 characters, a share of {judged_low} to {judged_high} is
  graded, depending on the setting. Grades for the rest could lift *{used}* to {upper} at most.
- **train, validation**: two parts of the queries. Choose a setting on train, and believe its value on
  validation: the one that looks best where you choose has also been lucky there.
- **group**: *use this*; *may be best*, where nothing shows that it is worse; *ruled out*, where a choice
  in it or another setting is shown to be better.

## Where is quality lost?

> {largest}

The losses of a setting and what is left sum to 1:

| setting | {parts} | left |
|---|{part_columns}
{losses}

{meanings}

`harness show results/quickstart --worst 10` lists the queries that lose most, and a query opened on
the page shows what was ranked, and where its evidence is.

## What does it cost?

`prices.csv` counts what does not depend on the machine: to read 5,000 characters, a language model reads
about {tokens} tokens a query. Time does depend on it: `latency.csv` has the milliseconds of one query,
step by step, on the machine of the run.

## What next?

> {next}

The next step tackles the largest loss if that is larger than what the setting may lose to another one,
as here; otherwise it makes the choice surer ([the rule](statistics.md#what-comes-next)).
"""


def reading(results: Results) -> str:
    """The Markdown page for the results of the quickstart."""
    verdict = comparison.verdict_on(results.folder)
    settings = [row.standing for row in setting_chart(verdict).rows]
    factors, step = verdict.effects.main, steps_of(verdict)[0]
    means = _means(results)
    used = next(one for one in settings if one.group == "use")
    head, judged = means[HEADLINE][used.setting], means["judged_text@5000"]
    present = {loss.label for one in settings for loss in one.losses}
    parts = [part for part in _PARTS if part in present]

    def mean(measure: str, setting: str) -> str:
        return _show(means[measure][setting]["mean"])

    text = _PAGE.format(
        **_counts(results),
        HEADLINE=HEADLINE,
        settings=len(settings),
        sentence=comparison.sentence(verdict),
        holds=holds(verdict),
        # rounded up, as the sentence does
        regret=f"{math.ceil(round(100 * (used.regret or 0.0), 6)) / 100:.2f}",
        factors="\n".join(_factor_row(one) for one in factors),
        first=_example(factors[0]),
        measures=" | ".join(MEASURES),
        columns="---:|" * (len(MEASURES) + 3),
        board=_board(results, settings, mean),
        used=used.words,
        mean=_show(used.mean),
        low=_show(head["ci_low"]),
        high=_show(head["ci_high"]),
        small_chunks=mean("ndcg_exp@10", "chunk=500/0 minmax"),
        large_chunks=mean("ndcg_exp@10", "chunk=1000/0 minmax"),
        small=mean(HEADLINE, "chunk=500/0 minmax"),
        large=mean(HEADLINE, "chunk=1000/0 minmax"),
        judged_low=_show(min(row["mean"] for row in judged.values())),
        judged_high=_show(max(row["mean"] for row in judged.values())),
        upper=mean("ndcg_evidence_upper@5000", used.setting),
        largest=largest(verdict),
        parts=" | ".join(parts),
        part_columns="---:|" * (len(parts) + 1),
        losses=_losses(settings, parts),
        meanings="\n".join(f"- **{part}**: {_PARTS[part]}." for part in parts),
        tokens=_tokens(results, used.setting),
        next=f"{step.text} `{re.sub(r'[^ ]+/quickstart', 'results/quickstart', step.copied)}`",
    )
    return "\n\n".join(map(_wrapped, text.split("\n\n")))


def _wrapped(block: str) -> str:
    """A paragraph, a quotation or the items of a list in lines of at most 120 characters."""
    if block.startswith(("|", "#")):
        return block
    wrapped: list[str] = []
    for item in block.strip().split("\n- "):
        item = f"- {item}" if wrapped else item
        later = "> " if item.startswith("> ") else "  " * item.startswith("- ")
        text = " ".join(item.split())
        wrapped += textwrap.wrap(
            text, 120, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(wrapped) + "\n" * block.endswith("\n")


def _factor_row(one: Effect) -> str:
    low, difference, high = one.bounds
    bounds = "" if low is None or high is None else f"{_signed(low)} to {_signed(high)}"
    return f"| {pair_of(one)} | {_signed(difference)} | {bounds} | {one.words} |"


def _example(one: Effect) -> str:
    """A sentence on the first row of the table."""
    difference = one.found.difference
    change = "gains" if difference > 0 else "loses"
    return f"The first row: {pair_of(one)} {change} {abs(difference):.2f} on average over the searches."


def _board(results: Results, settings: Sequence[Standing], mean: Callable[[str, str], str]) -> str:
    """The rows of the leader board, the best first: means with intervals, the two splits, the group."""
    rows = []
    splits = [_means(results, split)[HEADLINE] for split in ("train", "validation")]
    for one in settings:
        figures = " | ".join(mean(measure, one.setting) for measure in MEASURES)
        interval = f"{_show(one.low)}–{_show(one.high)}"
        parted = " | ".join(_show(split[one.setting]["mean"]) for split in splits)
        rows.append(f"| {one.words} | {figures} | {interval} | {parted} | {_GROUPS[one.group]} |")
    return "\n".join(rows)


def _losses(settings: Sequence[Standing], parts: list[str]) -> str:
    rows = []
    for one in settings:
        lost = {loss.label: loss.value for loss in one.losses}
        cells = " | ".join(_show(lost.get(part)) for part in parts)
        rows.append(f"| {one.words} | {cells} | {_show(one.mean)} |")
    return "\n".join(rows)


def _means(results: Results, split: str = "all") -> dict[str, dict[str, Any]]:
    """Of every measure the row of every setting at its last stage."""
    table = results.summary
    # a later stage of a setting takes the place of an earlier one
    last = table[table.split == split].drop_duplicates(["setting", "measure"], keep="last")
    found: dict[str, dict[str, Any]] = {}
    for row in last.to_dict("records"):
        found.setdefault(str(row["measure"]), {})[str(row["setting"])] = row
    return found


def _counts(results: Results) -> dict[str, int]:
    """How many documents and queries there are, and how many of these are answered."""
    head = next(iter(_means(results)[HEADLINE].values()))
    answerable, unanswerable = int(head["n_queries"]), int(head["n_unanswerable"])
    return {
        "documents": len(results.table("documents")),
        "queries": answerable + unanswerable,
        "answerable": answerable,
        "unanswerable": unanswerable,
    }


def _tokens(results: Results, setting: str) -> str:
    prices = results.table("prices")
    row = prices[(prices.setting == setting) & (prices.measure == HEADLINE)].iloc[-1]
    return f"{round(row.tokens_read, -2):,.0f}"


def _signed(value: float) -> str:
    return f"{value:+.2f}" if round(value, 2) else "0.00"


def _show(value: float | None) -> str:
    # two decimals: the third may differ between processors
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00")
