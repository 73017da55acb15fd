"""The step ``propose``: questions by a language model, from a list or a log, or drafted offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.labels.testset.config import load_prompt
from harness.labels.testset.kinds import KINDS
from harness.labels.testset.propose.drafting import draft
from harness.labels.testset.propose.llm import FOLDER, QuestionForm, question_in, question_requests
from harness.labels.testset.propose.user_questions import read_user_questions
from harness.labels.testset.rows import Question
from harness.labels.testset.state import Outcome, SetState, Tables, calls_made, time_to_grade
from harness.models import Malformed, Model, answers, jobs_of
from harness.running import Context
from harness.store import Ledger
from harness.values import ConfigError, Document, counted


def propose_offline(
    state: SetState, context: Context, count: int, again: bool = False, add: bool = False
) -> Outcome:
    """Draft questions from headings, tables and sentences."""
    documents = _documents(state, context, again or add)
    drafted = draft(list(documents.values()), count, state.config.seed)
    if not drafted:
        raise ConfigError(
            "Nothing can be drafted: the documents have no headings, no tables and no sentences with "
            "figures. Propose with a language model, or --from a list of your own."
        )
    lines = _save(state, drafted, documents.values(), "drafted offline", add)
    lines.append("These are drafts, made by rules: read every one, and reword what nobody would ask.")
    if len(drafted) < count:
        lines.append(
            f"The documents give {counted(len(drafted), 'draft')} of the {count} that were asked for."
        )
    return Outcome(tuple(lines))


def propose_from_file(
    state: SetState,
    context: Context,
    path: Path,
    count: int,
    field: str = "",
    again: bool = False,
    add: bool = False,
) -> Outcome:
    """Take the questions that users have asked, the most asked first."""
    given = read_user_questions(path, field)
    documents = _documents(state, context, again or add)
    taken = given.questions[:count]
    lines = _save(state, taken, documents.values(), f"taken from {path.name}", add)
    lines.append(
        f"{path}: {counted(given.entries, 'entry', 'entries')}, {len(given.questions)} different "
        f"questions in {given.where}; {given.without} without one."
    )
    if len(given.questions) > count:
        lines.append(
            f"{len(given.questions) - count} that were asked less often are left out; --count takes more."
        )
    return Outcome(tuple(lines))


def propose_by_model(
    state: SetState,
    context: Context,
    count: int,
    prompt: str = "",
    again: bool = False,
    add: bool = False,
    dry: bool = False,
) -> Outcome:
    """Let the language model of testset.yaml write them; a dry run only estimates the cost."""
    if state.config.llm is None:
        raise ConfigError(
            f"{state.folder}/testset.yaml names no language model (llm). Name one, draft without one "
            "(propose --offline), or bring questions (propose --from FILE)."
        )
    documents = _documents(state, context, again or dry or add)
    requests = question_requests(list(documents.values()), count, state.config.seed)
    name = prompt or ("propose_zh" if state.config.language == "zh" else "propose")
    words = load_prompt(name, FOLDER, ("kind", "passages"), KINDS)
    by = f"{state.config.llm.endpoint.model} ({words.name})"
    with Ledger(context.cache.ledger) as ledger:
        model = Model(state.config.llm, QuestionForm(words.system, words.user, words), ledger)
        calls = [model.call(kind, [place.text for place in places]) for kind, places in requests]
        if dry:
            would = f"{by} would be asked for {counted(len(calls), 'question')}."
            return Outcome((would,), ((by, model.estimate(jobs_of(calls), noun="questions")),), dry=True)
        answered, spending = answers(model, calls, reporter=context.reporter, name="proposing")
    read = [question_in(request, answer) for request, answer in zip(requests, answered, strict=True)]
    questions = [replace(one, by=by) for one in read if isinstance(one, Question)]
    failed = Counter(one.reason for one in read if isinstance(one, Malformed))
    reasons = ", ".join(f"{reason} {times}" for reason, times in failed.items())
    if not questions:
        raise ConfigError(
            f"None of {len(calls)} answers holds a question that can be used ({reasons}). See what it "
            f"said: harness judge export --cache {state.config.cache}; then change the model or the prompt."
        )
    lines = _save(state, questions, documents.values(), f"proposed by {by}", add)
    lines.append(f"{calls_made(spending)}.")
    if failed:
        lines.append(f"{counted(failed.total(), 'call')} brought no question: {reasons}.")
    if len(requests) < count:
        lines.append(f"The documents give {counted(len(requests), 'excerpt')} and kinds, not {count}.")
    return Outcome(tuple(lines))


def _documents(state: SetState, context: Context, overwrite: bool) -> dict[str, Document]:
    """The documents; raises ConfigError if there are proposals already and ``overwrite`` is false."""
    if state.has(Question) and not overwrite:
        raise ConfigError(
            f"{state.path(Question)} exists already, perhaps with your edits. Repeat the step with --again "
            "(the old file stays in history/), or go on with the next one: "
            f"{state.command} status"
        )
    return state.documents(context)


def _save(
    state: SetState, questions: Sequence[Question], documents: Iterable[Document], how: str, add: bool
) -> list[str]:
    """Write the proposals; with ``add`` behind those that are there, repeated texts left out."""
    before = state.rows(Question) if add else []
    known = {one.text for one in before}
    fresh = [one for one in questions if one.text not in known]
    highest = max((int(one.query_id[1:]) for one in before if one.query_id[1:].isdecimal()), default=0)
    numbered = [replace(one, query_id=f"q{highest + n:03}") for n, one in enumerate(fresh, 1)]
    rows = [*before, *numbered]
    kinds = Counter(one.kind for one in fresh)
    tables: Tables = {Question: rows, **state.document_rows(documents)}
    state.write("propose", how, tables)
    shown = ", ".join(f"{kind} {times}" for kind, times in kinds.most_common())
    chosen, passages = min(state.config.chosen, len(rows)), state.config.passages
    return [
        f"{state.path(Question)}: {counted(len(fresh), 'question')} {how} ({shown}).",
        f"If {chosen} of them are kept, with {counted(passages, 'passage')} each, grading takes "
        f"{time_to_grade(chosen * passages)} (chosen and passages in testset.yaml).",
    ]
