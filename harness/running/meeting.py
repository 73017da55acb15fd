"""How a run meets the needs of steps: it looks up, computes or buys what is missing, and keeps it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, TypeAlias

from harness import models
from harness.running.compute import Computed, Items, ModelPass, ServedPass, StoredValues, digest, length_of
from harness.running.frames import Unknown, Where
from harness.running.kept_terms import kept_terms_of
from harness.running.loop import Met, Visitor, Wanted
from harness.running.passes import encoding, scoring
from harness.running.pipeline import RETRIEVE
from harness.running.resources import Resources
from harness.running.services import answers_of_service
from harness.running.session import Session
from harness.steps import (
    AllAtOnce,
    Answers,
    Built,
    Cells,
    CheckOnly,
    Cluster,
    Effort,
    Fingerprints,
    Index,
    IndexPrice,
    Noted,
    OwnCode,
    PairScores,
    PriceOfIndex,
    Prompts,
    TableRows,
    Talked,
    TermsOf,
    Texts,
    Warned,
    pairs_of,
)
from harness.values import Kept, Part, key_of

# what building an index took: seconds and bytes
_BUILT = "built"
Bought: TypeAlias = dict[ServedPass, tuple[set[bytes], set[bytes], set[bytes]]]
"""What endpoints give for a stage: keys of passages, which are indexed once, of queries, and of samples."""


@dataclass(slots=True)
class Running(Visitor):
    """Meets all needs over the session of a run.

    ``watch`` is told of every part that ends; ``efforts`` has what each stage of each setting took,
    ``bought`` what it takes of endpoints, ``paid`` what language models were paid that a step asks by itself,
    whoever paid (None: a price is unknown).
    """

    session: Session
    watch: Callable[[Where, Part, Any], None] | None = None
    efforts: dict[tuple[str, str], Effort] = field(default_factory=lambda: defaultdict(Effort))
    bought: dict[tuple[str, str], Bought] = field(default_factory=lambda: defaultdict(dict))
    paid: dict[tuple[str, str], float | None] = field(default_factory=dict)
    mentioned: list[Wanted] = field(default_factory=list)
    _calls: int = 0

    @property
    def resources(self) -> Resources:
        """What is asked of the run."""
        return Resources(self.session)

    def stored(self, kept: Kept, where: Where, key: str) -> Any | None:
        """What the cache has."""
        return self.resources.kept(kept.kind, key)

    def keep(self, kept: Kept, key: str, value: Any) -> None:
        """Keep it in the cache."""
        self.resources.keep(kept.kind, key, value)

    def mention(self, wanted: Wanted) -> None:
        """Texts that are embedded with others."""
        if isinstance(wanted.need, Texts):
            self.mentioned.append(wanted)
            self._note_bought(wanted, encoding(wanted.need.encoder, self.session))

    def spent(self, where: Where, seconds: float) -> None:
        """Add to the timings of the run, and to what the setting took."""
        self.efforts[where.setting, where.stage] += Effort(seconds)
        # what is asked and computed on the way is timed by itself
        name = where.what or where.stage.partition(".")[0].rstrip("0123456789")
        if name:
            self.session.notes.timings[name] += seconds

    def charged(self, where: Where) -> float | None:
        """By the tokens and requests that its vectors and scores took."""
        of_place = self.bought.pop((where.setting, where.stage), {})
        return models.sum_of(model.cost(sorted(set().union(*keys))) for model, keys in of_place.items())

    def ended(self, where: Where, part: Part, value: Any) -> Any:
        """A list that a language model ranks counts as reused where nothing was asked."""
        if part.what == "lists" and value is not None:
            count, calls = len(value[0]), self.session.notes.bills.calls
            computed, self._calls = (count if calls > self._calls else 0), calls
            self.efforts[where.setting, where.stage] += Effort(0.0, computed, count)
            self.session.notes.counts["pairs_reused"] += count - computed
        if self.watch is not None:
            self.watch(where, part, value)
        return value

    def give(self, wanted: Wanted) -> Any:
        """The value of what is not waited for."""
        need, resources = wanted.need, self.resources
        match need:
            case Built():
                return need.make()
            case CheckOnly():
                return need.make()
            case Fingerprints():
                return resources.fingerprint
            case TermsOf():
                read = need.read or need.terms.of_texts
                passages = need.passages
                return kept_terms_of(passages.texts, passages.key, need.terms.reader, resources, read)
            case Index():
                return wanted.frame.enter(opened_index(need, resources))
            case PriceOfIndex():
                key = resources.key(*need.facts)
                return IndexPrice(key, *(resources.kept(_BUILT, key) or ()))
            case Cluster():
                return resources.spread
            case Cells():
                return resources.facts(need.file, need.key, need.columns, need.documents)
            case TableRows():
                return resources.rows(need.file, need.columns)
            case Noted():
                for text in need.texts:
                    resources.reporter.note(text)
                return None
            case Warned():
                for text in need.texts:
                    resources.reporter.warn(text)
                return None
            case OwnCode() | AllAtOnce():
                return None
        raise TypeError(f"a step yields {type(need).__name__}, which a run does not know")

    def meet(self, wanted: Sequence[Wanted]) -> Sequence[Met | Unknown]:
        """One pass of each model over what all steps need of it."""
        match wanted[0].need:
            case Prompts():
                return self._prompts(wanted)
            case Answers():
                return [self._answers(wish) for wish in wanted]
            case Texts():
                return self._texts(wanted)
            case PairScores():
                return self._pairs(wanted)
        raise TypeError(f"a step yields {type(wanted[0].need).__name__}, which a run does not know")

    def _answers(self, wanted: Wanted) -> Met | Unknown:
        answers = answers_of_service(wanted.need, self.resources)
        return Met(lambda: answers)

    def _prompts(self, wanted: Sequence[Wanted]) -> list[Met | Unknown]:
        """Equal requests of all steps are one, and all are made together."""
        groups: dict[str, list[Wanted]] = {}
        for wish in wanted:
            groups.setdefault(request_key(wish.need), []).append(wish)
        requests = [united(wish.need.request for wish in together) for together in groups.values()]
        answers: dict[int, Met | Unknown] = {}
        for request, together, talks in zip(
            requests, groups.values(), self.resources.talks(requests), strict=True
        ):
            for wish, met in zip(together, parted(request, together, talks), strict=True):
                answers[id(wish)] = met
                # rewriting, names and lists have prices of their own; what is only mentioned is none of it
                if not (wish.where.what or wish.frame.mentions):
                    place = wish.where.setting, wish.where.stage
                    self.paid[place] = models.add(self.paid.get(place, 0.0), met.cost)
        return [answers[id(wish)] for wish in wanted]

    def _texts(self, wanted: Sequence[Wanted]) -> list[Met | Unknown]:
        """The encodings of all texts, and of what is mentioned, each once."""
        mentioned, self.mentioned = self.mentioned, []
        named = sorted([*mentioned, *wanted], key=lambda wish: int(wish.where.setting))
        passes = {id(wish): encoding(wish.need.encoder, self.session) for wish in named}
        for wish in wanted:
            self._note_bought(wish, passes[id(wish)])
        items = (
            (wish.where, passes[id(wish)], {digest(text): text for text in wish.need.texts}) for wish in named
        )
        computed = self._computed("vectors", items, "embed")
        return [Met(partial(_shaped, wish.need, passes[id(wish)], computed)) for wish in wanted]

    def _pairs(self, wanted: Sequence[Wanted]) -> list[Met | Unknown]:
        """The scores of all pairs, each once."""
        passes = [scoring(wish.need.reranker, self.session) for wish in wanted]
        pairs = [pairs_of(wish.need.lists) for wish in wanted]
        keys = [[digest(*pair) for pair in listed] for listed in pairs]
        for wish, model, pair_keys in zip(wanted, passes, keys, strict=True):
            self._note_bought(wish, model, pair_keys)
        items = (
            (wish.where, model, dict(zip(pair_keys, pairs_of_wish, strict=True)))
            for wish, model, pair_keys, pairs_of_wish in zip(wanted, passes, keys, pairs, strict=True)
        )
        computed = self._computed("pairs", items, "rerank")

        def scores(need: PairScores, model: ModelPass, pair_keys: Sequence[bytes]) -> list[list[float]]:
            each = (float(computed[model.fingerprint].floats(key)[0]) for key in pair_keys)
            return [list(islice(each, len(passages) - 1)) for passages in need.lists]

        return [
            Met(partial(scores, wish.need, model, pair_keys))
            for wish, model, pair_keys in zip(wanted, passes, keys, strict=True)
        ]

    def _computed(
        self, name: str, requests: Iterable[tuple[Where, ModelPass, Items]], stage: str
    ) -> dict[str, Computed]:
        """What each model gives, by its fingerprint; notes what each setting took.

        The seconds of a pass are parted by the characters that were computed for each setting; a value that
        several need is computed for the first one. What is no part of a search is timed by who asks.
        """
        passes: dict[str, ModelPass] = {}
        wanted: dict[str, dict[bytes, Any]] = {}
        needs: dict[tuple[str, str], dict[str, dict[bytes, Any]]] = {}
        for where, model, items in requests:
            passes[model.fingerprint] = model
            keys_of = needs.setdefault((where.setting, where.stage.partition(".")[0]), {})
            for holder in (keys_of, wanted):
                holder.setdefault(model.fingerprint, {}).update(items)
        done: dict[str, Computed] = {}
        a_character: dict[str, float] = {}
        timed = partial(self.session.notes.timed, stage) if any(place for _, place in needs) else nullcontext
        for fingerprint, model in passes.items():
            items, begun = wanted[fingerprint], perf_counter()
            with timed():
                done[fingerprint] = model(items)
            characters = sum(length_of(items[key]) for key in done[fingerprint].new)
            a_character[fingerprint] = (perf_counter() - begun) / max(1, characters)
        left = {fingerprint: set(value.new) for fingerprint, value in done.items()}
        for place, need in needs.items():
            seconds, computed = 0.0, 0
            for fingerprint, items in need.items():
                new = items.keys() & left[fingerprint]
                left[fingerprint] -= new
                seconds += a_character[fingerprint] * sum(length_of(items[key]) for key in new)
                computed += len(new)
            values = sum(map(len, need.values()))
            self.efforts[place] += Effort(seconds, computed, values)
            if place[1] and (name == "pairs" or place[1] == RETRIEVE):
                self.session.notes.counts[f"{name}_reused"] += values - computed
        return done

    def _note_bought(self, wanted: Wanted, model: ModelPass, keys: Sequence[bytes] | None = None) -> None:
        """Keep what an endpoint gives, to say what a setting costs whoever has paid."""
        if not isinstance(model, ServedPass):
            return
        where, need = wanted.where, wanted.need
        held = self.bought[where.setting, where.stage].setdefault(model, (set(), set(), set()))
        place = {"passages": 0, "sample": 2}.get(need.whose, 1) if isinstance(need, Texts) else 1
        held[place].update(map(digest, need.texts) if keys is None else keys)


@contextmanager
def opened_index(need: Index, resources: Resources) -> Iterator[Any]:
    """The index at its place in the cache; what building it took is kept for later runs."""
    key = resources.key(*need.facts)

    def filled(seconds: float, size: int | None) -> None:
        if size is None and place.path.is_dir():
            size = sum(path.stat().st_size for path in place.path.rglob("*") if path.is_file())
        resources.keep(_BUILT, key, [round(seconds, 6), size])

    with resources.index(key) as place, need.opened(replace(place, filled=filled)) as index:
        yield index


def _shaped(need: Texts, model: ModelPass, computed: Mapping[str, Computed]) -> Any:
    keys = [digest(text) for text in need.texts]
    rows = StoredValues(model, keys, computed[model.fingerprint].values)
    return rows[:] if need.shape == "vectors" else rows


def parted(request: models.Request, wanted: Sequence[Wanted], talks: Sequence[Talked]) -> list[Met]:
    """What each is given of the answers to the request that is made for all of them."""
    about = request.about
    # all once, then all again
    samples = [talks[start : start + len(about)] for start in range(0, len(talks), max(1, len(about)))]
    of = [dict(zip(about, sample, strict=True)) for sample in samples]

    def met(need: Prompts) -> Met:
        answers = [sample[thing] for sample in of for thing in need.request.about]
        costs = [of[0][thing].cost for thing in dict.fromkeys(need.request.about)] if of else []
        return Met(lambda: answers, models.sum_of(costs))

    return [met(wish.need) for wish in wanted]


def united(requests: Iterable[models.Request]) -> models.Request:
    """One request about all that several with the same key are about."""
    each = list(requests)
    about = dict.fromkeys(thing for request in each for thing in request.about)
    return replace(each[0], about=list(about))


def request_key(need: Prompts) -> str:
    """What is the same for requests that can be made together."""
    request = need.request
    # not what a section has besides, such as how much of a ranking is read
    fields = set(models.ModelConfig.model_fields)
    model = request.model.model_dump(mode="json", include=fields, serialize_as_any=True)
    return key_of(model, request.form.sha256, request.name, request.purpose, request.samples, need.talk)
