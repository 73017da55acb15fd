"""Token classification: the named spans of a text, by a model trained to label its tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models.encoder import LocalEncoder, LocalEncoderConfig
from harness.values import text_sha256

# Raised when the same labels of tokens become other spans.
_VERSION = 1
_OUTSIDE = "O"
# tokens that a window of a long text shares with the one before
_STRIDE = 32


class Tagged(NamedTuple):
    """A half-open range of a text with a label, such as ``PER``."""

    start: int
    end: int
    label: str


class TaggerConfig(LocalEncoderConfig):
    """A token-classification model, and how it computes."""

    model: str = Field(description="Hub id or local folder.")

    def make(self) -> Tagger:
        """The model; its weights are loaded with the first text."""
        return Tagger(self)


class Tagger(LocalEncoder):
    """Texts → their labelled spans, as JSON for ``tagged``. A long text is read in windows that overlap."""

    kind = "TokenClassification"
    bulky = True
    config: TaggerConfig

    @property
    def fingerprint(self) -> str:
        """Everything that decides the spans besides the text."""
        facts = ["tagger", _VERSION, self.model.computing_in(self.config.dtype, self.config.backend)]
        return text_sha256(json.dumps(facts))

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """The spans of every text of one batch, in their order."""
        spans_by_text: list[dict[Tagged, None]] = [{} for _ in texts]
        encodings, scores = self._scored(texts)
        names = self.loaded().config.id2label
        for encoding, rows, place in zip(
            encodings.encodings, scores, encodings["overflow_to_sample_mapping"], strict=True
        ):
            labels = [str(names[int(label)]) for label in rows.argmax(axis=-1)]
            tokens = zip(encoding.word_ids, encoding.offsets, labels, strict=True)
            spans_by_text[int(place)].update(dict.fromkeys(spans_of(tokens)))
        return [json.dumps(_apart(spans)).encode() for spans in spans_by_text]

    def numbers(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The scores of a batch of texts, float32 [windows, tokens, labels]."""
        return [self._scored(texts)[1]]

    def _scored(self, texts: Sequence[str]) -> tuple[Any, NDArray[np.float32]]:
        import torch

        model = self.loaded()
        window = self.tokenizer.window or 512
        encodings = model.harness_tokenizer(
            list(texts),
            truncation=True,
            max_length=window,
            stride=min(_STRIDE, window // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        inputs = {
            name: encodings[name].to(model.device)
            for name in model.harness_tokenizer.model_input_names
            if name in encodings
        }
        with torch.inference_mode():
            logits = model(**inputs).logits.float().cpu().numpy()
        return encodings, np.asarray(logits, dtype=np.float32)


def spans_of(tokens: Iterator[tuple[int | None, tuple[int, int], str]]) -> Iterator[Tagged]:
    """The spans that labelled tokens make, each token with its word, its range and its label.

    Labels are those of BIO and its kin (``B-PER``, ``I-PER``, ``E-PER``, ``S-PER``, ``O``), or plain
    (``PER``). The first token of a word decides for all of it.
    """
    word, current, labelled = -1, None, ""
    for place, (start, end), token_label in tokens:
        if place is None:
            continue
        label = labelled if place == word else token_label
        prefix, dash, name = label.partition("-")
        name = name if dash and prefix in ("B", "I", "E", "L", "S", "U") else label
        goes_on = place == word or prefix not in ("B", "S", "U") or not dash
        word, labelled = place, label
        if current is not None and label != _OUTSIDE and name == current.label and goes_on:
            current = Tagged(current.start, end, name)
            continue
        if current is not None:
            yield current
        current = None if label == _OUTSIDE else Tagged(start, end, name)
    if current is not None:
        yield current


def _apart(spans: dict[Tagged, None]) -> list[Tagged]:
    """The spans in the order of the text; of those that overlap, as windows do, the longest."""
    kept: list[Tagged] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end - span.start > kept[-1].end - kept[-1].start:
            kept[-1] = span
    return kept


def tagged(value: bytes) -> list[Tagged]:
    """The spans of a text, from what ``Tagger.encode`` has made of it."""
    return [Tagged(*span) for span in json.loads(value)]
