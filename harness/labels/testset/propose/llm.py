"""Questions that a language model proposes from excerpts of the documents, through the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.labels.testset.config import TestsetPrompt, load_prompt
from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.propose.drafting import question
from harness.labels.testset.propose.material import excerpts, has_table, locate
from harness.labels.testset.rows import Place, Question
from harness.models import (
    Estimate,
    Malformed,
    Model,
    ModelConfig,
    Spending,
    TextForm,
    answers,
    jobs_of,
    json_in,
    render,
    text_of,
)
from harness.store import Ledger
from harness.values import Document, LlmAnswer, LlmCall, Reporter, on_one_line

FOLDER = Path(__file__).parent / "prompts"
_TWO = ("two_places", "comparison")


@dataclass(frozen=True, slots=True)
class QuestionForm(TextForm):
    """A prompt that is answered with a JSON object: a question and quotes.

    The query of a call is the kind of question, which words the prompt: one run, with one limit of money,
    asks for all kinds.
    """

    prompt: TestsetPrompt

    def sha_of(self, query: str) -> str:
        """The hash of both templates with the words for a kind."""
        return TextForm(*self.prompt.of_kind(query)).sha256

    def messages(self, call: LlmCall) -> list[dict[str, str]]:
        """The messages of a call."""
        system, user = self.prompt.of_kind(call.query)
        return render(system, user, "", call.passages, self.sha_of(call.query))

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed if it is not such an object; a question that could not be written is an answer."""
        found = parsed(text)
        return found if isinstance(found, Malformed) else None

    def shortest(self, call: LlmCall) -> str:
        """A question of ten words, and a quote."""
        return json.dumps({"question": "word " * 10, "quotes": ["word " * 12]})


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """The excerpts and kind of one question to ask for."""

    kind: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The questions, their cost, and how many calls brought none, by reason."""

    questions: list[Question]
    spending: Spending
    failed: Mapping[str, int]


class Proposer:
    """Asks for one question per call; holds no key and opens no connection until it has to."""

    def __init__(self, config: ModelConfig, ledger: Ledger, prompt: str) -> None:
        self.config = config
        self.ledger = ledger
        self.prompt = load_prompt(prompt, FOLDER, ("kind", "passages"), KINDS)
        form = QuestionForm(self.prompt.system, self.prompt.user, self.prompt)
        self._model = Model(config, form, ledger)

    @property
    def name(self) -> str:
        """Who writes the questions."""
        return f"{self.config.endpoint.model} ({self.prompt.name})"

    def estimate(self, briefs: Sequence[QuestionRequest]) -> Estimate:
        """The cost of asking; makes no call."""
        return self._model.estimate(jobs_of([self._call(one) for one in briefs]), noun="questions")

    def propose(self, briefs: Sequence[QuestionRequest], reporter: Reporter) -> Proposed:
        """Ask for all of them; raises LlmError if the model cannot be asked or a limit ends the run.

        Every answer is then in the ledger, and the next run goes on from there. A call without a usable
        answer is counted, and brings no question.
        """
        calls = [self._call(one) for one in briefs]
        answered, spent = answers(self._model, calls, reporter=reporter, name="proposing")
        found: list[Question] = []
        failed = Counter[str]()
        for brief, answer in zip(briefs, answered, strict=True):
            one = self._question(brief, answer)
            if isinstance(one, Malformed):
                failed[one.reason] += 1
            else:
                found.append(one)
        return Proposed(found, spent, failed)

    def _call(self, brief: QuestionRequest) -> LlmCall:
        return self._model.call(brief.kind, [place.text for place in brief.places])

    def _question(self, brief: QuestionRequest, answer: LlmAnswer) -> Question | Malformed:
        text = text_of(answer)
        found = Malformed(answer.reason or "no words") if text is None else parsed(text)
        if isinstance(found, Malformed):
            return found
        asked, quotes = found
        if not asked:
            return Malformed("no_question")
        if brief.kind == "unanswerable":
            own = question(asked, brief.kind, brief.places[0])
            return replace(own, answerable=False, by=self.name, note="check that no document answers it")
        if not quotes:
            return Malformed("no_quotes")
        located = [self._located(quote, brief.places) for quote in quotes]
        places = list({(place.document.doc_id, place.start): place for place, _ in located}.values())
        own = question(asked, brief.kind, places[0], places[1] if len(places) > 1 else None)
        lost = sum(not sure for _, sure in located)
        return replace(
            own, by=self.name, note=f"{lost} of {len(located)} quotes are not in the text" if lost else ""
        )

    def _located(self, quote: str, places: Sequence[Place]) -> tuple[Place, bool]:
        """The first place that holds the quote; the whole of the first excerpt where none does."""
        found = [locate(quote, place) for place in places]
        return next((one for one in found if one[1]), found[0])


def question_requests(documents: Sequence[Document], count: int, seed: int) -> list[QuestionRequest]:
    """The requests: ``count`` questions in shares of `KINDS`, spread over the documents.

    Questions about tables are asked of excerpts with tables, and left out where there is none; questions of
    two places get two excerpts, of two documents where there are several.
    """
    places = excerpts(documents, seed)
    tables = [place for place in places if has_table(place)]
    kinds = [kind for kind in KINDS if tables or kind != "table"]
    if not places:
        return []
    briefs: list[QuestionRequest] = []
    at = 0
    for kind, wanted in quotas(count, kinds).items():
        own = tables if kind == "table" else places
        for number in range(wanted):
            first = own[(number if kind == "table" else at) % len(own)]
            at += kind != "table"
            second = _another(places, first, at) if kind in _TWO else None
            briefs.append(QuestionRequest(kind, (first,) if second is None else (first, second)))
    # few excerpts and many questions: the same call twice would bring the same question
    return list(dict.fromkeys(briefs))


def _another(places: Sequence[Place], first: Place, at: int) -> Place | None:
    """An excerpt for the second half of a question: of another document, or elsewhere in the only one."""
    turned = [*places[at % len(places) :], *places[: at % len(places)]]
    others = [place for place in turned if place.document.doc_id != first.document.doc_id]
    return next(iter([*others, *(place for place in turned if place.start != first.start)]), None)


def parsed(text: str) -> tuple[str, list[str]] | Malformed:
    """Question and quotes in an answer."""
    found = json_in(text)
    if isinstance(found, Malformed):
        return found
    if not isinstance(found, Mapping) or not isinstance(found.get("question"), str):
        return Malformed("no_question_field")
    quotes = found.get("quotes", [])
    if not isinstance(quotes, list) or not all(isinstance(one, str) for one in quotes):
        return Malformed("no_quotes_list")
    return on_one_line(found["question"]), [one for one in quotes if one.strip()]
