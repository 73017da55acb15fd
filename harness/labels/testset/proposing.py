"""The step ``propose``: questions by a language model, from a list or a log, or by people from excerpts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.data import read_json, read_table
from harness.labels.testset.config import load_prompt
from harness.labels.testset.kinds import GIVEN, KINDS
from harness.labels.testset.propose import llm
from harness.labels.testset.rows import Question
from harness.labels.testset.state import Outcome, SetState, Tables, calls_made
from harness.models import Malformed, Model, answers, jobs_of
from harness.running import Context
from harness.store import Ledger
from harness.values import ConfigError, CorpusError, Document, counted, on_one_line

# Where lists and logs keep what was asked; dots lead into nested objects, or are part of the name.
_FIELDS = (
    *("text", "question", "query", "user_input", "q", "prompt", "input"),
    *("inputs.question", "inputs.query", "request.query"),
)
_LONGEST = 2000


def read_user_questions(path: Path, field: str = "") -> tuple[list[Question], str]:
    """The distinct questions of a list or a log, the most asked first, and in words what the file holds.

    ``field`` names the column, dots lead into objects; the columns ``type`` and ``answerable`` of a list are
    taken over. Raises CorpusError that says what the file holds where there is no such field.
    """
    entries = _entries(path)
    name = field or next((one for one in _FIELDS if any(_text(entry, one) for entry in entries)), "")
    texts = [_text(entry, name) for entry in entries] if name else []
    counts = Counter(filter(None, texts))
    if not counts:
        names = ", ".join(sorted({key for entry in entries[:100] for key in entry})) or "nothing"
        where = f"no text under {field!r}" if field else "no field that is known to hold questions"
        raise CorpusError(f"{path}: there is {where}. It has: {names}. Name one of text with --field.")
    # of equal questions the first
    entry_of = dict(zip(reversed(texts), reversed(entries), strict=True))
    questions = [
        Question(
            query_id="",
            text=text,
            kind=_text(entry_of[text], "type") or GIVEN,
            answerable=_text(entry_of[text], "answerable").lower() not in ("no", "false", "0"),
            by=path.name,
            asked=count,
        )
        # of equal counts the order of the file
        for text, count in counts.most_common()
    ]
    told = (
        f"{path}: {counted(len(entries), 'entry', 'entries')}, {len(questions)} different questions in the "
        f"field {name}; {len(entries) - counts.total()} without one. Kept with them: type and answerable."
    )
    return questions, told


def _entries(path: Path) -> list[dict[str, Any]]:
    if path.suffix.lower() not in (".json", ".jsonl"):
        return [dict(row.cells) for row in read_table(path, (), CorpusError).rows]
    return [one for one in read_json(path) if isinstance(one, dict)]


def _text(entry: dict[str, Any], field: str) -> str:
    """The question under a field; '' where there is none."""
    value = _value(entry, field)
    text = on_one_line(value) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else ""


def _value(entry: Any, field: str) -> Any:
    if isinstance(entry, dict) and field in entry:
        return entry[field]
    head, dot, rest = field.partition(".")
    return _value(entry[head], rest) if dot and isinstance(entry, dict) and head in entry else None


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
    counts = Counter(one.kind for one in fresh).most_common()
    kinds = f" ({', '.join(f'{kind} {times}' for kind, times in counts)})" if counts else ", as all are there"
    return Outcome((f"{state.path(Question)}: {counted(len(fresh), 'question')} {how}{kinds}.", *lines))


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
    questions, told = read_user_questions(path, field)
    fewer = len(questions) - count
    more = [f"{fewer} that were asked less often are left out; --count takes more."] if fewer > 0 else []
    return questions[:count], f"taken from {path.name}", [told, *more]


def _asked(
    state: SetState, context: Context, documents: Sequence[Document], count: int, prompt: str, dry: bool
) -> Made | Outcome:
    """Questions that a language model writes; the cost of asking for them in a ``dry`` run."""
    config = state.config.llm
    if config is None:
        raise state.no_model("llm", "propose --by-hand, or propose --from FILE")
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
