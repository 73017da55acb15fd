"""Every error that pydantic can raise for a value of a configuration has plain words."""

import contextlib
import typing
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.judge import JUDGES
from harness.running import STEP_KINDS, BenchConfig, load_config
from harness.values import ConfigError, StageConfig, plain_problem
from harness.values.problems import OWN, WORDS

WRONG = ("xx", "", 5.5, -1, 10**6, float("inf"), [], [-1], {}, {1: 2}, {"kind": "x"}, None)


def models_within(annotation):
    """The models of sections in an annotation, and in their keys."""
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models_within(field.annotation)
    for part in typing.get_args(annotation):
        yield from models_within(part)


def test_every_type_of_error_of_every_key_has_words():
    tables = (*STEP_KINDS.values(), JUDGES)
    roots = [BenchConfig, *(kind.config for table in tables for kind in table.values())]
    problems = {}
    for model in dict.fromkeys(model for root in roots for model in models_within(root)):
        # those that only others are made of cannot be made
        for value in WRONG if not getattr(model, "__abstractmethods__", ()) else ():
            with contextlib.suppress(ConfigError, TypeError):
                try:
                    model.model_validate(dict.fromkeys(model.model_fields, value))
                except ValidationError as error:
                    problems |= {problem["type"]: problem for problem in error.errors(include_url=False)}
    # what only a package's own kinds, or settings made in Python, can raise
    assert set(WORDS) - set(problems) == {"too_long", "union_tag_invalid"}
    for kind in set(problems) - OWN:
        assert kind in WORDS
        for hidden in (True, False):
            said = plain_problem(problems[kind], hidden=hidden)
            assert not {"Input", "valid", "tuple", "dictionary", "{", "None"} & set(said.split()), said


FOUND = {
    "chunk: {chunk_size: 5e2}": "chunk.chunk_size: this should be a whole number: write 500 (it is '5e2').",
    "chunk: {chunk_size: 5.5}": (
        "chunk.chunk_size: this should be a whole number, without a fraction (it is 5.5)."
    ),
    "measures: ndcg@10": "measures: this should be a list: write [ndcg@10] (it is 'ndcg@10').",
    "measures: [ndcg_exp@10, 5]": "measures: entry 2 of the list should be text: put it in quotes (it is 5).",
    "measures: []": "measures: the list has 0 entries and should have at least 1 entry.",
    "retrieve: {kind: weighted, routes: [{kind: bm25}, {kind: bm25}], weights: [-1]}": (
        "retrieve.weights: entry 1 of the list should be at least 0 (it is -1)."
    ),
    "latency: {seconds: '1,5'}": "latency.seconds: this should be a number: write 1.5 (it is '1,5').",
    "latency: {own_code: maybe}": (
        "latency.own_code: this should be yes or no: write true or false (it is 'maybe')."
    ),
    "latency: 5": "latency: this should be a section: a mapping of keys to values (it is 5).",
    "on_bad_document: skp": (
        "on_bad_document: this should be 'fail', 'skip' or 'fail_at_end' (did you mean 'skip'?) "
        "(it is 'skp')."
    ),
    # a value is said once
    "chunk: {kind: semantic, chunk_size: 200, min_size: 200}": (
        "chunk.min_size: this should be smaller than chunk_size, which is 200 (it is 200)."
    ),
    "rerank: {kind: cross_encoder, model: 'embedded:maxsim'}": (
        "rerank.model: embedded:maxsim is not a cross-encoder; use rerank: {kind: late_interaction, model: "
        "embedded:maxsim} or name a cross-encoder such as cross-encoder/ms-marco-MiniLM-L-6-v2."
    ),
    "tolerance: 2": "tolerance: this should be less than 1 (it is 2).",
    "queries: [a.csv]": "queries: this should be the path of a file or a folder, not a list.",
    # what may be a secret is not repeated, nor written otherwise
    "retrieve: {kind: http, url: 'http://x', request: {}, headers: {token: 1}}": (
        "retrieve.headers.token: this should be text: put it in quotes."
    ),
}


@pytest.mark.parametrize(("line", "message"), FOUND.items(), ids=list(FOUND))
def test_a_value_of_a_wrong_type_is_answered_with_what_to_write(line, message, tmp_path):
    config = tmp_path / "bench.yaml"
    config.write_text(f"name: x\ndocuments: a/*.txt\nlabels: l.csv\n{line}\n", encoding="utf-8")
    if not line.startswith("queries"):
        with config.open("a", encoding="utf-8") as file:
            file.write("queries: q.csv\n")
    with pytest.raises(ConfigError) as error:
        load_config(Path(config))
    assert str(error.value) == f"{config}:4: {message}"
