"""The step ``choose``: measure the candidates; people mark those to keep, or a choice is made.

Measured are near-duplicates, by shared words, and leading questions, which copy the words of the passage that
answers them: any search for words finds it, so that they say little about other searches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

from harness.labels.testset.kinds import balanced
from harness.labels.testset.set_state import Outcome, SetState
from harness.labels.testset.testset_rows import Candidate, Question
from harness.steps import Analyser
from harness.values import WIDE, ConfigError, counted, longest_shared_run

_LEADS = "copies its passage"
_TWIN = "near-duplicate"
# The similarity from which two questions are shown as near-duplicates.
ALIKE = 0.6
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
# A run of this many words (or twice as many Chinese or Japanese characters) is shown as copied.
RUN = 5
# So is a question of which this share of the content words is in the passage, if it has FEWEST of them.
SHARE = 0.8
FEWEST = 4
_TOKEN = re.compile(rf"[{WIDE}]|\w+")
_IS_WIDE = re.compile(rf"[{WIDE}]")


def choose(state: SetState, *, auto: bool, again: bool) -> Outcome:
    """Write chosen.csv from the proposals; marks and edits that it has are kept, unless ``again``.

    With ``auto`` questions are marked until there are enough.
    """
    count = state.config.chosen
    path = state.path(Question)
    if not path.exists():
        raise ConfigError(f"{path} is not there yet. Propose questions first: {state.command} propose")
    proposed = [question for question in state.rows(Question) if question.text]
    # every proposal, as it was edited where it was; then the questions that people have added
    edited = {} if again else {candidate.query_id: candidate for candidate in state.rows(Candidate)}
    proposed_ids = {question.query_id for question in proposed}
    candidates = [edited.get(question.query_id) or Candidate(**asdict(question)) for question in proposed]
    candidates += [candidate for query_id, candidate in edited.items() if query_id not in proposed_ids]
    if not candidates:
        raise ConfigError(
            f"{path} has no question. Write some into the column text, or propose them: {state.command} "
            "propose --again"
        )
    measured, twins = _measured(candidates)
    leading = {candidate.query_id for candidate in measured if _LEADS in candidate.look}
    alike = sum(_TWIN in candidate.look for candidate in measured)
    if auto:
        kept = balanced(measured, count, leading, twins)
        measured = [
            replace(candidate, keep="yes" if candidate.query_id in kept else candidate.keep or "no")
            for candidate in measured
        ]
    state.write("choose", "a balanced choice" if auto else "to be marked by people", {Candidate: measured})
    now = [candidate for candidate in measured if candidate.keep == "yes"]
    kinds = ", ".join(
        f"{kind} {times}" for kind, times in Counter(candidate.kind for candidate in now).most_common()
    )
    lines = [
        f"{state.path(Candidate)}: {counted(len(measured), 'question')}; {len(now)} "
        f"kept{f' ({kinds})' if kinds else ''}.",
        f"To look at: {counted(len(leading), 'leading question')} with the words of the "
        f"passage that answers, {alike} near-duplicates by words (columns look, like, copied_words).",
    ]
    if len(now) < count:
        lines.append(
            f"Fewer than {count}: write yes into keep for more, or propose more (propose --add)."
            if auto
            else "Mark with yes or no in the column keep, and edit text as you like; or: choose --auto"
        )
    return Outcome(tuple(lines))


def _measured(candidates: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, set[str]]]:
    """The candidates with what was measured, and the near-duplicates of each.

    A duplicate is shown at the later one of two.
    """
    terms = [terms_of(candidate.text) for candidate in candidates]
    rows, twins = [], dict[str, set[str]]()
    for at, candidate in enumerate(candidates):
        before = [likeness_of(terms[at], earlier) for earlier in terms[:at]]
        likeness = max(before, default=0.0)
        copying = copied(candidate.text, f"{candidate.passage}\n{candidate.passage_2}")
        same = [
            other
            for other, alike in zip(candidates, before, strict=False)
            if alike >= ALIKE and same_figures(candidate.text, other.text)
        ]
        for other in same:
            twins.setdefault(candidate.query_id, set()).add(other.query_id)
            twins.setdefault(other.query_id, set()).add(candidate.query_id)
        look = [f"{_TWIN} of {same[0].query_id}"] if same else []
        look += [_LEADS] if copying is not None and copying.leads and candidate.answerable else []
        rows.append(
            replace(
                candidate,
                look="; ".join(look),
                like=candidates[before.index(likeness)].query_id if likeness > 0 else "",
                likeness=round(likeness, 2) if likeness > 0 else None,
                copied_words=None if copying is None else copying.words,
                copied_share=None if copying is None else round(copying.share, 2),
            )
        )
    return rows, twins


def terms_of(text: str) -> set[object]:
    """The terms of a question and the pairs of neighbouring ones.

    Terms are those of the lexical search: stems of words, pairs of Chinese, Japanese or Korean characters.
    """
    terms = Analyser("auto", "none").terms(text)
    return {*terms, *pairwise(terms)}


def likeness_of(first: set[object], second: set[object]) -> float:
    """Jaccard similarity of the terms of two questions."""
    return len(first & second) / len(first | second) if first or second else 0.0


def same_figures(first: str, second: str) -> bool:
    """Whether two questions name the same numbers: one of 2022 and one of 2023 are not duplicates."""
    return sorted(_FIGURE.findall(first)) == sorted(_FIGURE.findall(second))


@dataclass(frozen=True, slots=True)
class CopiedWords:
    """The words that a question copies from a passage."""

    words: int
    """The longest run of words that both hold, a wide character counting half."""
    share: float
    """The part of the content words that are in the passage."""
    content: int
    """The number of content words: stems, stop words left out."""

    @property
    def leads(self) -> bool:
        """Whether it is worth a second look."""
        return self.words >= RUN or (self.share >= SHARE and self.content >= FEWEST)


def copied(question: str, passage: str) -> CopiedWords | None:
    """The words that a question copies; None if it has no passage."""
    if not passage.strip():
        return None
    question_tokens, passage_tokens = (_TOKEN.findall(text.casefold()) for text in (question, passage))
    run = question_tokens[slice(*longest_shared_run(question_tokens, passage_tokens))]
    wide = sum(_IS_WIDE.match(token) is not None for token in run)
    analyser = Analyser("auto", "long")
    content, of_passage = set(analyser.terms(question)), set(analyser.terms(passage))
    share = len(content & of_passage) / len(content) if content else 0.0
    return CopiedWords(len(run) - wide + wide // 2, share, len(content))
