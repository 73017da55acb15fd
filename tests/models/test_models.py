"""Where models come from, and what their tokenizers say."""

import json
import shutil

import numpy as np
import pytest

from harness.models import (
    EMBEDDED,
    EmbedConfig,
    ModelTokenizer,
    SentenceEncoder,
    length_sorted_batches,
    resolve,
)
from harness.report import strictly_falling
from harness.steps import rerank
from harness.steps.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer, max_sim
from harness.values import NOT_SCORED, ModelError, Ranking

MINILM = "embedded:all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_damaged_weights_are_refused(monkeypatch):
    package, _, use = EMBEDDED[MINILM]
    monkeypatch.setitem(EMBEDDED, "embedded:damaged", (package, "0" * 64, use))
    with pytest.raises(ModelError, match="damaged or was replaced"):
        resolve("embedded:damaged")


@pytest.mark.parametrize("name", ["embedded:nothing", "no model at all", "./no-such-folder", ""])
def test_an_unknown_name_lists_the_choices(name):
    with pytest.raises(ModelError) as caught:
        resolve(name)
    assert MINILM in str(caught.value)
    assert "hub id" in str(caught.value)


def test_a_local_folder_is_the_same_model_and_a_change_of_it_another(tmp_path):
    source = resolve(MINILM)
    folder = tmp_path / "model"
    shutil.copytree(source.folder, folder)
    assert resolve(str(folder)).fingerprint == source.fingerprint
    assert str(source.folder) not in json.dumps(source.describe())
    changed = tmp_path / "changed"
    shutil.copytree(source.folder, changed)
    (changed / "config.json").write_text('{"other": 1}')
    assert resolve(str(changed)).fingerprint != source.fingerprint


def test_the_tokenizer_gives_offsets_into_the_text_itself():
    tokenizer = ModelTokenizer(resolve(MINILM))
    assert (tokenizer.window, tokenizer.special) == (256, 2)
    text = "Revenue was $ 96,773 million — ﬁscal 2023."
    offsets = tokenizer.offsets([text])[0]
    assert "".join(text[a:b] for a, b in offsets) == text.replace(" ", "")
    assert tokenizer.lengths([text]) == [len(offsets) + 2]


def test_batches_hold_the_budget_and_every_item_once():
    lengths = [5, 300, 7, 7, 120, 1, 90]
    batches = length_sorted_batches(lengths, budget=250)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= 250
    flat = [lengths[i] for batch in batches for i in batch]
    assert flat == sorted(lengths, reverse=True)


def test_max_sim_by_hand():
    # query tokens x and y; passage tokens x and (x+y)/√2: best cosines 1 and 1/√2, mean (1 + 0.7071) / 2
    half = 2**-0.5
    query = np.array([[1, 0], [0, 1]], dtype=np.float32)
    passage = np.array([[1, 0], [half, half]], dtype=np.float32)
    assert max_sim(query, passage) == pytest.approx((1 + half) / 2, abs=1e-6)
    assert max_sim(query, passage[:0]) == -1.0


@pytest.mark.slow
def test_late_interaction_agrees_with_the_model_s_own_token_embeddings():
    scorer = LateInteractionScorer(LateInteractionConfig())
    pairs = [("cars built in 1951", "The plant built 300 cars in 1951."), ("cars", "Rain fell at sea.")]
    encoder = SentenceEncoder(EmbedConfig(model=MINILM))
    encode = encoder.loaded().encode
    for (query, passage), score in zip(pairs, scorer.score(pairs), strict=True):
        # the first and last row belong to the special tokens
        a, b = (encode([text], output_value="token_embeddings")[0][1:-1] for text in (query, passage))
        a, b = a / a.norm(dim=1, keepdim=True), b / b.norm(dim=1, keepdim=True)
        assert score == pytest.approx(float((a @ b.T).max(1).values.mean()), abs=1e-5)
    assert scorer.score(pairs)[0] > scorer.score(pairs)[1]


def test_late_interaction_encodes_a_passage_once_for_all_its_queries():
    scorer = LateInteractionScorer(LateInteractionConfig(batch_tokens=64))
    pairs = [(f"query {q}", f"{'word ' * p} end") for q in range(5) for p in (1, 30, 60)]
    batches = scorer.batches(pairs)
    assert sorted(i for batch in batches for i in batch) == list(range(len(pairs)))
    assert [{pairs[i][1] for i in batch} for batch in batches] == [{pairs[n][1]} for n in (2, 1, 0)]


def test_reranking_keeps_the_retriever_s_order_among_ties_and_below_what_is_scored():
    ranking = Ranking("q", ("a", "b", "c", "d", "e"), (4.0, 3.0, 2.0, 1.0, 0.5))
    reranked = rerank(ranking, [0.5, 0.5, 0.9])
    assert reranked.chunk_ids == ("c", "a", "b", "d", "e")
    assert reranked.scores == (0.9, 0.5, 0.5, NOT_SCORED, NOT_SCORED)
    assert strictly_falling(reranked.scores)[:2] == [pytest.approx(0.9), pytest.approx(0.5)]


def test_what_is_computed_otherwise_is_cached_apart():
    known = {
        SentenceEncoder(EmbedConfig(model=MINILM, backend=backend, dtype=dtype)).fingerprint
        for backend in ("torch", "openvino")
        for dtype in ("float32", "bfloat16")
    }
    known.add(SentenceEncoder(EmbedConfig(model=MINILM, dtype="float16")).fingerprint)
    assert len(known) == 5
    assert SentenceEncoder(EmbedConfig(model=MINILM)).fingerprint == resolve(MINILM).fingerprint
    scorers = [LateInteractionScorer(LateInteractionConfig(dtype=dtype)) for dtype in ("float32", "bfloat16")]
    assert scorers[0].fingerprint != scorers[1].fingerprint


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.mark.slow
def test_half_precision_is_close():
    texts = ["Total revenues rose to 96,773.", "The plant in Lyon was closed.", ""]
    full = SentenceEncoder(EmbedConfig(model=MINILM))
    alone = np.concatenate([full.encode([text]) for text in texts])
    np.testing.assert_allclose(full.encode(texts), alone, atol=1e-5)
    half = SentenceEncoder(EmbedConfig(model=MINILM, dtype="bfloat16"))
    got = half.encode(texts)
    assert got.dtype == np.float32
    near = cosines(full.encode(texts), got)
    assert near.min() > 0.999
    assert near.max() < 1 - 1e-7  # it did compute in fewer digits
    pairs = [("revenue in 2023", "Total revenues rose to 96,773."), ("which plant", "A plant in Lyon.")]
    full = LateInteractionScorer(LateInteractionConfig())
    half = LateInteractionScorer(LateInteractionConfig(dtype="bfloat16"))
    np.testing.assert_allclose(half.score(pairs), full.score(pairs), atol=0.02)
