"""docs/reading-a-run.md: the result of the quickstart, explained figure by figure."""

from __future__ import annotations

import textwrap
from typing import Any

from harness.cli.api import Results

# the headline first: the settings differ in their chunks
MEASURES = ("ndcg_evidence@5000", "ndcg_exp@10", "ndcg_lin@10", "recall@10", "judged@10")
HEADLINE = MEASURES[0]
# The parts of the loss in the order in which a question goes through the steps: name, as printed, meaning.
PARTS = {
    "chunking": ("chunking", "the chunks cut the evidence apart, or surround it with other text"),
    "candidates": ("candidates", "the search did not find the chunk that has it"),
    "order": ("order", "the chunk was found, but ranked below others"),
    "change": ("rerank", "the reranker moved it down; a loss below 0 is a gain"),
}

_PAGE = """\
# Reading a run

Read a run in this order: which setting to use, how sure that is, by how much settings differ, where
quality is lost, and what to do next. This page does so with one result, that of `make bench
CONFIG=configs/quickstart.yaml`. `make docs` writes its figures from that run, and CI checks them.
`harness show results/quickstart` and `harness compare results/quickstart` print them with all decimals;
[the report page](report.md) draws them.

## What was compared

{settings} settings: two chunk sizes, each searched in four ways. A name lists only what varies between
settings.

| in a name | means |
|---|---|
| `chunk=500/0`, `chunk=1000/0` | chunks of at most 500 or 1,000 characters; neighbours share 0 characters |
| `chroma` | searched by vectors of the bundled model all-MiniLM-L6-v2 |
| `bm25` | searched by words |
| `minmax` | searched by both; the scores of each are scaled to 0 to 1 and added |
| `late_interaction` | what `minmax` found, ranked again by comparing tokens |

The [collection](../corpora/meridian/README.md) has {documents} documents and {questions} questions. The
documents answer {answerable} of them. For the other {unanswerable} there is nothing to find, so they
count in no mean here; `answerability.csv` says how well a low score reveals them.

## Which setting, and how sure?

The verdict begins:

> {verdict}

{leader} has the highest mean. What you risk by using it is the loss that the verdict names: with 95 %
confidence it is at most {regret} worse than any other of these settings. If you can accept that, use it,
whatever else is undecided.

| setting | {head} | 95 % interval | train | validation | {more} |
|---|{columns}
{board}

- **{HEADLINE}** reads the ranking as one text, up to 5,000 characters, and credits each piece of evidence
  by how soon it has been read. 1 means that all evidence came first. {leader} reaches {mean} of 1.
- **95 % interval**: the mean over many more such questions lies between {low} and {high}, with 95 %
  confidence. This is the interval of one mean. It cannot tell whether two settings differ, because both
  were asked the same questions.
- **train, validation**: two parts of the questions. Choose a setting on train, and believe its value on
  validation: the one that looks best where you choose has also been lucky there.
- **ndcg_exp@10, ndcg_lin@10, recall@10** count chunks, so they compare only settings with the same
  chunks. With the search `minmax`, `ndcg_exp@10` is {small_chunks} for 500 characters and {large_chunks}
  for 1,000, but `{HEADLINE}` is {small} and {large}. A chunk earns its full grade however much other text
  comes with it, which favours large chunks ([why this measure](study-measure.md)).
- **judged@10** is the share of the first ten passages that a person has graded. Passages that nobody
  graded count as irrelevant. Of the first 5,000 characters, a share of {judged_low} to {judged_high} is
  graded, depending on the setting. Grades for the rest could lift {leader} to {upper} at most.

## By how much do settings differ?

Every question is asked of all settings, so a difference is measured question by question, which is more
precise than comparing two intervals.

| setting | against | difference | 95 % interval |
|---|---|---:|---:|
{pairs}

- **difference** is the mean of the first setting minus that of the second.
- **95 % interval**: of that difference. Where it contains 0, chance may explain the difference. All
  {family} pairs of settings are tested at once, so that one of them is not called real by luck; this
  makes the intervals wider.
- {first_pair}
- {second_pair}
- A difference below 0.02, the `tolerance`, is one that you would not act on. Settings are called
  *equivalent* if the whole interval is within ±0.02: that takes more questions than showing a large
  difference.

For whom does this hold? The verdict says:

> {population}

Questions on one document resemble each other, so many questions on few documents say little about the
next document ([statistics](statistics.md)).

## Where is quality lost?

The losses of a setting and what is left sum to 1:

| setting | {parts} | left |
|---|{part_columns}
{losses}

{meanings}

Start with the largest: for {leader} it is *{largest}*, {largest_loss}. A better order needs a better
retriever or reranker; candidates need more of them (`top_k`) or another search; chunking needs other
chunks. `harness show results/quickstart --worst 10` lists the questions that lose most, and a question
opened on the page shows its passages.

## What does it cost?

`prices.csv` counts what does not depend on the machine: to read 5,000 characters, a language model reads
about {tokens} tokens a question under {leader}, whatever the chunk size. Time does depend on it:
`latency.csv` has the milliseconds of one query, step by step, on the machine of the run.

## What next?

The verdict ends with the step that would help most:

> {next}
"""


