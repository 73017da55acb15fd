"""The verdict on the answers of a result: the measure to compare them by, and the lines to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import measures
from harness.comparison.caveats import ranked_alike
from harness.comparison.scores import verdict_of
from harness.comparison.stored import Stored, common_measures, read_answers_of, scores_of
from harness.comparison.verdict import LABELS
from harness.comparison.words import lines_of
from harness.report import AnswerScoreRow, spec_of
from harness.values import ConfigError, HarnessError

# The lines on answers that follow the verdict on rankings; `harness compare` has the rest.
_BRIEF = ("decision", "margin", "caveat")


def answers_to_take(folders: Sequence[Path], asked: str | None) -> tuple[dict[Path, Stored], str] | None:
    """The answers of results and the measure to compare them by; None if their rankings are meant.

    Answers are meant where ``asked`` is a measure of answers, and, without it, where the settings of one
    result differ only in how they answer. Raises ConfigError if only some results have the measure.
    """
    if not any(map(_has_answers, folders)):
        return None
    stored = {folder: read_answers_of(folder) for folder in folders}
    if asked is None:
        measure = answer_headline(list(stored.values())) if _only_answers_differ(stored) else None
        return None if measure is None else (stored, measure)
    having = [one for one in stored.values() if asked in one.measures]
    if not having or any(row["measure"] == asked for one in stored.values() for row in one.result.per_query):
        return None
    for folder, one in stored.items():
        if asked not in one.measures:
            has = f"it has {', '.join(one.measures)}" if one.measures else "its answers are not measured"
            raise ConfigError(f"{folder}: answers were not scored by {asked}; {has}.")
    return stored, asked


def common_answer_measure(folders: Sequence[Path]) -> str | None:
    """The measure that the answers of these results can be compared by; None if there is none."""
    return answer_headline(list(map(read_answers_of, folders))) if all(map(_has_answers, folders)) else None


def answer_headline(stored: Sequence[Stored]) -> str | None:
    """The measure to compare answers by, of those that all results have; None if they share none.

    The first that compares the whole answer with the golden one; else the first that looks at the answer, in
    the order of the configuration.
    """
    common, first = common_measures(stored), stored[0]
    kinds = {str(first.configured[measure]["kind"]): measure for measure in reversed(common)}
    preferred = next((kinds[kind] for kind in measures.AGAINST_GOLDEN if kind in kinds), None)
    return preferred or next((one for one in common if "answer" in first.measured_by(one).facts.needs), None)


def answer_lines(folder: Path) -> list[dict[str, str]]:
    """The verdict on answers in short: ``label`` and ``text`` of each line, the first with its measure.

    None if answers are not measured, or there is one setting. Raises HarnessError if the folder holds
    no results.
    """
    measure = common_answer_measure([folder])
    if measure is None:
        return []
    try:
        verdict = verdict_of(scores_of({folder.name: (folder, read_answers_of(folder))}, measure))
    except HarnessError as error:
        return [{"label": LABELS["decision"], "text": f"There is none on answers. {error}"}]
    if verdict.decision == "single":
        return []
    lines = [line for line in lines_of(verdict) if line.role in _BRIEF]
    more = {"label": LABELS["next"], "text": f"All differences: harness compare … --measure {measure}"}
    return [*({"label": LABELS[line.role], "text": line.text} for line in lines), more]


def brief_verdict(folder: Path) -> tuple[str, ...]:
    """The same in sentences."""
    lines = (f"Answers, {one['label'].lower()}: {one['text']}" for one in answer_lines(folder))
    return tuple(line.replace("compare …", f"compare {folder}") for line in lines)


def _has_answers(folder: Path) -> bool:
    return spec_of(AnswerScoreRow).path_in(folder).exists()


def _only_answers_differ(stored: Mapping[Path, Stored]) -> bool:
    if len(stored) > 1:
        return False
    (one,) = stored.values()
    settings = {setting["name"]: setting for setting in one.result.record["config"].get("settings", [])}
    return len(settings) > 1 and len(ranked_alike(settings)) == 1
