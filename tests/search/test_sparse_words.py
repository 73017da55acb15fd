"""Sparse vectors of words: what FastEmbed's `Qdrant/bm25` makes of the same texts."""

import pytest

from harness.steps import RETRIEVERS, FastEmbedBm25, SparseVector
from harness.values import ConfigError

# of fastembed 0.9.1: SparseTextEmbedding("Qdrant/bm25").embed, its list of stop words that of NLTK
OF_FASTEMBED = {
    "The harbour was built in 1890 by a company of fishermen. It closes at nine.": dict.fromkeys(
        [281464262, 768715436, 1174394471, 1245317193, 1433682754, 1442710396, 1999429279], 1.660867
    ),
    "Ships pay ten crowns a day; boats pay nothing, nothing at all.": {
        **dict.fromkeys([611912694, 1649085962, 1500963499, 520205939, 1248930368], 1.652097),
        **dict.fromkeys([948311561, 695926169], 1.887083),
    },
    "Größe: 12,5 m² — naïve café_menu _ o'clock": dict.fromkeys(
        [5957873, 103616747, 187788677, 472672705, 756638508, 1394226660, 1629776675], 1.660867
    ),
    "世界 hello": dict.fromkeys([1974475094, 613153351], 1.683204),
    "the of and": {},
}


@pytest.mark.parametrize("text", OF_FASTEMBED)
def test_bm25_is_that_of_fastembed(text):
    passage, query = FastEmbedBm25().passage(text), FastEmbedBm25().query(text)
    expected = OF_FASTEMBED[text]
    assert dict(zip(passage.dimensions, passage.weights, strict=True)) == pytest.approx(expected, abs=1e-6)
    assert {*query.dimensions} == {*expected}
    assert {*query.weights} <= {1.0}


def test_words_are_numbered_by_murmur_hash():
    # mmh3.hash("foo") is -156908512 by the documentation of that package
    assert FastEmbedBm25().query("foo").dimensions == (156908512,)


def test_likeness_is_by_weights_or_by_words():
    one, other = SparseVector((1, 2), (3.0, 4.0)), SparseVector((2, 5), (1.0, 0.0))
    assert one.cosine(other) == pytest.approx(0.8)
    assert (one.share_in(other), other.share_in(one)) == (0.5, 0.5)
    assert SparseVector((), ()).cosine(one) == SparseVector((), ()).share_in(one) == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"sparse_vector": "words"}, "only with existing: true"),
        ({"existing": True, "sparse_model": "splade", "language": "french"}, "only Qdrant/bm25 has one"),
        ({"existing": True, "fusion": "sum"}, "rrf"),
    ],
)
def test_keys_that_say_nothing_are_refused(more, words):
    place = {"url": "http://localhost:6333", "collection": "contracts"} if "existing" in more else {}
    with pytest.raises((ConfigError, ValueError), match=words):
        RETRIEVERS["qdrant"].config(**place, **more)
