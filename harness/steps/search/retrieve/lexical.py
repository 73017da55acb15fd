"""Shared by lexical retrievers: their configuration, terms, and what a term counts in a chunk by BM25."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator

from harness.steps.search.analyser import ANALYSER_TEXT, STEMMED, Analyser, AnalyserName, StopWords, Synonyms
from harness.steps.search.depth import Doubles, Ints
from harness.steps.search.step import Identity
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
    # the texts of the files, as they were when the configuration was read; '' for none
    _dictionary: str = PrivateAttr("")
    _synonyms: str = PrivateAttr("")

    def check_ready(self) -> None:
        """Find the package that cuts Chinese into words, where it is asked for."""
        Terms(self).identity  # noqa: B018

    @model_validator(mode="after")
    def _read_files(self) -> Self:
        if self.user_dictionary is not None and self.analyser != "jieba":
            raise ValueError(f"user_dictionary is for analyser: jieba; {self.analyser} reads none: remove it")
        chosen = "stop_words" in self.model_fields_set and self.stop_words != "none"
        if chosen and self.analyser not in STEMMED:
            raise ValueError(f"stop_words are for analysers that stem; {self.analyser} does not: remove them")
        self._dictionary = _text_of("user_dictionary", self.user_dictionary)
        self._synonyms = _text_of("synonyms", self.synonyms)
        return self

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of ``user_dictionary`` and ``synonyms``, '' for none."""
        return self._dictionary, self._synonyms


def _text_of(key: str, path: Path | None) -> str:
    if path is None:
        return ""
    try:
        refuse_special(path)
        return path.read_text(encoding="utf-8-sig")
    except (CorpusError, OSError) as error:
        raise ValueError(f"{key}: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{key}: {path} is not UTF-8 (offset {error.start}). Save it as UTF-8") from error


_VOCABULARY = "vocabulary.json"


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

    @classmethod
    def read(cls, folder: Path) -> TermIds:
        """What ``write`` has written; the arrays are mapped, so that only what is used takes memory."""
        terms, starts = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("terms", "starts"))
        words = json.loads((folder / _VOCABULARY).read_text(encoding="utf-8"))
        return cls(terms, starts, {word: number for number, word in enumerate(words)})

    def write(self, folder: Path) -> None:
        """Put the arrays and the vocabulary, in the order of its numbers, into a new folder."""
        folder.mkdir(parents=True)
        np.save(folder / "terms.npy", self.terms)
        np.save(folder / "starts.npy", self.starts)
        (folder / _VOCABULARY).write_text(json.dumps(list(self.vocabulary)), encoding="utf-8")

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms each passage has, [N]."""
        return np.diff(self.starts)

    def part(self, begin: int, end: int) -> TermIds:
        """The passages from ``begin`` to ``end`` with the same numbers, without the vocabulary."""
        starts = self.starts[begin : end + 1]
        return TermIds(self.terms[starts[0] : starts[-1]], starts - starts[0], {})

    def counts(self, vocabulary: int | None = None) -> Any:
        """How often each passage has each term, a scipy CSC array [passages, vocabulary]."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.terms), dtype=np.int32)
        shape = len(self.starts) - 1, len(self.vocabulary) if vocabulary is None else vocabulary
        table = csr_array((ones, self.terms, self.starts), shape=shape).tocsc()
        # a term that a passage repeats is in it several times
        table.sum_duplicates()
        return table


class Terms:
    """Passages and queries as a configuration reads them."""

    def __init__(self, config: TermsConfig) -> None:
        dictionary, synonyms = config.texts
        self._analyser = Analyser(config.analyser, config.stop_words, dictionary)
        self._synonyms = Synonyms.parse(synonyms, str(config.synonyms), self._analyser.terms)

    @property
    def identity(self) -> Identity:
        """All that decides the terms besides the text."""
        return [self._analyser.identity, self._synonyms.identity]

    @property
    def reader(self) -> Identity:
        """All that decides the terms of a passage besides its text."""
        return self._analyser.identity

    def of_texts(self, texts: Iterable[str]) -> TermIds:
        """The terms of texts."""
        return TermIds.of(map(self._analyser.terms, texts))

    def of_query(self, text: str, vocabulary: dict[str, int]) -> list[int]:
        """The terms of a query that any passage has, repeated as often as they are asked for."""
        terms = self._synonyms.expand(self._analyser.terms(text))
        return [vocabulary[term] for term in terms if term in vocabulary]


Method = Literal["lucene", "robertson", "atire"]
AnyMethod = Literal[Method, "bm25+", "bm25l"]
# postings weighted at once
_POSTINGS = 1_000_000
# chunks whose highest score is looked at together
_GROUP = 32
# scores that differ by more differ rounded too, whatever the order of a sum
_APART = 2e-6
# contenders that are faster to score one by one than all chunks by another term
_FEW = 2_000