def reading(results: Results) -> str:
    """The Markdown page for the results of the quickstart."""
    comparison = results.compare(HEADLINE)
    verdict = comparison.as_dict()
    lines: dict[str, str] = {}
    for line in verdict["lines"]:
        lines.setdefault(line["role"], line["text"])
    means = _means(results)
    leader = verdict["leader"]
    losses, parts = _losses(results), [part for part in PARTS if part in set(results.table("waterfall").part)]
    largest = max(parts, key=lambda part: losses[leader].get(part, 0.0))
    judged = means["judged_text@5000"]
    text = _PAGE.format(
        **_counts(results),
        **_pairs(comparison.differences),
        HEADLINE=HEADLINE,
        settings=len(means[HEADLINE]),
        verdict=lines["decision"],
        leader=f"`{leader}`",
        regret=_show(verdict["advice"]["regret"]),
        head=HEADLINE,
        more=" | ".join(MEASURES[1:]),
        columns="---:|" * (len(MEASURES) + 3),
        board=quickstart_board(results),
        mean=_show(means[HEADLINE][leader]["mean"]),
        low=_show(means[HEADLINE][leader]["ci_low"]),
        high=_show(means[HEADLINE][leader]["ci_high"]),
        small_chunks=_show(means["ndcg_exp@10"]["chunk=500/0 minmax"]["mean"]),
        large_chunks=_show(means["ndcg_exp@10"]["chunk=1000/0 minmax"]["mean"]),
        small=_show(means[HEADLINE]["chunk=500/0 minmax"]["mean"]),
        large=_show(means[HEADLINE]["chunk=1000/0 minmax"]["mean"]),
        judged_low=_show(min(row["mean"] for row in judged.values())),
        judged_high=_show(max(row["mean"] for row in judged.values())),
        upper=_show(means["ndcg_evidence_upper@5000"][leader]["mean"]),
        population=lines["population"],
        parts=" | ".join(PARTS[part][0] for part in parts),
        part_columns="---:|" * (len(parts) + 1),
        losses="\n".join(_loss_row(setting, losses[setting], parts, means) for setting in means[HEADLINE]),
        meanings="\n".join(f"- **{PARTS[part][0]}**: {PARTS[part][1]}." for part in parts),
        largest=PARTS[largest][0],
        largest_loss=_show(losses[leader][largest]),
        tokens=_tokens(results, leader),
        next=lines["next"],
    )
    return "\n\n".join(map(_wrapped, text.split("\n\n")))


