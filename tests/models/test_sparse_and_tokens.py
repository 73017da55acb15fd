"""Learned sparse and multi-vector encoders, on tiny random models."""

import json
import shutil

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from harness.models import EmbedConfig, SparseConfig, TokenConfig, unpack
from harness.models.token_encoder import pack
from harness.values import ModelError
from tests.models import tiny

# kinds of models that few use; the library takes seconds to load
pytestmark = pytest.mark.slow

TEXTS = ["How many vehicles fit the yard?", "rain"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="module")
def bi(folder):
    return tiny.bi_encoder(folder / "bi")


@pytest.fixture(scope="module")
def colbert(folder):
    return tiny.colbert(folder / "colbert")


def dense(rows):
    out = np.zeros(200)
    out[rows[0].astype(int)] = rows[1]
    return out


def test_a_sparse_vector_is_the_library_s_own():
    from sentence_transformers import SparseEncoder

    encoder = SparseConfig(model=tiny.a_splade()).make()
    theirs = SparseEncoder(tiny.a_splade()).encode_document(TEXTS, convert_to_tensor=True).to_dense().numpy()
    for rows, vector in zip(encoder.encode(TEXTS), theirs, strict=True):
        assert np.all(np.diff(rows[0]) > 0)
        assert np.count_nonzero(vector) == rows.shape[1]
        assert dense(rows)[: len(vector)] == pytest.approx(vector, abs=1e-5)


def test_the_cap_keeps_the_largest_weights():
    (whole,) = SparseConfig(model=tiny.a_splade()).make().encode(TEXTS[:1])
    (kept,) = SparseConfig(model=tiny.a_splade(), max_active_dims=5).make().encode(TEXTS[:1])
    assert sorted(kept[1]) == pytest.approx(sorted(whole[1])[-5:], abs=1e-6)


def test_the_cap_and_the_role_are_part_of_what_decides_a_sparse_vector():
    configs = [
        SparseConfig(model=tiny.a_splade()),
        SparseConfig(model=tiny.a_splade(), max_active_dims=5),
        SparseConfig(model=tiny.a_splade(), role="query"),
        SparseConfig(model=tiny.a_splade(), dtype="bfloat16"),
    ]
    assert len({config.make().fingerprint for config in configs}) == 4
    assert SparseConfig(model=tiny.a_splade(), batch_tokens=64).make().fingerprint == (
        configs[0].make().fingerprint
    )


def test_a_model_that_is_not_sparse_is_refused(bi):
    with pytest.raises(ModelError, match=r"is not a learned sparse model.*Name a SPLADE model"):
        SparseConfig(model=bi).make().try_out()


def test_a_sparse_model_without_its_head_is_refused(tmp_path):
    folder = tmp_path / "splade"
    shutil.copytree(tiny.a_splade(), folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "transform.dense.weight" not in name}
    assert len(kept) == len(weights) - 1
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="lack cls"):
        SparseConfig(model=str(folder)).make().try_out()


def test_a_matrix_comes_back_as_it_was_kept_to_half_precision():
    matrix = np.random.default_rng(3).normal(size=(7, 48)).astype(np.float32)
    assert unpack(pack(matrix)) == pytest.approx(matrix, rel=1e-3, abs=1e-4)
    assert unpack(pack(matrix[:0])).shape == (0, 48)


def test_a_bi_encoder_gives_its_own_token_embeddings_without_a_projection(bi):
    encoder = TokenConfig(model=bi).make()
    first, second = encoder.numbers(TEXTS)
    assert first.shape == (7, tiny.WIDTH)
    assert second.shape == (1, tiny.WIDTH)
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(7), abs=1e-5)
    assert unpack(encoder.encode(TEXTS)[1]) == pytest.approx(second, abs=1e-3)
    # it knows no roles, so its vectors are kept once
    assert encoder.fingerprint == TokenConfig(model=bi, role="query").make().fingerprint
    assert encoder.fingerprint != EmbedConfig(model=bi).make().fingerprint


@pytest.mark.parametrize("form", ["sentence-transformers", "stanford"])
def test_a_colbert_model_is_encoded_as_its_library_does(form, colbert, tmp_path):
    from sentence_transformers import MultiVectorEncoder

    name = colbert if form == "sentence-transformers" else tiny.stanford_colbert(tmp_path / "stanford")
    theirs = MultiVectorEncoder(name)
    passages, queries = (TokenConfig(model=name, role=role).make() for role in ("passage", "query"))
    assert passages.fingerprint != queries.fingerprint
    for ours, own in (
        (passages.numbers(TEXTS), theirs.encode_document(TEXTS, convert_to_numpy=True)),
        (queries.numbers(TEXTS), theirs.encode_query(TEXTS, convert_to_numpy=True)),
    ):
        for one, other in zip(ours, own, strict=True):
            assert one == pytest.approx(other, abs=1e-5)
    # queries are filled up with marks of their own
    assert [len(matrix) for matrix in queries.numbers(TEXTS)] == [16, 16]
    assert queries.numbers(TEXTS)[0].shape[1] == 32


def test_a_multi_vector_model_without_its_projection_is_refused(colbert, tmp_path):
    untrained = tiny.stanford_colbert(tmp_path / "stanford", projection=False)
    damaged = tmp_path / "damaged"
    shutil.copytree(colbert, damaged)
    (dense,) = [one for one in json.loads((damaged / "modules.json").read_text()) if "Dense" in one["type"]]
    weights = damaged / dense["path"] / "model.safetensors"
    save_file({"other.weight": load_file(weights)["linear.weight"]}, weights)
    # as who trains one begins: a transformer that is called a ColBERT model, and nothing else
    bare = tmp_path / "bare"
    shutil.copytree(colbert, bare)
    modules = [one for one in json.loads((bare / "modules.json").read_text()) if "Dense" not in one["type"]]
    (bare / "modules.json").write_text(json.dumps(modules[:1]))
    (bare / "config_sentence_transformers.json").write_text(json.dumps({"model_type": "ColBERT"}))
    for name in (untrained, damaged, bare):
        with pytest.raises(ModelError, match=r"projection of this multi-vector model is not among"):
            TokenConfig(model=str(name)).make()