@dataclass(frozen=True, slots=True)
class Saturation:
    """How the frequency of a term saturates: ``average`` is the length of an average chunk, in terms.

    ``delta`` is what ``bm25+`` and ``bm25l`` add (Lv and Zhai, CIKM and SIGIR 2011).
    """

    method: AnyMethod
    k1: float
    b: float
    average: float
    delta: float = 0.0

    def __call__(self, frequencies: Doubles, lengths: Ints) -> Doubles:
        """The share of terms with these frequencies in chunks of these lengths, both [n].

        The names are those of Kamphuis et al. (ECIR 2020), and the order of the operations is that of the
        library bm25s, so that results are the same to the last bit.
        """
        k1, norm = self.k1, 1 - self.b + self.b * lengths / self.average
        if self.method == "bm25l":
            scaled = frequencies / norm
            return ((k1 + 1) * (scaled + self.delta)) / (k1 + scaled + self.delta)
        factor = 1.0 if self.method in ("lucene", "robertson") else k1 + 1
        return factor * frequencies / (k1 * norm + frequencies) + self.delta


@dataclass(frozen=True, slots=True)
class Postings:
    """For every term the chunks that hold it, and what it counts there when a query asks for it once.

    Those of term t are ``rows`` and ``weights`` [P] from ``starts[t]`` to ``starts[t + 1]`` [V + 1], in the
    order of the chunks, of which there are ``chunks``; ``highest`` [V] is the largest weight of each term.
    """

    starts: Ints
    rows: NDArray[np.int32]
    weights: Doubles
    highest: Doubles
    chunks: int

    @classmethod
    def of(cls, term_ids: TermIds, saturation: Saturation, idf: Doubles | None = None) -> Postings:
        """The postings of all terms; ``idf`` [V] is how rare they are, if not as these passages say."""
        counts = term_ids.counts(None if idf is None else len(idf))
        starts, lengths = counts.indptr.astype(np.int64), term_ids.lengths
        if idf is None:
            idf = rarity(np.diff(starts), len(lengths), saturation.method)
        term = np.repeat(np.arange(len(idf), dtype=np.int32), np.diff(starts))
        weights = np.empty(len(term))
        for begin in range(0, len(term), _POSTINGS):
            part = slice(begin, begin + _POSTINGS)
            frequencies = counts.data[part].astype(np.float64)
            weights[part] = idf[term[part]] * saturation(frequencies, lengths[counts.indices[part]])
        highest, held = np.zeros(len(idf)), np.diff(starts) > 0
        highest[held] = np.maximum.reduceat(weights, starts[:-1][held]) if len(weights) else 0.0
        return cls(starts, counts.indices, weights, highest, len(lengths))

    def best(self, counts: Mapping[int, int], wanted: int) -> tuple[Ints, Doubles]:
        """Chunks [n] in their order, and their scores [n], for terms that are asked for so many times.

        All that are among the best ``wanted`` are there, ties included. Terms that can add most come first;
        once the others cannot lift a chunk among the best, only the contenders are scored (MaxScore, Turtle
        and Flood 1995), by the terms in the order they were asked for.
        """
        counts = {term: times for term, times in counts.items() if self.starts[term] < self.starts[term + 1]}
        left = {term: times * float(self.highest[term]) for term, times in counts.items()}
        earned, floor = np.zeros(self.chunks), 0.0
        for term in sorted(left, key=left.__getitem__, reverse=True):
            rows, weights = self._of(term)
            if len(rows) * _GROUP > self.chunks:
                floor = _floor(earned, wanted) - math.fsum(left.values())
                if floor > 0 and np.count_nonzero(earned > floor) <= _FEW:
                    break
            earned[rows] += counts[term] * weights
            del left[term]
        else:
            floor = _floor(earned, wanted)
        candidates = np.flatnonzero(earned > max(floor, 0.0))
        return candidates, self.scores(counts, candidates)

    def _of(self, term: int) -> tuple[NDArray[np.int32], Doubles]:
        place = slice(self.starts[term], self.starts[term + 1])
        return self.rows[place], self.weights[place]

    def scores(self, counts: Mapping[int, int], candidates: Ints) -> Doubles:
        """The scores of some chunks [n], in their order, for terms that some chunk has."""
        wanted = candidates.astype(self.rows.dtype)
        scores = np.zeros(len(candidates))
        for term, times in counts.items():
            rows, weights = self._of(term)
            place = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
            holds = rows[place] == wanted
            scores[holds] += times * weights[place[holds]]
        return scores


def _floor(scores: Doubles, wanted: int) -> float:
    """A bound that the best ``wanted`` of ``scores`` [N] are above; 0 where only sorting tells.

    Each of the groups with the highest maxima holds a score that is at least the last of these maxima.
    """
    groups = len(scores) // _GROUP
    if not 0 < wanted <= groups:
        return 0.0
    highest = scores[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return float(np.partition(highest, -wanted)[-wanted]) - _APART


def rarity(holding: Ints, count: int, method: AnyMethod) -> Doubles:
    """The inverse document frequency of terms [V] that ``holding`` [V] of ``count`` chunks hold.

    The names are those of Kamphuis et al. (ECIR 2020).
    """
    rarer: Doubles = (count + 1) / holding
    if method == "atire":
        rarer = count / holding
    elif method == "bm25l":
        rarer = (count + 1) / (holding + 0.5)
    elif method in ("lucene", "robertson"):
        odds = (count - holding + 0.5) / (holding + 0.5)
        rarer = 1 + odds if method == "lucene" else np.maximum(odds, 1.0)
    # numpy's logarithm may differ in the last bit
    return np.array([math.log(share) for share in rarer.tolist()], dtype=np.float64)
