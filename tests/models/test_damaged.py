"""A model that is damaged, incomplete or of another kind is refused by name, and never computes a number."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from harness.models import EmbedConfig, SentenceEncoder, resolve
from harness.models.model_files import check_hub_file
from harness.steps import RERANKERS, CrossEncoderConfig
from harness.values import ModelError

CrossEncoderScorer = RERANKERS["cross_encoder"].make

WEIGHTS = "model.safetensors"


@pytest.fixture
def model(tmp_path):
    """A copy of the embedded model; files are links until they are written anew."""
    source = resolve("embedded:all-MiniLM-L6-v2").folder
    for path in source.rglob("*"):
        if path.is_file():
            target = tmp_path / "model" / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    return tmp_path / "model"


def rewrite(path, content):
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def header(length, text=b""):
    return length.to_bytes(8, "little") + text


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b""),
        ("modules.json", b"[{"),
        ("1_Pooling/config.json", b"\0" * 100),
        ("sentence_bert_config.json", b"{'a': 1}"),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b'{"version": "1.0"'),
        (WEIGHTS, b""),
        (WEIGHTS, b"\xff" * 4096),
        (WEIGHTS, header(2, b"{}")),
        (WEIGHTS, header(2, b"[]")),
        (WEIGHTS, header(17, b'{"a": {"b": "c"}}')),
        (WEIGHTS, b"version https://git-lfs.github.com/spec/v1\n"),
    ],
)
def test_a_damaged_file_is_named_before_anything_is_loaded(model, file, content):
    rewrite(model / file, content)
    with pytest.raises(ModelError, match=rf"{file.replace('.', '[.]')} is damaged"):
        SentenceEncoder(EmbedConfig(model=str(model)))


def test_weights_that_were_cut_short_are_found(model):
    whole = (model / WEIGHTS).read_bytes()
    rewrite(model / WEIGHTS, whole[:-1])
    with pytest.raises(ModelError, match=rf"{WEIGHTS} is damaged"):
        resolve(str(model))


LAYER = "layer.3.attention.self.query.weight"


def weights(change):
    """Other weights: ``change`` gives the matrices anew by name and matrix, None to leave one out."""

    def damage(model):
        tensors = load_file(model / WEIGHTS)
        rewrite(model / WEIGHTS, b"")
        changed = {name: change(name, tensor) for name, tensor in tensors.items()}
        save_file({name: tensor for name, tensor in changed.items() if tensor is not None}, model / WEIGHTS)

    return damage


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            weights(lambda name, tensor: None if name.endswith(LAYER) else tensor),
            r"lack .*layer\.3\.attention\.self\.query.* random numbers would be used",
        ),
        (
            weights(lambda name, tensor: tensor[:-1].copy() if name.endswith(LAYER) else tensor),
            r"layer\.3\.attention\.self\.query|cannot be loaded",
        ),
        (
            weights(lambda name, tensor: np.full_like(tensor, np.nan) if tensor.ndim == 2 else tensor),
            "not finite numbers",
        ),
        (lambda model: rewrite(model / "config.json", b"{}"), "cannot be loaded"),
        (lambda model: (model / "1_Pooling" / "config.json").unlink(), "cannot be loaded"),
    ],
)
def test_what_shows_only_when_it_is_loaded_is_found_by_trying(model, damage, message):
    damage(model)
    encoder = SentenceEncoder(EmbedConfig(model=str(model)))
    with pytest.raises(ModelError, match=message):
        encoder.try_out()


@pytest.mark.slow
def test_a_device_that_is_not_there_is_no_damage(model):
    for device in ("nonsense", "cuda"):
        with pytest.raises(ModelError, match=r"cannot be loaded .*its `device` there.*name another device"):
            SentenceEncoder(EmbedConfig(model=str(model), device=device)).try_out()


@pytest.mark.slow
def test_a_bi_encoder_is_no_cross_encoder(model):
    scorer = CrossEncoderScorer(CrossEncoderConfig(model=str(model)))
    with pytest.raises(ModelError, match="lack classifier"):
        scorer.try_out()


def test_files_of_the_hub_are_held_against_their_names(tmp_path):
    content = json.dumps({"a": 1}).encode()
    sha256 = hashlib.sha256(content).hexdigest()
    git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    for name in (sha256, git):
        (tmp_path / name).write_bytes(content)
        link = tmp_path / f"{name[:8]}.json"
        link.symlink_to(tmp_path / name)
        check_hub_file("m", link, sha256)
        (tmp_path / name).write_bytes(content + b" ")
        with pytest.raises(ModelError, match="differs from the fetched file"):
            check_hub_file("m", link, hashlib.sha256(content + b" ").hexdigest())
