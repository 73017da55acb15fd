"""Whether the answers of results are meant, the measure to compare these by, and the verdict in short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from harness import measures, report
from harness.comparison.phrases import in_words
from harness.comparison.scores import Scores, verdict_of
from harness.comparison.sentences import sentence
from harness.comparison.stored import Stored, common_measures, read_answers_of, read_stored, scores_of
from harness.comparison.verdict import LABELS, Verdict
from harness.comparison.what_ranks import ranked_alike
from harness.comparison.words import lines_of
from harness.values import ConfigError, HarnessError

# The lines on answers that follow the verdict on rankings; `harness compare` has the rest.
_BRIEF = ("decision", "margin", "caveat")
FAULT = "Where the fault lies"
"""The label of the sentence on the stage that costs answers most."""


def answers_to_take(
    folders: Sequence[Path], wanted: str | None, *, by_rankings: bool = False
) -> tuple[dict[Path, Stored], str] | None:
    """The answers of results and the measure to compare them by; None if their rankings are meant.

    Answers are meant where ``wanted`` is a measure of answers, where a result has no rankings, and, without
    it, where rankings do not tell all settings of each result apart, unless it is to be ``by_rankings``.
    Raises ConfigError if only some results have the measure, or where they share none.
    """
    if not any(map(_has_answers, folders)):
        return None
    stored = {folder: read_answers_of(folder) for folder in folders}
    if not all(answers.result.per_query for answers in stored.values()):
        wanted = wanted or _shared_measure(stored)
    if wanted is None:
        lead = not by_rankings and all(leading_measure(answers) for answers in stored.values())
        measure = answer_headline(list(stored.values())) if lead else None
        return None if measure is None else (stored, measure)
    having = [answers for answers in stored.values() if wanted in answers.measures]
    ranked = [row.measure for answers in stored.values() for row in answers.result.per_query]
    if ranked and (not having or wanted in ranked):
        return None
    for folder, answers in stored.items():
        if wanted not in answers.measures:
            has = ", ".join(answers.measures) or "no measure of answers"
            raise ConfigError(f"{folder}: answers were not scored by {wanted}; it has {has}.")
    return stored, wanted


def _shared_measure(stored: Mapping[Path, Stored]) -> str:
    """The measure to compare scored answers by."""
    results = list(stored.values())
    if measure := answer_headline(results) or next(iter(common_measures(results)), None):
        return measure
    raise ConfigError("These results have no measure of answers in common. Score them by the same measures.")


def common_answer_measure(folders: Sequence[Path]) -> str | None:
    """The measure that the answers of these results can be compared by; None if there is none."""
    return answer_headline(list(map(read_answers_of, folders))) if all(map(_has_answers, folders)) else None


def untested_answers(now: Path, baseline: Path) -> str:
    """What a gate on rankings leaves untested of the answers, and how to test them; '' for nothing."""
    if not _has_answers(now):
        return ""
    if not _has_answers(baseline):
        return (
            f"Answers were measured too, and are not tested: {baseline} has no answer_scores.csv. Keep it "
            "with the baseline."
        )
    if measure := common_answer_measure([now, baseline]):
        return f"Answers were measured too, and are not tested here: --measure {measure} tests them."
    return "Answers were measured too, and are not tested: the two results share no measure of answers."


def answer_headline(stored: Sequence[Stored]) -> str | None:
    """The measure to compare answers by, of those that all results have; None if they share none.

    The first that compares the whole answer with the golden one; else the first that looks at the answer, in
    the order of the configuration.
    """
    common, first = common_measures(stored), stored[0]
    kinds = {str(first.configured[measure]["kind"]): measure for measure in reversed(common)}
    preferred = next((kinds[kind] for kind in measures.AGAINST_GOLDEN if kind in kinds), None)
    return preferred or next(
        (name for name in common if "answer" in first.measured_by(name).facts.needs), None
    )


def answer_lines(folder: Path, shown_as: Path | None = None) -> list[dict[str, str]]:
    """The verdict on answers in short: ``label`` and ``text`` of each line, the first with its measure.

    ``shown_as`` is the folder that a command names, where the results are still being written elsewhere.

    The second says where the fault lies, if that is known; of one setting that is all. None of them if
    answers are not measured. Raises HarnessError if the folder holds no results.
    """
    measure = common_answer_measure([folder])
    if measure is None:
        return []
    stored = read_answers_of(folder)
    try:
        verdict = verdict_of(scores_of({folder.name: stored}, measure))
    except HarnessError as error:
        none = {"label": LABELS["decision"], "text": f"There is none on answers. {error}"}
        return [none, *_fault_line(stored, measure, str)]
    fault = _fault_line(stored, measure, verdict.words)
    if verdict.decision == "single":
        return fault
    decision, *others = [
        {"label": LABELS[line.role], "text": line.text} for line in lines_of(verdict) if line.role in _BRIEF
    ]
    command = f"harness compare {quote(str(shown_as or folder))} --measure {quote(measure)}"
    more = {"label": LABELS["next"], "text": f"All differences: {command}"}
    return [decision, *fault, *others, more]


def _fault_line(stored: Stored, measure: str, words: Callable[[str], str]) -> list[dict[str, str]]:
    """Where the fault of answers lies, as a line; none if it is not known."""
    from harness.comparison.answer_faults import fault_of, fault_sentence

    named = {str(config["kind"]): name for name, config in reversed(list(stored.configured.items()))}
    fault = fault_of(stored.folder, measure, named)
    return [] if fault is None else [{"label": FAULT, "text": fault_sentence(fault, words)}]


def brief_verdict(folder: Path, *, shortest: bool = False) -> tuple[str, ...]:
    """The same in sentences; the ``shortest`` is the decision, and where the fault lies.

    Where the verdict is on answers already: where the fault lies, and the verdict on rankings.
    """
    if _has_answers(folder) and verdict_on_answers(read_answers_of(folder)) is not None:
        faults = [line["text"] for line in answer_lines(folder) if line["label"] == FAULT]
        return (*(f"Answers, {FAULT.lower()}: {text}" for text in faults), rankings_line(folder))
    return tuple(
        f"Answers, {line['label'].lower()}: {line['text']}"
        for line in answer_lines(folder)
        if not shortest or line["label"] in (LABELS["decision"], FAULT)
    )


def rankings_line(folder: Path) -> str:
    """The verdict on the rankings of a result in one line, where that on answers leads.

    Of settings with the same rankings the first stands for all, called by what ranks.
    """
    try:
        stored = read_stored(folder)
        settings = {
            setting["name"]: setting for setting in stored.result.record["config"].get("settings", [])
        }
        groups = ranked_alike(settings)
        kept = {names[0] for names in groups}
        rows = {
            measure: [row for row in scored if row.setting in kept]
            for measure, scored in stored.scores.items()
        }
        verdict = verdict_of(scores_of({folder.name: replace(stored, scores=rows)}))
    except HarnessError as error:
        return f"Rankings, verdict: There is none on rankings. {error}"
    if len(groups) == 1:
        mean = verdict.standings[0].mean
        return f"Rankings are the same under every setting: {mean:.2f} in {in_words(verdict.measure)}."
    return f"Rankings by {verdict.measure}, verdict: {sentence(verdict)}"


def _has_answers(folder: Path) -> bool:
    return report.spec_of(report.AnswerScoreRow).path_in(folder).exists()


def leading_measure(answers: Stored) -> str | None:
    """The measure of answers by which the settings of a result are compared; None where rankings decide.

    Answers lead where some settings have the same rankings, as they differ only in what is read to answer or
    in how: by rankings these tie, whatever their worth.
    """
    settings = {setting["name"]: setting for setting in answers.result.record["config"].get("settings", [])}
    return answer_headline([answers]) if len(ranked_alike(settings)) < len(settings) else None


def verdict_on_answers(answers: Stored) -> Verdict | None:
    """The verdict on the answers of a result where these lead; None where rankings do, or there is none."""
    measure = leading_measure(answers)
    try:
        return None if measure is None else verdict_of(scores_of({answers.folder.name: answers}, measure))
    except HarnessError:
        return None


def verdict_on(folder: Path) -> Verdict:
    """The verdict on one folder of results: on its answers where these lead, else by its headline.

    Raises HarnessError if there is none.
    """
    return verdict_of_result(read_stored(folder))


def verdict_of_result(stored: Stored, scores: Scores | None = None) -> Verdict:
    """The verdict on one result, just computed or read from files: on its answers where these lead.

    Else it is on its rankings, whose ``scores`` are taken where they are at hand. Raises HarnessError if
    there is none.
    """
    answers = Stored.of_answers(stored.folder, stored.result, stored.tables)
    return verdict_on_answers(answers) or verdict_of(scores or scores_of({stored.folder.name: stored}))
