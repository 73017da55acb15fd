"""What a run would compute and ask for: the same loop, which counts the needs that are not stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.models import About, Request, ServedEstimate, estimate_tokens
from harness.running.compute import LocalPass, ModelPass, ServedPass, digest
from harness.running.frames import Unknown, Where
from harness.running.loop import Loop, Met, Wanted
from harness.running.meeting import Running, parted, request_key, united
from harness.running.passes import encoding, scoring
from harness.running.search import Chunked, FoundBySettings, Searched, as_read, search_settings, searching_of
from harness.running.services import missing_of
from harness.steps import (
    AllAtOnce,
    Answers,
    Built,
    CheckOnly,
    Index,
    Noted,
    OwnCode,
    PendingCalls,
    Prompts,
    TermsOf,
    Texts,
    Unwritten,
    Warned,
    pairs_of,
)
from harness.values import LlmError, Part, Query, by_key

_UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Left:
    """What a setting needs of a model that is not stored.

    ``items`` are what is missing by its keys, ``stored`` the keys of the others. ``guessed``: it rests on
    what is not known, so that ``items`` are some that are as long as there may be, and ``count`` is the most
    there may be. ``whose``: for texts, those of passages or of queries. ``model`` None: a language model that
    ranks lists.
    """

    setting: int
    config: Any
    model: ModelPass | None
    items: dict[bytes, Any]
    stored: frozenset[bytes] = frozenset()
    guessed: bool = False
    count: int = 0
    lists: Sequence[Sequence[str]] = ()
    whose: str = ""

    @property
    def keys(self) -> set[tuple[str, bytes]]:
        """What is missing, by model and key; nothing where the items themselves are not known."""
        if self.model is None or (self.guessed and not self.whose):
            return set()
        return {(self.model.fingerprint, key) for key in self.items}


@dataclass(frozen=True, slots=True)
class ToAsk:
    """What requests of one sort are about that rest on what is known, and those that are guessed."""

    request: Request
    known: dict[About, None] = field(default_factory=dict)
    guessed: dict[About, None] = field(default_factory=dict)


@dataclass(slots=True)
class Planning(Running):
    """Meets what is stored, and notes the rest.

    ``computes``: models on this machine compute what does not rest on a guess, as in a dry run. ``apart``:
    what settings ask language models is not united.
    """

    computes: bool = False
    apart: bool = False
    left: list[Left] = field(default_factory=list)
    prompts: dict[tuple[str, str], ToAsk] = field(default_factory=dict)
    services: dict[str, set[str]] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    said: list[Wanted] = field(default_factory=list)

    @property
    def calls(self) -> list[PendingCalls]:
        """What language models would be asked, each call once, whoever needs it and when."""
        found = []
        for prompt in self.prompts.values():
            more = [thing for thing in prompt.guessed if thing not in prompt.known]
            for about, at_most in ((list(prompt.known), False), (more, True)):
                calls = self.resources.pending(replace(prompt.request, about=about)) if about else None
                if calls is not None:
                    found.append(replace(calls, at_most=at_most))
        return found

    @property
    def endpoints(self) -> list[PendingCalls]:
        """What endpoints would be asked for, by model."""
        return to_buy(self.left)

    def say(self) -> None:
        """Say what the steps have said."""
        for wanted in self.said:
            Running.give(Running(self.session), wanted)

    def instead(self, where: Where, part: Part, why: Unknown) -> Any:
        """A guess; the setting is known no more."""
        self.guessed.add(where.setting)
        if part.items:
            left = Left(int(where.setting), part.config, None, {}, guessed=True, count=part.items)
            self.left.append(left)
        return part.guess() if part.guess is not None else None

    def give(self, wanted: Wanted) -> Any:
        """What is looked up; nothing is computed or called where a plan only counts."""
        need = wanted.need
        if isinstance(need, Warned | Noted):
            self.said.append(wanted)
            return None
        if isinstance(need, Unwritten):
            return _UNKNOWN
        if isinstance(need, OwnCode) and not self._runs(wanted):
            decides = any(frame.part is not None and frame.part.decides for frame in wanted.frame.around())
            return None if decides and not wanted.guessed else _UNKNOWN
        if isinstance(need, AllAtOnce) and need.runs and not self._runs(wanted):
            return _UNKNOWN
        # the values of a table are read before a run: it may have gaps
        heavy = (
            isinstance(need, TermsOf)
            or (isinstance(need, Index | CheckOnly) and not need.there)
            or (isinstance(need, Built) and not wanted.where.what)
        )
        if heavy and not self._runs(wanted):
            return _UNKNOWN
        return Running.give(self, wanted)

    def _runs(self, wanted: Wanted) -> bool:
        return self.computes and not wanted.guessed

    def meet(self, wanted: Sequence[Wanted]) -> Sequence[Met | Unknown]:
        """What is stored, and what may be computed; the rest is noted."""
        match wanted[0].need:
            case Prompts():
                return self._look_up_prompts(wanted)
            case Answers():
                return [self._look_up_answers(wish) for wish in wanted]
            case _:
                free = [
                    wish for wish in wanted if self._runs(wish) and isinstance(self._model(wish), LocalPass)
                ]
                met = dict(zip(map(id, free), Running.meet(self, free) if free else (), strict=True))
                return [met[id(wish)] if id(wish) in met else self._look_up(wish) for wish in wanted]

    def mention(self, wanted: Wanted) -> None:
        """Texts that are embedded with others."""
        if self.computes:
            Running.mention(self, wanted)
        elif isinstance(wanted.need, Texts):
            self._note(wanted)

    def _model(self, wanted: Wanted) -> ModelPass:
        need = wanted.need
        if isinstance(need, Texts):
            return encoding(need.encoder, self.session)
        return scoring(need.reranker, self.session)

    def _look_up(self, wanted: Wanted) -> Met | Unknown:
        """Texts or pairs that are all stored; else notes those that are not."""
        if self._note(wanted):
            return _UNKNOWN
        (met,) = Running.meet(self, [wanted])
        return met

    def _note(self, wanted: Wanted) -> bool:
        """Note which texts or pairs are missing; returns whether there are any."""
        need, model, setting = wanted.need, self._model(wanted), int(wanted.where.setting)
        if isinstance(need, Texts):
            texts: dict[bytes, Any] = {digest(text): text for text in need.texts}
            stored = frozenset(model.known(texts))
            missing = {key: text for key, text in texts.items() if key not in stored}
            count, guessed = len(missing), wanted.guessed
            self.left.append(
                Left(setting, need.encoder, model, missing, stored, guessed, count, whose=need.whose)
            )
            return bool(missing)
        pairs: dict[bytes, Any] = {digest(*pair): pair for pair in pairs_of(need.lists)}
        if wanted.guessed:
            count = sum(len(passages) - 1 for passages in need.lists)
            self.left.append(Left(setting, need.reranker, model, pairs, frozenset(), True, count, need.lists))
            return True
        stored = frozenset(model.known(pairs))
        missing = {key: pair for key, pair in pairs.items() if key not in stored}
        self.left.append(Left(setting, need.reranker, model, missing, stored, False, len(missing)))
        return bool(missing)

    def _look_up_prompts(self, wanted: Sequence[Wanted]) -> list[Met | Unknown]:
        """Answers of the ledger; else notes the calls that all steps together take."""
        groups: dict[tuple[str, str], list[Wanted]] = {}
        for wish in wanted:
            # lists of settings that are guessed are the same, which those of a run are not
            alone = self.apart or (wish.guessed and wish.need.request.purpose == "reranking")
            groups.setdefault((request_key(wish.need), wish.where.setting if alone else ""), []).append(wish)
        met: dict[int, Met | Unknown] = {}
        for key, together in groups.items():
            request = united(wish.need.request for wish in together)
            pending = self.resources.pending(request)
            if pending is not None:
                asked = self.prompts.setdefault(key, ToAsk(request))
                for wish in together:
                    about = asked.guessed if wish.guessed else asked.known
                    about.update(dict.fromkeys(wish.need.request.about))
            for wish in together:
                if pending is None or self.resources.pending(wish.need.request) is None:
                    request = united([wish.need.request])
                    (talks,) = self.resources.talks([request])
                    (met[id(wish)],) = parted(request, [wish], talks)
                else:
                    met[id(wish)] = _UNKNOWN
        return [met[id(wish)] for wish in wanted]

    def _look_up_answers(self, wanted: Wanted) -> Met | Unknown:
        """Answers of a service that are kept; else notes that it would be called."""
        if not missing_of(wanted.need, self.resources):
            return self._answers(wanted)
        self.services.setdefault(wanted.need.service.url, set()).add(wanted.where.setting)
        return _UNKNOWN


@dataclass(frozen=True, slots=True)
class Planned:
    """What is known of settings: the search of each, None where not all of it is; and what it still takes.

    ``say`` says what the steps have said.
    """

    searched: list[Searched | None]
    left: list[Left]
    calls: list[PendingCalls]
    services: dict[str, int]
    say: Callable[[], None]

    @property
    def endpoints(self) -> list[PendingCalls]:
        """What endpoints would be asked for, by model."""
        return to_buy(self.left)


def plan_settings(points: Sequence[Chunked], queries: Sequence[Query], planning: Planning) -> Planned:
    """What a search of settings takes; nothing is asked, and computed only where ``planning`` computes."""
    results = FoundBySettings(points, queries, planning)
    planning.watch = results.ended
    Loop(planning).run(
        {str(at): searching_of(point, queries, planning.session.models) for at, point in enumerate(points)}
    )
    known = [
        str(at) not in planning.guessed
        and not (point.chunking.reading is not None and point.chunking.reading.guessed)
        for at, point in enumerate(points)
    ]
    searched = [as_read(results.searched[str(at)]) if known[at] else None for at in range(len(points))]
    services = {url: len(settings) for url, settings in planning.services.items()}
    return Planned(searched, planning.left, planning.calls, services, planning.say)


def search_unasked(
    points: Sequence[Chunked], queries: Sequence[Query], cutting: Planning
) -> tuple[list[Searched], tuple[PendingCalls, ...]]:
    """The search of settings where nobody need be asked for it; else nothing, and what would be asked.

    ``cutting`` is what has met the needs of contexts and readers. Services of the user's own are asked for a
    search; LlmError where text that is indexed or read depends on one.
    """
    session = cutting.session
    if cutting.services:
        urls = " and ".join(cutting.services)
        raise LlmError(f"Rankings depend on {urls}, which has not been asked what is indexed or read yet.")
    planned = plan_settings(points, queries, Planning(session, computes=True))
    asked = [call for call in (*cutting.endpoints, *planned.endpoints) if call.estimate.calls]
    if missing := (*cutting.calls, *planned.calls, *asked):
        return [], missing
    known = [result for result in planned.searched if result is not None]
    if len(known) < len(points):
        return search_settings(points, queries, session), ()
    cutting.say()
    planned.say()
    return known, ()


def to_buy(left: Iterable[Left]) -> list[PendingCalls]:
    """What endpoints would be asked for, by model; of pairs that are not known the most there may be."""
    served = [need for need in left if isinstance(need.model, ServedPass)]
    # texts before pairs
    served.sort(key=lambda one: not one.whose)
    groups = by_key((one.model.fingerprint, one) for one in served if one.model is not None)
    priced = map(_price, groups.values())
    return [calls for calls in priced if calls is not None]


def _price(needs: Sequence[Left]) -> PendingCalls | None:
    model = needs[0].model
    assert isinstance(model, ServedPass)
    exact = [need for need in needs if need.whose or not need.guessed]
    items = {key: item for one in exact for key, item in one.items.items()}
    lists = [passages for need in needs if need.guessed for passages in need.lists]
    if not lists:
        stored = frozenset[bytes]().union(*(need.stored for need in needs))
        # of texts also that all are stored
        if not items and not needs[0].whose:
            return None
        pending = model.pending(list(items.values()), len(stored))
        return replace(pending, at_most=any(need.guessed and need.items for need in needs))
    endpoint = model.model.endpoint
    size = getattr(endpoint, "documents_per_request", 1)
    tokens = sum(
        (len(passages) - 1) * estimate_tokens(passages[0]) + sum(map(estimate_tokens, passages[1:]))
        for passages in lists
    )
    calls, count = (
        sum(math.ceil((len(passages) - 1) / size) for passages in lists),
        sum(need.count for need in needs),
    )
    price = endpoint.cost(tokens, calls)
    estimate = ServedEstimate(count, 0, calls, tokens, price, "pairs")
    return PendingCalls(
        endpoint.model, model.fingerprint, estimate, endpoint.problem(), "endpoint", at_most=True
    )
