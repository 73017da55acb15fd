"""Tiny random models of each architecture compute as their library does, or are refused with a remedy."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.models import EmbedConfig
from harness.running import Session, load_config
from harness.running.readiness import warn_of_prefixes
from harness.steps import RERANKERS, CrossEncoderConfig
from harness.values import ModelError, Silent
from tests.models import tiny

CrossEncoderScorer = RERANKERS["cross_encoder"].make

TEXTS = ["how many vehicles", "the yard was paved with recycled asphalt in 2024", "rain"]
PAIRS = [(one, other) for one in TEXTS[:2] for other in TEXTS]
# longer than any window here
LONG = "word " * 200
ENCODERS = {
    "BERT": tiny.bi_encoder,
    "XLM-R, mean pooling": lambda folder: tiny.random_model(folder / "x", "XLMRoberta", "Model"),
    "Qwen, last token": lambda folder: tiny.last_token(
        folder / "last", tiny.random_model(folder / "q", "Qwen3", "Model")
    ),
}
RERANKERS = {
    "BERT": lambda folder: tiny.cross_encoder(folder / "b"),
    "XLM-R": lambda folder: tiny.random_model(
        folder / "x", "XLMRoberta", "ForSequenceClassification", num_labels=1
    ),
    "Qwen, one score": lambda folder: tiny.random_model(
        folder / "s", "Qwen3", "ForSequenceClassification", num_labels=1
    ),
    "Qwen, yes or no": lambda folder: tiny.random_model(folder / "y", "Qwen3", "ForCausalLM"),
}


def embedder(name):
    made = EmbedConfig(model=str(name)).make()
    made.try_out()
    return made


def scorer(name):
    made = CrossEncoderScorer(CrossEncoderConfig(model=str(name)))
    made.try_out()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ENCODERS)
def test_vectors_are_those_of_the_library_in_any_batch(architecture, tmp_path):
    from sentence_transformers import SentenceTransformer

    name = ENCODERS[architecture](tmp_path)
    encoder = embedder(name)
    found = encoder.encode([*TEXTS, LONG])
    alone = np.vstack([encoder.encode([text]) for text in (*TEXTS, LONG)])
    np.testing.assert_allclose(found, alone, atol=1e-5)
    library = SentenceTransformer(name, local_files_only=True).encode([*TEXTS, LONG])
    np.testing.assert_allclose(found, library, atol=1e-5)
    assert len({tuple(row) for row in found.round(4).tolist()}) == 4


@pytest.mark.slow
@pytest.mark.parametrize("architecture", RERANKERS)
def test_scores_are_those_of_the_library_in_any_batch(architecture, tmp_path):
    from sentence_transformers import CrossEncoder

    name = RERANKERS[architecture](tmp_path)
    reranker = scorer(name)
    found = reranker.score(PAIRS)
    np.testing.assert_allclose(found, [reranker.score([pair])[0] for pair in PAIRS], atol=1e-5)
    np.testing.assert_allclose(found, CrossEncoder(name, local_files_only=True).predict(PAIRS), atol=1e-5)


def test_the_score_of_a_yes_no_reranker_is_the_difference_of_two_logits(tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name = RERANKERS["Qwen, yes or no"](tmp_path)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(name).eval(), AutoTokenizer.from_pretrained(name)
    with torch.inference_mode():
        logits = model(**tokenizer(*PAIRS[1], return_tensors="pt")).logits[0, -1]
    yes, no = tokenizer.convert_tokens_to_ids(["yes", "no"])
    # the library takes the sigmoid where a model names no other activation
    expected = 1 / (1 + np.exp(-float(logits[yes] - logits[no])))
    assert scorer(name).score(PAIRS[1:2])[0] == pytest.approx(expected, abs=1e-5)


def test_positions_behind_the_padding_token_are_the_window_where_nothing_else_is_stated(tmp_path):
    name = tiny.random_model(tmp_path / "x", "XLMRoberta", "Model", limit=None)
    encoder = embedder(name)
    # 66 positions, of which the padding token and those before it (it is the first) are not used
    assert encoder.tokenizer.window == 66 - 1
    assert np.isfinite(encoder.encode([LONG])).all()


def edit(folder, file, **changes):
    content = json.loads((folder / file).read_text()) | changes
    kept = {key: value for key, value in content.items() if value is not None}
    (folder / file).write_text(json.dumps(kept))
    return folder


def without_padding(folder):
    made = Path(ENCODERS["Qwen, last token"](folder))
    edit(made, "config.json", pad_token_id=None)
    return edit(made, "tokenizer_config.json", pad_token=None)


def with_a_wrong_layer(folder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

    made = SentenceTransformer(tiny.bi_encoder(folder))
    SentenceTransformer(modules=[*made, Dense(tiny.WIDTH + 1, 8)]).save_pretrained(str(folder / "wrong"))
    return folder / "wrong"


def with_own_code(folder):
    auto = {"AutoConfig": "configuration_x.XConfig", "AutoModel": "modeling_x.XModel"}
    return edit(Path(tiny.bi_encoder(folder)), "config.json", auto_map=auto, model_type="x")


def with_an_own_module(folder):
    made = Path(tiny.bi_encoder(folder))
    modules = json.loads((made / "modules.json").read_text())
    modules[0]["type"] = "custom_st.Transformer"
    (made / "modules.json").write_text(json.dumps(modules))
    return made


def a_bi_encoder(change):
    """A function that makes a bi-encoder whose folder is changed."""

    def make(folder):
        made = Path(tiny.bi_encoder(folder))
        change(made)
        return made

    return make


def random_model(*given, **options):
    """A function that makes one."""
    return lambda folder: tiny.random_model(folder / "c", *given, **options)


of_an_unknown_type = a_bi_encoder(lambda made: edit(made, "config.json", model_type="brandnew"))
without_a_tokenizer = a_bi_encoder(lambda made: (made / "tokenizer.json").unlink())
a_bare_decoder = random_model("Qwen3", "Model")
classifier = random_model("XLMRoberta", "ForSequenceClassification", num_labels=3)
unpadded_reranker = random_model("Qwen3", "ForCausalLM", pad=None)
without_yes_and_no = random_model("Qwen3", "ForCausalLM", more=())


@pytest.mark.parametrize(
    ("use", "model", "remedy"),
    [
        (embedder, without_padding, "no padding token.*tokenizer.pad_token = tokenizer.eos_token"),
        (embedder, with_a_wrong_layer, "was loaded but cannot compute .*dimensions"),
        (embedder, with_own_code, "brings its own Python code, which is never run here"),
        (embedder, with_an_own_module, "brings its own Python code, which is never run here"),
        (embedder, of_an_unknown_type, "cannot be loaded .*brandnew.*version of Transformers is out of date"),
        (embedder, without_a_tokenizer, r"no tokenizer\.json .*save_pretrained"),
        (embedder, a_bare_decoder, "how its tokens become one vector .*lasttoken"),
        (scorer, classifier, "gives 3 scores for a pair, .*Name a model for relevance"),
        (scorer, unpadded_reranker, "no padding token"),
        (scorer, without_yes_and_no, "tokens `yes` and `no`, but its tokenizer has neither"),
        (scorer, a_bare_decoder, r"lack score\.weight; random numbers"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(use, model, remedy, tmp_path):
    with pytest.raises(ModelError, match=remedy):
        use(model(tmp_path))


def test_code_that_a_known_architecture_does_not_need_is_not_run(tmp_path):
    made = Path(tiny.bi_encoder(tmp_path))
    (made / "modeling_x.py").write_text("raise SystemExit('this must not run')")
    before = embedder(made).encode(TEXTS)
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    edit(copy, "config.json", auto_map={"AutoModel": "modeling_x.XModel"})
    np.testing.assert_array_equal(embedder(copy).encode(TEXTS), before)


def test_prefixes_that_a_model_was_trained_with_and_a_retriever_leaves_out(write_config, tmp_path):
    name = tiny.last_token(
        tmp_path / "p",
        tiny.random_model(tmp_path / "q", "Qwen3", "Model"),
        prompts={"query": "Instruct: find\nQuery: ", "document": ""},
    )
    for keys, warned in (("", True), (", query_prefix: 'q: '", False)):
        config = load_config(write_config(retrieve=f"{{kind: exact, model: '{name}'{keys}}}"))
        with Session.at(tmp_path / "cache", Silent()) as session:
            warn_of_prefixes(config.settings, session.models, session.notes)
        texts = [one.text for one in session.notes.warnings]
        assert len(texts) == warned
        assert not warned or 'was trained with `query_prefix: "Instruct: find\\nQuery: "`' in texts[0]
