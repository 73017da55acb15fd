"""The comment on a pull request: what a gate found, as Markdown that GitHub and GitLab show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from harness.comparison.gating import Check, GateResult
from harness.comparison.matrix import ScoreMatrix
from harness.report import Table, in_markdown, render
from harness.values import counted, listed, snippet

MOST_SETTINGS, MOST_QUERIES = 40, 5


def marker(name: str) -> str:
    """The invisible line by which a later run finds the comment of this benchmark and replaces it."""
    letters = "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in name)
    return f"<!-- ndcg-harness: {letters} -->"


def comment_on(
    result: GateResult,
    sentence: str,
    matrices: tuple[ScoreMatrix, ScoreMatrix],
    texts: Mapping[str, str],
    name: str,
    notes: Sequence[str] = (),
    link: str = "",
) -> str:
    """Sentence, table of settings, chart and the queries that lost most, below ``marker(name)``.

    ``matrices`` are the scores now and those of the baseline; ``texts`` are queries by id, ``notes`` what the
    reader must know, such as warnings, ``link`` where the results are.
    """
    notes = [*_new_settings(result), *notes, *filter(None, [result.holds_for])]
    shown = sorted(result.checks, key=lambda check: (not check.failed, -check.drop))[:MOST_SETTINGS]
    parts = [
        marker(name),
        f"### {'❌' if result.failed else '✅'} {in_markdown(sentence)}",
        render([_table(result, shown)], "markdown"),
        _chart(result, shown),
        _worst_queries(shown[0], matrices, texts),
        "\n".join(f"- {in_markdown(note)}" for note in notes),
    ]
    if len(result.checks) > len(shown):
        parts.append(
            f"{counted(len(result.checks) - len(shown), 'more setting')} passed with smaller changes."
        )
    if link:
        parts.append(f"[All results of this run]({link})")
    return "\n\n".join(filter(None, parts)) + "\n"


def comment_without_baseline(
    sentence: str,
    failed: bool,
    measure: str,
    means: Mapping[str, float],
    verdict: Sequence[str],
    name: str,
    link: str = "",
) -> str:
    """The means of a run that nothing is compared with yet, with its verdict in words."""
    best = sorted(means, key=lambda setting: -np.nan_to_num(means[setting]))[:MOST_SETTINGS]
    table = Table(
        measure,
        ("setting", "mean"),
        tuple((name, f"{means[name]:.3f}") for name in best),
        left=frozenset({0}),
    )
    parts = [
        marker(name),
        f"### {'❌' if failed else '✅'} {in_markdown(sentence)}",
        render([table], "markdown"),
        "\n".join(f"- {in_markdown(line)}" for line in verdict if line != sentence),
        "There is no baseline yet: this run is compared with nothing.",
        f"[All results of this run]({link})" if link else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _new_settings(result: GateResult) -> list[str]:
    """What is said of settings that are not in the table: those that fail, and how many more are new."""
    words = [f"{new.setting}: {new.reason}" for new in result.new if new.failed][:MOST_SETTINGS]
    if passed := [new.setting for new in result.new if not new.failed]:
        words.append(f"No drop is tested of settings that the baseline does not have: {listed(passed, 3)}.")
    return words


def _table(result: GateResult, checks: Sequence[Check]) -> Table:
    rows = [
        (
            str(place),
            check.setting,
            f"{check.baseline_mean:.3f}",
            f"{check.mean:.3f}",
            f"{check.mean - check.baseline_mean:+.3f}",
            "" if check.most is None or check.at_least is None else _range(check),
            _finding(check),
        )
        for place, check in enumerate(checks, start=1)
    ]
    columns = ("#", "setting", "baseline", "now", "change", f"{result.confidence:.0%} bounds", "found")
    title = f"{result.measure} over {counted(checks[0].n, 'query', 'queries')}"
    return Table(title, columns, tuple(rows), left=frozenset({1, 6}))


def _range(check: Check) -> str:
    assert check.most is not None, "asked of those with bounds"
    assert check.at_least is not None, "asked of those with bounds"
    # rounded first, so that no bound is a negative zero
    low, high = (round(-bound, 3) + 0.0 for bound in (check.most, check.at_least))
    return f"{low:+.3f} to {high:+.3f}"


def _finding(check: Check) -> str:
    if check.dropped:
        return "dropped"
    if check.too_low:
        return f"below {check.least:g}"
    if check.equivalent:
        return "equal"
    return "undecided" if check.undecided else "no drop beyond what is tolerated"


def _chart(result: GateResult, checks: Sequence[Check]) -> str:
    """Bars for now and a line for the baseline, in Mermaid; numbers are those of the table."""
    means = [value for check in checks for value in (check.mean, check.baseline_mean)]
    top = max(0.1, math.ceil(10 * max(means)) / 10)
    places = ", ".join(f'"{place}"' for place in range(1, len(checks) + 1))
    lines = [
        "xychart-beta",
        f'    title "{result.measure}: now (bars) and baseline (line)"',
        f"    x-axis [{places}]",
        f"    y-axis 0 --> {top:g}",
        f"    bar [{', '.join(f'{check.mean:.4f}' for check in checks)}]",
        f"    line [{', '.join(f'{check.baseline_mean:.4f}' for check in checks)}]",
    ]
    return "\n".join(["```mermaid", *lines, "```"])


def _worst_queries(check: Check, matrices: tuple[ScoreMatrix, ScoreMatrix], texts: Mapping[str, str]) -> str:
    """The queries of one setting that lost most, folded away; nothing where none has lost."""
    now, before = (
        matrices[0].row(check.setting),
        matrices[1].in_order_of(matrices[0].query_ids).row(check.setting),
    )
    losses = np.nan_to_num(before - now)
    order = [
        place for place in np.argsort(-losses, kind="stable")[:MOST_QUERIES].tolist() if losses[place] > 0
    ]
    if not order:
        return ""
    query_ids = matrices[0].query_ids
    rows = tuple(
        (
            query_ids[place],
            snippet(texts.get(query_ids[place], ""), 120),
            f"{before[place]:.3f}",
            f"{now[place]:.3f}",
        )
        for place in order
    )
    table = Table(f"By {check.setting}", ("query", "text", "baseline", "now"), rows, left=frozenset({0, 1}))
    return f"<details><summary>Queries that lost most</summary>\n\n{render([table], 'markdown')}\n</details>"
