"""The models of a run: made once, loaded when first used, and each in the way it computes fastest."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from harness import models, steps
from harness.models import LocalConfig, LocalEncoder
from harness.running.program import program_key
from harness.store import Artifacts, key_of
from harness.values import StageConfig

if TYPE_CHECKING:
    from harness.models import Probe

Local = TypeVar("Local", bound=StageConfig)
_Place = tuple[type, str, str | None]


@dataclass(slots=True)
class RunModels:
    """The models of a run, made once per configuration; they load their weights when first used.

    With ``probes``, those on this machine whose configuration leaves open how to compute do so in the
    fastest way there is, which is found and kept there.
    """

    probes: Artifacts | None = None
    quantising: models.Quantising | None = None
    """By what bi-encoders on this CPU compute in int8, where their configuration leaves it open."""
    _probed: dict[_Place, Probe] = field(default_factory=dict)
    _left_open: dict[_Place, LocalConfig] = field(default_factory=dict)
    """What was probed, as it was configured."""
    _in_int8: dict[_Place, models.LocalModel[Any]] = field(default_factory=dict)
    """The models that compute in int8 where `int8_changes` allows it."""
    _loaded: dict[StageConfig, Any] = field(default_factory=dict)
    """What a probe has loaded, until it is used."""
    compared: dict[str, dict[str, float]] = field(default_factory=dict)
    """How far rankings differ from exact ones, by the names of the models; see ``running/precision.py``."""
    _encoders: dict[models.EncoderConfig, models.Encoder] = field(default_factory=dict)
    _rerankers: dict[str, steps.PairScorer] = field(default_factory=dict)
    _tokenizers: dict[str, models.AnyTokenizer] = field(default_factory=dict)

    def encoder(self, config: models.EncoderConfig) -> models.Encoder:
        """The encoder of a configuration."""
        config = self._fast(config)
        if config not in self._encoders:
            self._encoders[config] = self._loaded.pop(config, None) or self._made(config)
        return self._encoders[config]

    def _made(self, config: models.EncoderConfig) -> models.Encoder:
        if (rounded := self._rounded(config)) is not None:
            return cast("models.Encoder", rounded)
        if self.quantising is None or not screens(config):
            return config.make()
        return models.ScreenEncoder(config, *self.quantising)

    def tokenizer(self, name: str) -> models.AnyTokenizer:
        """The tokenizer of the model called ``name``, whose weights are not loaded, or that of words."""
        if name not in self._tokenizers:
            self._tokenizers[name] = models.tokenizer_named(name)
        return self._tokenizers[name]

    def reranker(self, config: steps.RerankerConfig) -> steps.PairScorer:
        """The pair scorer of a configuration; those that differ in what they read are the same."""
        key = config.model_copy(update={"top_n": 1, "reads_context": True}).model_dump_json()
        if key not in self._rerankers:
            fast = self._fast(config)
            scorer: Any = self._rounded(fast) or self._loaded.pop(fast, None)
            self._rerankers[key] = scorer or steps.RERANKERS.make(fast)
        return self._rerankers[key]

    def is_fast(self, config: models.EncoderConfig | steps.RerankerConfig) -> bool:
        """Whether the model of a configuration computes in another way than without ``probes``."""
        fast = self._fast(config)
        return fast != config or self._rounded(fast) is not None

    def _rounded(self, config: StageConfig) -> models.LocalModel[Any] | None:
        """The model in int8 that computes for a configuration which leaves open how."""
        if not isinstance(config, LocalConfig) or config.way != models.EXACT:
            return None
        return self._in_int8.get(_place(config))

    @property
    def left_open(self) -> list[tuple[LocalConfig, Probe]]:
        """The configurations that were probed, and what was found."""
        return [(config, self._probed[place]) for place, config in self._left_open.items()]

    def take_int8(self, config: LocalConfig, model: models.LocalModel[Any], probe: Probe) -> None:
        """Have a model that was probed compute in int8 from now on."""
        place = _place(config)
        self._probed[place], self._in_int8[place] = probe, model
        self._encoders = {key: value for key, value in self._encoders.items() if not _is(value, config)}
        self._rerankers = {key: value for key, value in self._rerankers.items() if not _is(value, config)}
        self._loaded = {key: value for key, value in self._loaded.items() if not _is(value, config)}

    @property
    def probed(self) -> dict[str, Probe]:
        """What was found, by the names of the models."""
        return {name: probe for (_, name, _), probe in self._probed.items()}

    @property
    def exact(self) -> dict[str, LocalConfig]:
        """By name, the configurations of models on this machine that compute in float32 by torch."""
        loaded = [*self._encoders.values(), *self._rerankers.values()]
        configs = [
            model.config for model in loaded if isinstance(model, LocalEncoder | steps.LocalModelScorer)
        ]
        return {config.model: config for config in configs if config.way == models.EXACT}

    def _fast(self, config: Local) -> Local:
        if self.probes is None or not isinstance(config, LocalConfig) or config.way != models.EXACT:
            return config
        key = _place(config)
        model = None
        if key not in self._probed:
            self._probed[key], model = probe_of(config, self.probes)
            self._left_open[key] = config
        way = self._probed[key].way
        # its configuration stays the one that leaves it open, since none names int8
        fast = config if way == models.INT8 else config.model_copy(update=way._asdict())
        if model is not None:
            self._loaded[fast] = model
        return fast

    def try_out(self, tried: Artifacts) -> None:
        """Load every model that is in use and try it on a word; raises ModelError for a damaged one.

        A model that has passed is not loaded again while its files, its settings, the libraries and the
        machine are the same; ``tried`` is where that is kept.
        """
        # an endpoint is sent nothing before there is a real request
        encoders = [encoder for encoder in self._encoders.values() if isinstance(encoder, LocalEncoder)]
        models: list[LocalEncoder | steps.PairScorer] = [*encoders, *self._rerankers.values()]
        for model in models:
            if not isinstance(model, LocalEncoder | steps.LocalModelScorer):
                model.try_out()
                continue
            facts = type(model).__name__, model.model.fingerprint, model.config.model_dump(mode="json")
            key = key_of(*facts, program_key(), platform.node())
            if tried.get("tried", key) is None:
                model.try_out()
                tried.put("tried", key, True)

    def describe(self) -> dict[str, dict[str, str]]:
        """The models in use, by name, for the run record; one used in two ways also by what differs."""
        used = [encoder.describe() for encoder in self._encoders.values()]
        used += [scorer.describe() for scorer in self._rerankers.values()]
        described: dict[str, dict[str, str]] = {}
        for facts in used:
            first = described.setdefault(facts["name"], facts)
            if differs := [value for key, value in facts.items() if value != first.get(key)]:
                described[f"{facts['name']} ({', '.join(differs)})"] = facts
        return described


def screens(config: models.EncoderConfig) -> TypeGuard[models.EmbedConfig]:
    """Whether an encoder can compute in int8: a bi-encoder here that says nothing of how it computes."""
    return (
        isinstance(config, models.EmbedConfig)
        and config.way == models.EXACT
        and config.device in (None, "cpu")
    )


def probe_of(config: LocalConfig, stored: Artifacts) -> tuple[Probe, models.LocalModel[Any] | None]:
    """How long a model takes in every way, measured unless ``stored`` has it; and the fastest, if loaded."""

    def make(way: models.Way) -> models.LocalModel[Any]:
        return model_of(config.model_copy(update=way._asdict()))

    return models.probe(make(models.EXACT), make, stored)


def model_of(config: LocalConfig) -> models.LocalModel[Any]:
    """The encoder or the pair scorer of a configuration; loads no weights."""
    made = config.make() if isinstance(config, models.EncoderConfig) else steps.RERANKERS.make(config)
    return cast("models.LocalModel[Any]", made)


def _place(config: LocalConfig) -> _Place:
    """What has one probe: the kind, the name and the device of a model."""
    return type(config), config.model, config.device


def _is(model: Any, config: LocalConfig) -> bool:
    """Whether a model is that of a configuration, however it computes."""
    return isinstance(model, models.LocalModel) and _place(model.config) == _place(config)
