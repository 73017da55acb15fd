"""Shared by lexical retrievers: their configuration, and the terms of passages and queries."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator

from harness.steps.search.analyse.analyser import ANALYSER_TEXT, Analyser, AnalyserName, StopWords
from harness.steps.search.analyse.synonyms import Synonyms
from harness.steps.search.step import Identity, Passages
from harness.steps.search.tools import Tools
from harness.values import CorpusError, StageConfig, refuse_special


class TermsConfig(StageConfig):
    """Base of the configurations of retrievers by terms: how text becomes terms, and how terms weigh."""

    analyser: AnalyserName = Field("auto", description=ANALYSER_TEXT)
    stop_words: StopWords = Field(
        "long",
        description="English words left out where the analyser stems: `long` are NLTK's "
        "179, question words among them, `short` Lucene's 33.",
    )
    user_dictionary: Path | None = Field(
        None, description="For `analyser: jieba`: a file of words, one per line (`word [frequency] [tag]`)."
    )
    synonyms: Path | None = Field(
        None,
        description="A file in Solr's format (`a, b => c` replaces, `a, b, c` searches for all), applied to "
        "queries only.",
    )
    k1: float = Field(1.5, ge=0, description="BM25: the larger, the more a repeated term counts.")
    b: float = Field(0.75, ge=0, le=1, description="BM25: how much the length of a chunk counts against it.")
    # the texts of the files, as they were when the configuration was read
    _dictionary: str = PrivateAttr("")
    _synonyms: str = PrivateAttr("")

    def check_ready(self) -> None:
        """Find the package that cuts Chinese into words, where it is asked for."""
        Terms(self).identity  # noqa: B018

    @model_validator(mode="after")
    def _read_files(self) -> Self:
        self._dictionary = _text_of("user_dictionary", self.user_dictionary)
        self._synonyms = _text_of("synonyms", self.synonyms)
        return self

    @property
    def dictionary_text(self) -> str:
        """The text of ``user_dictionary``, '' for none."""
        return self._dictionary

    @property
    def synonyms_text(self) -> str:
        """The text of ``synonyms``, '' for none."""
        return self._synonyms


def _text_of(key: str, path: Path | None) -> str:
    if path is None:
        return ""
    try:
        if path.exists():
            refuse_special(path)
        return path.read_text(encoding="utf-8-sig")
    except CorpusError as error:
        raise ValueError(f"{key}: {error}") from error
    except OSError as error:
        raise ValueError(f"{key}: {path} cannot be read ({error.strerror}). Correct the name") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{key}: {path} is not UTF-8 (offset {error.start}). Save it as UTF-8") from error


@dataclass(frozen=True, slots=True)
class TermIds:
    """The terms of all passages as numbers, in the order of the text.

    ``terms`` [T] are those of all passages, one after the other; those of passage i begin at ``starts[i]`` of
    ``starts`` [N + 1]. ``vocabulary`` has the number of every term.
    """

    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    vocabulary: dict[str, int]

    @classmethod
    def of(cls, passages: Iterable[Iterable[str]]) -> TermIds:
        """Number the terms of passages as they first occur."""
        vocabulary: dict[str, int] = {}
        # an array holds four bytes a term, a list of numbers eight and more
        terms, starts = array("i"), array("q", [0])
        for passage in passages:
            terms.extend(vocabulary.setdefault(term, len(vocabulary)) for term in passage)
            starts.append(len(terms))
        return cls(np.array(terms, dtype=np.int32), np.array(starts, dtype=np.int64), vocabulary)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms each passage has, [N]."""
        return np.diff(self.starts)

    def counts(self) -> Any:
        """How often each passage has each term, a scipy CSC array [passages, vocabulary]."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.terms), dtype=np.int32)
        shape = len(self.starts) - 1, len(self.vocabulary)
        found = csr_array((ones, self.terms, self.starts), shape=shape).tocsc()
        # a term that a passage repeats is in it several times
        found.sum_duplicates()
        return found


_KEPT: dict[str, TermIds] = {}
_MOST_KEPT = 2


class Terms:
    """Passages and queries as a configuration reads them."""

    def __init__(self, config: TermsConfig) -> None:
        self._analyser = Analyser(config.analyser, config.stop_words, config.dictionary_text)
        self._synonyms = Synonyms.parse(config.synonyms_text, str(config.synonyms), self._analyser.terms)

    @property
    def identity(self) -> Identity:
        """All that decides the terms besides the text."""
        return [self._analyser.identity, self._synonyms.identity]

    def of_passages(self, passages: Passages, tools: Tools) -> TermIds:
        """The terms of the passages; those of the last chunkings are kept, as sweeps ask for them again."""
        key = tools.key(passages.key, self._analyser.identity)
        if key not in _KEPT:
            known = TermIds.of(map(self._analyser.terms, passages.texts))
            while len(_KEPT) >= _MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
            _KEPT[key] = known
        return _KEPT[key]

    def of_query(self, text: str, vocabulary: dict[str, int]) -> list[int]:
        """The terms of a query that any passage has, repeated as often as they are asked for."""
        asked = self._synonyms.expand(self._analyser.terms(text))
        return [vocabulary[term] for term in asked if term in vocabulary]