def _wrapped(block: str) -> str:
    """A paragraph, a quotation or the items of a list in lines of at most 120 characters."""
    if block.startswith(("|", "#")):
        return block
    end = "\n" * block.endswith("\n")
    wrapped: list[str] = []
    for item in block.strip().split("\n- "):
        item = f"- {item}" if wrapped else item
        later = "> " if item.startswith("> ") else "  " * item.startswith("- ")
        wrapped += textwrap.wrap(
            " ".join(item.split()),
            120,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(wrapped) + end


def quickstart_board(results: Results) -> str:
    """The rows of the leader board: means with intervals, and the two splits, the best first."""
    means, rows = _means(results), []
    for setting, head in means[HEADLINE].items():
        splits = [_means(results, split)[HEADLINE][setting]["mean"] for split in ("train", "validation")]
        others = [means[measure][setting]["mean"] for measure in MEASURES[1:]]
        cells = " | ".join(map(_show, [*splits, *others]))
        interval = f"{_show(head['ci_low'])}–{_show(head['ci_high'])}"
        rows.append(f"| {setting} | **{_show(head['mean'])}** | {interval} | {cells} |")
    return "\n".join(rows)


def _means(results: Results, split: str = "all") -> dict[str, dict[str, Any]]:
    """Of every measure the row of every setting at its last stage, the best by the headline first."""
    table = results.summary
    # a later stage of a setting takes the place of an earlier one
    last = table[table.split == split].drop_duplicates(["setting", "measure"], keep="last")
    order = last[last.measure == HEADLINE].sort_values("mean", ascending=False).setting
    found = {measure: rows.set_index("setting") for measure, rows in last.groupby("measure")}
    return {str(measure): {name: rows.loc[name] for name in order} for measure, rows in found.items()}


def _counts(results: Results) -> dict[str, object]:
    summary = results.summary
    head = summary[(summary.measure == HEADLINE) & (summary.split == "all")].iloc[0]
    answerable, unanswerable = int(head.n_queries), int(head.n_unanswerable)
    return {
        "documents": len(results.table("documents")),
        "questions": answerable + unanswerable,
        "answerable": answerable,
        "unanswerable": unanswerable,
    }


def _pairs(differences: Any) -> dict[str, object]:
    """Two pairs that differ in one step, the rows of their table, and how each is read."""
    chosen = [
        ("chunk=500/0 minmax", "chunk=500/0 chroma", "adding words to vectors"),
        ("chunk=500/0 minmax", "chunk=1000/0 minmax", "halving the chunks"),
    ]
    rows, read = [], []
    for setting, against, change in chosen:
        pair = differences[
            differences.setting.isin((setting, against)) & differences.against.isin((setting, against))
        ].iloc[0]
        sign = 1 if pair.setting == setting else -1
        low, high = sorted((sign * pair.low, sign * pair.high))
        rows.append(f"| {setting} | {against} | {sign * pair.difference:+.2f} | {low:+.2f} to {high:+.2f} |")
        real = low > 0 or high < 0
        read.append(
            f"The effect of {change} is "
            + (
                "not explained by chance: the interval does not contain 0."
                if real
                else "uncertain: the interval contains 0."
            )
        )
    return {
        "pairs": "\n".join(rows),
        "first_pair": read[0],
        "second_pair": read[1],
        "family": int(differences.family.iloc[0]),
    }


def _losses(results: Results) -> dict[str, dict[str, float]]:
    """The mean loss of every setting by part, over the questions that count."""
    table = results.table("waterfall")
    # the steps of a route have a dot in their name; their losses are not those of the setting
    table = table[(table.measure == HEADLINE) & ~table.step.str.contains(".", regex=False)]
    found: dict[str, dict[str, float]] = {}
    for setting, rows in table.groupby("setting"):
        found[str(setting)] = dict(rows.groupby("part").loss.sum() / rows.query_id.nunique())
    return found


def _loss_row(setting: str, losses: dict[str, float], parts: list[str], means: dict[str, Any]) -> str:
    cells = " | ".join(_show(losses.get(part)) for part in parts)
    return f"| {setting} | {cells} | **{_show(means[HEADLINE][setting]['mean'])}** |"


def _tokens(results: Results, leader: str) -> str:
    prices = results.table("prices")
    row = prices[(prices.setting == leader) & (prices.measure == HEADLINE)].iloc[-1]
    return f"{round(row.tokens_read, -2):,.0f}"


def _show(value: float | None) -> str:
    # two decimals: the third may differ between processors; no -0.00
    return "–" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")
