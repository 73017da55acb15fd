"""The step ``choose``: measure the candidates; people mark those to keep, or a choice is made.

Measured are near-duplicates, by shared words or by vectors, and leading questions, which copy the words of
the passage that answers them: any search for words finds it, so that they say little about other searches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from harness.labels.testset.config import TestsetConfig
from harness.labels.testset.kinds import balanced
from harness.labels.testset.rows import Candidate, Question
from harness.labels.testset.state import Outcome, SetState
from harness.models import EmbedConfig
from harness.running import Context, vectors
from harness.steps import Analyser
from harness.values import WIDE, ConfigError, counted

_LEADS = "copies its passage"
_TWIN = "near-duplicate"
# The similarity from which two questions are shown as near-duplicates.
ALIKE = {"words": 0.6, "embedding": 0.9}
_FIGURE = re.compile(r"\d[\d,.]*")
# A run of this many words (or twice as many Chinese or Japanese characters) is shown as copied.
RUN = 5
# So is a question of which this share of the content words is in the passage, if it has FEWEST of them.
SHARE = 0.8
FEWEST = 4
_TOKEN = re.compile(rf"[{WIDE}]|\w+")
_IS_WIDE = re.compile(rf"[{WIDE}]")

Floats = NDArray[np.float64]


def choose(
    state: SetState, context: Context, *, count: int | None, auto: bool, again: bool, by: str
) -> Outcome:
    """Write chosen.csv from the proposals; marks and edits that it has are kept, unless ``again``.

    With ``auto`` questions are marked until ``count`` are kept. ``by`` says how near-duplicates are found:
    ``words``, or ``embedding`` by the model of testset.yaml.
    """
    count = count or state.config.chosen
    path = state.path(Question)
    if not path.exists():
        raise ConfigError(f"{path} is not there yet. Propose questions first: {state.command} propose")
    proposed = state.rows(Question)
    # every proposal, as it was edited where it was; then the questions that people have added
    edited = {} if again else {one.query_id: one for one in state.rows(Candidate)}
    known = {one.query_id for one in proposed}
    candidates = [edited.get(one.query_id) or Candidate(**asdict(one)) for one in proposed]
    candidates += [one for query_id, one in edited.items() if query_id not in known]
    if not candidates:
        raise ConfigError(f"{path} has no question. Propose some: {state.command} propose --again")
    alike = _likeness(candidates, state.config, context, by)
    measured, twins = _measured(candidates, alike, ALIKE[by])
    leading = {one.query_id for one in measured if _LEADS in one.look}
    if auto:
        kept = balanced(measured, count, leading, twins)
        measured = [
            replace(one, keep="yes" if one.query_id in kept else one.keep or "no") for one in measured
        ]
    state.write("choose", "a balanced choice" if auto else "to be marked by people", {Candidate: measured})
    now = [one for one in measured if one.keep == "yes"]
    kinds = ", ".join(f"{kind} {times}" for kind, times in Counter(one.kind for one in now).most_common())
    lines = [
        f"{state.path(Candidate)}: {counted(len(measured), 'question')}; {len(now)} "
        f"kept{f' ({kinds})' if kinds else ''}.",
        f"To look at: {counted(len(leading), 'leading question')} that copy the words of their "
        f"passage, {sum(_TWIN in one.look for one in measured)} near-duplicates by {by} (columns look, like, "
        "copied_words).",
    ]
    if auto and (kept_leading := sum(one.query_id in leading for one in now)):
        lines.append(f"{kept_leading} leading ones were kept, as there are not enough others. Reword them.")
    if len(now) < count:
        lines.append(
            f"Fewer than {count}: write yes into keep for more, or propose more (propose --add)."
            if auto
            else "Mark with yes or no in the column keep, and edit text as you like; or: choose --auto"
        )
    return Outcome(tuple(lines))


def _likeness(candidates: Sequence[Candidate], config: TestsetConfig, context: Context, by: str) -> Floats:
    texts = [one.text for one in candidates]
    if by == "words":
        return by_words(texts)
    if config.embed is None:
        raise ConfigError(
            "--by embedding needs a model: name one under embed in testset.yaml, or take --by words."
        )
    encode = partial(vectors, config=EmbedConfig(model=config.embed.model), context=context)
    return by_vectors([config.embed.query_prefix + text for text in texts], encode)


def _measured(
    candidates: Sequence[Candidate], alike: Floats, least: float
) -> tuple[list[Candidate], dict[str, set[str]]]:
    """The candidates with what was measured, and the near-duplicates of each.

    A duplicate is shown at the later one of two.
    """
    rows, twins = [], dict[str, set[str]]()
    for at, one in enumerate(candidates):
        before = alike[at, :at]
        nearest = int(np.argmax(before)) if at else -1
        likeness = float(before[nearest]) if at else 0.0
        taken = copied(one.text, f"{one.passage}\n{one.passage_2}")
        same = [
            other
            for number, other in enumerate(candidates[:at])
            if before[number] >= least and same_figures(one.text, other.text)
        ]
        for other in same:
            twins.setdefault(one.query_id, set()).add(other.query_id)
            twins.setdefault(other.query_id, set()).add(one.query_id)
        look = [f"{_TWIN} of {same[0].query_id}"] if same else []
        look += [_LEADS] if taken is not None and taken.leads and one.answerable else []
        rows.append(
            replace(
                one,
                look="; ".join(look),
                like=candidates[nearest].query_id if likeness > 0 else "",
                likeness=round(likeness, 2) if likeness > 0 else None,
                copied_words=None if taken is None else taken.words,
                copied_share=None if taken is None else round(taken.share, 2),
            )
        )
    return rows, twins


def by_words(texts: Sequence[str]) -> Floats:
    """Jaccard similarity [texts, texts] of the terms and pairs of neighbouring terms that two questions hold.

    Terms are those of the lexical search: stems of words, pairs of Chinese, Japanese or Korean characters.
    """
    terms = map(Analyser("auto", "none").terms, texts)
    sets = [{*own, *pairwise(own)} for own in terms]
    shared = np.eye(len(sets))
    for row, one in enumerate(sets):
        for column, other in enumerate(sets[:row]):
            if union := len(one | other):
                shared[row, column] = shared[column, row] = len(one & other) / union
    return shared


def by_vectors(texts: Sequence[str], encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> Floats:
    """Cosine similarity [texts, texts] of the embeddings."""
    embeddings = np.asarray(encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.where(lengths == 0, 1, lengths)
    return np.asarray(unit @ unit.T)


def same_figures(one: str, two: str) -> bool:
    """Whether two questions name the same numbers: one of 2022 and one of 2023 are not duplicates."""
    return sorted(_FIGURE.findall(one)) == sorted(_FIGURE.findall(two))


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
    asked, there = (_TOKEN.findall(text.casefold()) for text in (question, passage))
    longest = SequenceMatcher(None, asked, there, autojunk=False).find_longest_match()
    run = asked[longest.a : longest.a + longest.size]
    wide = sum(_IS_WIDE.match(token) is not None for token in run)
    analyser = Analyser("auto", "long")
    content, of_passage = set(analyser.terms(question)), set(analyser.terms(passage))
    share = len(content & of_passage) / len(content) if content else 0.0
    return CopiedWords(len(run) - wide + wide // 2, share, len(content))
