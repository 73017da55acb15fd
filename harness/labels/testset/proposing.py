"""The step ``propose``: questions by a language model, from a list or a log, or by people from excerpts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from harness.labels.testset.config import load_prompt
from harness.labels.testset.kinds import KINDS
from harness.labels.testset.propose import llm, many, question_lists
from harness.labels.testset.set_state import Outcome, SetState, Tables, calls_made, within_tokens
from harness.labels.testset.testset_rows import GradeRow, Question
from harness.models import Malformed, Model, ModelConfig, answers, jobs_of, text_of
from harness.running import DocumentReader
from harness.store import Ledger
from harness.values import ConfigError, Document, Reporter, counted

# of an excerpt that a person asks about: about three passages to grade
_SHORT = 600
# of the shortest questions
_FEWEST_TOKENS = 8
Proposals = tuple[Sequence[Question], str, list[str]]
"""Questions, how they came about, and what there is to say of it."""


def propose(
    state: SetState,
    reader: DocumentReader,
    ledger: Path,
    reporter: Reporter,
    *,
    count: int | None,
    question_file: Path | None,
    field: str,
    by_hand: bool,
    prompt: str,
    again: bool,
    add: bool,
    dry_run: bool,
) -> Outcome:
    """Write proposed.csv: questions of a ``question_file``, of a language model, or to write ``by_hand``.

    Raises ConfigError if there are proposals already, unless the step is done ``again`` or is to ``add`` to
    them; a text that is there already is left out then. A dry run only estimates the cost.
    """
    if field and not question_file:
        raise ConfigError("--field goes with --from.")
    if dry_run and (by_hand or question_file):
        raise ConfigError("--dry-run goes with a language model; --by-hand and --from cost nothing.")
    count = count or state.config.questions
    if state.has(Question) and not (again or add or dry_run):
        raise ConfigError(
            f"{state.path(Question)} exists already, perhaps with your edits. Repeat the step with --again "
            "(the old file stays in history/), or go on with the next one: "
            f"{state.command} status"
        )
    documents = list(state.documents(reader).values())
    if by_hand:
        proposals: Proposals | Outcome = _to_write(documents, count, state.config.seed)
    elif question_file:
        return _from_list(state, documents, question_file, field, count, add)
    else:
        proposals = _by_model(state, ledger, reporter, documents, count, prompt, add, dry_run)
    if isinstance(proposals, Outcome):
        return proposals
    questions, how, lines = proposals
    questions = _fresh(questions, state.rows(Question) if add else [])
    return _written(state, documents, questions, how, lines, add)


def _written(
    state: SetState,
    documents: Sequence[Document],
    questions: Sequence[Question],
    how: str,
    lines: Sequence[str],
    add: bool,
    more: Tables | None = None,
) -> Outcome:
    """Write proposed.csv, in which earlier proposals stay if these ``add`` to them, and ``more`` tables."""
    before = state.rows(Question) if add else []
    rows = [*before, *_numbered(questions, before)]
    tables: Tables = {Question: rows, **(more or {}), **state.document_rows(documents)}
    state.write("propose", how, tables)
    counts = Counter(question.kind for question in questions).most_common()
    kinds = f" ({', '.join(f'{kind} {times}' for kind, times in counts)})" if counts else ", as all are there"
    return Outcome((f"{state.path(Question)}: {counted(len(questions), 'question')} {how}{kinds}.", *lines))


def _fresh(questions: Sequence[Question], before: Sequence[Question]) -> list[Question]:
    """The questions whose text is not there yet."""
    earlier_texts = {question.text for question in before if question.text}
    return [question for question in questions if question.text not in earlier_texts]


def _numbered(questions: Sequence[Question], before: Sequence[Question]) -> list[Question]:
    """The questions, each with an id of its own: the one it came with, else the next number."""
    used_ids = {question.query_id for question in before}
    kept = {question.query_id for question in questions} - {""}
    numbers = (f"q{number:03}" for number in count(1 + _highest(before)))
    free = (name for name in numbers if name not in used_ids | kept)
    return [
        question
        if question.query_id and question.query_id not in used_ids
        else replace(question, query_id=next(free))
        for question in questions
    ]


def _highest(questions: Sequence[Question]) -> int:
    return max(
        (int(question.query_id[1:]) for question in questions if question.query_id[1:].isdecimal()), default=0
    )


def _to_write(documents: Sequence[Document], count: int, seed: int) -> Proposals:
    """Rows without a question: passages of the documents to ask about, each for a kind of question."""
    requests = llm.question_requests(documents, count, seed, _SHORT)
    if not requests:
        raise ConfigError("The documents hold no text to ask about.")
    rows = [replace(llm.question("", kind, *places), note=KINDS[kind][1]) for kind, places in requests]
    line = "Write a question about each passage into the column text; note says of which kind."
    return rows, "to be written by people", [f"{line} Rows without one are left out."]


def _from_list(
    state: SetState, documents: Sequence[Document], path: Path, field: str, most: int, add: bool
) -> Outcome:
    """Write the questions of a file with the answers it has, and its quotes as graded passages."""
    listed, summary = question_lists.read_user_questions(path, field)
    lines = [summary]
    if len(listed) > most:
        lines.append(f"{len(listed) - most} more are left out; --count takes more.")
    before = state.rows(Question) if add else []
    earlier_texts = {question.text for question in before if question.text}
    listed = [entry for entry in listed[:most] if entry.question.text not in earlier_texts]
    numbered = _numbered([entry.question for entry in listed], before)
    listed = [replace(entry, question=question) for entry, question in zip(listed, numbered, strict=True)]
    grader = " ".join(path.name.replace(",", " ").replace(";", " ").split())
    placed = question_lists.place(listed, documents, grader)
    # what an earlier reading of the same file said of questions that are gone
    others = [row for row in state.rows(GradeRow) if add or row.grader != grader]
    grades = {(row.key, row.grader): row for row in [*others, *placed.grades]}
    tables: Tables = {GradeRow: list(grades.values())} if placed.grades else {}
    return _written(
        state, documents, placed.questions, f"taken from {path.name}", [*lines, *placed.lines], add, tables
    )


def _by_model(
    state: SetState,
    ledger: Path,
    reporter: Reporter,
    documents: Sequence[Document],
    count: int,
    prompt: str,
    add: bool,
    dry: bool,
) -> Proposals | Outcome:
    """Questions that a language model writes; the cost of asking for them in a ``dry`` run."""
    config = state.config.llm
    if config is None:
        raise state.no_model("llm", "propose --by-hand, or propose --from FILE")
    name = prompt or ("propose_zh" if state.config.language == "zh" else "propose")
    words = load_prompt(name, llm.FOLDER, ("passages",), KINDS, ("kind", "count"))
    by = f"{config.endpoint.model} ({words.name})"
    if not words.by_kind:
        earlier_texts = [question.text for question in state.rows(Question)] if add else []
        one_call = many.ManyForm(words.system, words.user)
        return _by_one_call(
            *(state, config, ledger, reporter, documents, count, one_call, by, earlier_texts, dry)
        )
    requests = llm.question_requests(documents, count, state.config.seed)
    with Ledger(ledger) as answers_kept:
        form = llm.QuestionForm(words.system, words.user, words)
        model = Model(config, form, answers_kept)
        calls = [model.call(kind, [place.text for place in places]) for kind, places in requests]
        if dry:
            would = f"{by} would be asked for {counted(len(calls), 'question')}."
            return Outcome((would,), ((by, model.estimate(jobs_of(calls), noun="questions")),), dry=True)
        answered, spending = answers(model, calls, reporter=reporter, name="proposing")
    read = [
        llm.question_in(request, answer, form.also)
        for request, answer in zip(requests, answered, strict=True)
    ]
    questions = [replace(question, by=by) for question in read if isinstance(question, Question)]
    failed = Counter(failure.reason for failure in read if isinstance(failure, Malformed))
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


def _by_one_call(
    state: SetState,
    config: ModelConfig,
    ledger: Path,
    reporter: Reporter,
    documents: Sequence[Document],
    count: int,
    form: many.ManyForm,
    by: str,
    earlier_texts: Sequence[str],
    dry: bool,
) -> Proposals | Outcome:
    """Questions that one call asks for, by a user's prompt; those in ``earlier_texts`` are left out."""
    _refuse_short_replies(config, count)
    excerpts = llm.excerpts(documents, state.config.seed)
    shown = len(within_tokens([place.text for place in excerpts], state.config.proposal_tokens))
    # in the order of the text, as a reader would have it
    material = sorted(excerpts[:shown], key=lambda place: (place.document.doc_id, place.start))
    part = (
        f"It is shown {shown:,} of {len(excerpts):,} excerpts, as many as material_tokens "
        f"({state.config.proposal_tokens:,}) allow."
    )
    partly = [part] if shown < len(excerpts) else []
    with Ledger(ledger) as answers_kept:
        model = Model(config, form, answers_kept)
        call = model.call(str(count), [place.text for place in material])
        if dry:
            would = f"{by} would be asked for {counted(count, 'question')} in one call."
            estimate = model.estimate(jobs_of([call]), noun="calls")
            return Outcome((would, *partly), ((by, estimate),), dry=True)
        (answer,), spending = answers(model, [call], reporter=reporter, name="proposing")
    text = text_of(answer)
    parsed = Malformed(answer.reason or "no words") if text is None else many.questions_in(text)
    if isinstance(parsed, Malformed):
        raise ConfigError(
            f"The answer holds no question that can be used ({parsed.reason}). See what it said: "
            f"harness judge export --cache {state.config.cache}; then change the model or the prompt, or "
            "raise llm.endpoint.max_tokens if it was truncated."
        )
    kept = many.distinct(parsed, earlier_texts)
    lines = [f"{calls_made(spending)}.", *partly]
    if twice := len(parsed) - len(kept):
        lines.append(f"{counted(twice, 'duplicate')} left out.")
    if len(kept) > count:
        lines.append(f"{len(kept) - count} more are left out; --count takes more.")
    if len(kept) < count:
        lines.append(f"{count} were asked for.")
    questions = [replace(many.question_of(proposal, material), by=by) for proposal in kept[:count]]
    return questions, f"proposed by {by}", lines


def _refuse_short_replies(config: ModelConfig, count: int) -> None:
    """Raise ConfigError where a reply could never hold so many questions, before it is paid for."""
    limit = config.endpoint.max_tokens
    if limit < _FEWEST_TOKENS * count:
        raise ConfigError(
            f"{counted(count, 'question')} in one reply take about {30 * count:,} tokens, and "
            f"llm.endpoint.max_tokens is {limit:,}. Raise it in testset.yaml, or ask for fewer with --count."
        )
