"""The step ``propose``: questions by a language model, from a list or a log, or by people from excerpts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.labels.testset.config import load_prompt
from harness.labels.testset.kinds import KINDS
from harness.labels.testset.propose import llm
from harness.labels.testset.propose.user_questions import read_user_questions
from harness.labels.testset.rows import Question
from harness.labels.testset.state import Outcome, SetState, Tables, calls_made, time_to_grade
from harness.models import Malformed, Model, answers, jobs_of
from harness.running import Context
from harness.store import Ledger
from harness.values import ConfigError, Document, counted

# of an excerpt that a person asks about: about three passages to grade
_SHORT = 600
Made = tuple[Sequence[Question], str, list[str]]
"""Questions, how they came about, and what there is to say of it."""


def propose(
    state: SetState,
    context: Context,
    *,
    count: int | None,
    given: Path | None,
    field: str,
    by_hand: bool,
    prompt: str,
    again: bool,
    add: bool,
    dry_run: bool,
) -> Outcome:
    """Write proposed.csv: questions of a file (``given``), of a language model, or to write ``by_hand``.

    Raises ConfigError if there are proposals already, unless the step is done ``again`` or is to ``add`` to
    them; a text that is there already is left out then. A dry run only estimates the cost.
    """
    if field and not given:
        raise ConfigError("--field goes with --from.")
    if dry_run and (by_hand or given):
        raise ConfigError("--dry-run goes with a language model; --by-hand and --from cost nothing.")
    count = count or state.config.questions
    if state.has(Question) and not (again or add or dry_run):
        raise ConfigError(
            f"{state.path(Question)} exists already, perhaps with your edits. Repeat the step with --again "
            "(the old file stays in history/), or go on with the next one: "
            f"{state.command} status"
        )
    documents = list(state.documents(context).values())
    if by_hand:
        made: Made | Outcome = _to_write(documents, count, state.config.seed)
    elif given:
        made = _taken(given, field, count)
    else:
        made = _asked(state, context, documents, count, prompt, dry_run)
    if isinstance(made, Outcome):
        return made
    questions, how, lines = made
    before = state.rows(Question) if add else []
    known = {one.text for one in before if one.text}
    fresh = [one for one in questions if one.text not in known]
    highest = max((int(one.query_id[1:]) for one in before if one.query_id[1:].isdecimal()), default=0)
    rows = [*before, *(replace(one, query_id=f"q{highest + n:03}") for n, one in enumerate(fresh, 1))]
    tables: Tables = {Question: rows, **state.document_rows(documents)}
    state.write("propose", how, tables)
    kinds = Counter(one.kind for one in fresh).most_common()
    chosen, passages = min(state.config.chosen, len(rows)), state.config.passages
    return Outcome(
        (
            f"{state.path(Question)}: {counted(len(fresh), 'question')} {how} "
            f"({', '.join(f'{kind} {times}' for kind, times in kinds)}).",
            f"If {chosen} of them are kept, with {counted(passages, 'passage')} each, grading takes "
            f"{time_to_grade(chosen * passages)} (chosen and passages in testset.yaml).",
            *lines,
        )
    )


def _to_write(documents: Sequence[Document], count: int, seed: int) -> Made:
    """Rows without a question: passages of the documents to ask about, each for a kind of question."""
    requests = llm.question_requests(documents, count, seed, _SHORT)
    if not requests:
        raise ConfigError("The documents hold no text to ask about.")
    rows = [replace(llm.question("", kind, *places), note=KINDS[kind][1]) for kind, places in requests]
    line = "Write a question about each passage into the column text; note says of which kind."
    return rows, "to be written by people", [f"{line} Rows without one are left out."]


def _taken(path: Path, field: str, count: int) -> Made:
    """The questions that users have asked, the most asked first."""
    given = read_user_questions(path, field)
    lines = [
        f"{path}: {counted(given.entries, 'entry', 'entries')}, {len(given.questions)} different "
        f"questions in {given.where}; {given.without} without one."
    ]
    if (fewer := len(given.questions) - count) > 0:
        lines.append(f"{fewer} that were asked less often are left out; --count takes more.")
    return given.questions[:count], f"taken from {path.name}", lines


def _asked(
    state: SetState, context: Context, documents: Sequence[Document], count: int, prompt: str, dry: bool
) -> Made | Outcome:
    """Questions that a language model writes; the cost of asking for them in a ``dry`` run."""
    config = state.config.llm
    if config is None:
        raise ConfigError(
            f"{state.folder}/testset.yaml names no language model (llm). Name one, write the questions "
            "yourself (propose --by-hand), or bring some (propose --from FILE)."
        )
    requests = llm.question_requests(documents, count, state.config.seed)
    name = prompt or ("propose_zh" if state.config.language == "zh" else "propose")
    words = load_prompt(name, llm.FOLDER, ("kind", "passages"), KINDS)
    by = f"{config.endpoint.model} ({words.name})"
    with Ledger(context.cache.ledger) as ledger:
        model = Model(config, llm.QuestionForm(words.system, words.user, words), ledger)
        calls = [model.call(kind, [place.text for place in places]) for kind, places in requests]
        if dry:
            would = f"{by} would be asked for {counted(len(calls), 'question')}."
            return Outcome((would,), ((by, model.estimate(jobs_of(calls), noun="questions")),), dry=True)
        answered, spending = answers(model, calls, reporter=context.reporter, name="proposing")
    read = [llm.question_in(request, answer) for request, answer in zip(requests, answered, strict=True)]
    questions = [replace(one, by=by) for one in read if isinstance(one, Question)]
    failed = Counter(one.reason for one in read if isinstance(one, Malformed))
    reasons = ", ".join(f"{reason} {times}" for reason, times in failed.items())
    if not questions:
        raise ConfigError(
            f"None of {len(calls)} answers holds a question that can be used ({reasons}). See what it "
            f"said: harness judge export --cache {state.config.cache}; then change the model or the prompt."
        )
    lines = [f"{calls_made(spending)}."]
    if failed:
        lines.append(f"{counted(failed.total(), 'call')} brought no question: {reasons}.")
    if len(requests) < count:
        lines.append(f"The documents give {counted(len(requests), 'excerpt')} and kinds, not {count}.")
    return questions, f"proposed by {by}", lines
