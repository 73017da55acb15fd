"""Configuration files: what is read, what is refused, and that the message says file, line and remedy."""

import textwrap
from pathlib import Path

import pytest

from harness.running.config.load import load_config
from harness.values.errors import ConfigError

GOOD = """
name: demo
documents: docs/*.pdf
queries: queries.csv
labels: labels.csv
"""


@pytest.fixture
def write(tmp_path):
    def write(text, base=GOOD):
        path = tmp_path / "bench.yaml"
        path.write_text(base + textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def names(config):
    return [setting.name for setting in config.settings]


def test_defaults_are_the_real_study_s(write):
    config = load_config(write(""))
    assert names(config) == ["base"]
    setting = config.settings[0]
    assert setting.chunk.kind == "recursive_token"
    assert setting.retrieve.model == "sentence-transformers/all-MiniLM-L6-v2"
    assert setting.retrieve.kind == "chroma"
    assert setting.rerank == ()
    assert setting.rewrite is None
    assert setting.tokenizer == setting.retrieve.model
    assert config.documents == ("docs/*.pdf",)
    stated = load_config(write("tokenizer: org/one\nretrieve: {model: [org/two, org/three]}"))
    assert {s.tokenizer for s in stated.settings} == {"org/one"}


SWEEPS = {
    "the product of the lists, and only what varies is named": (
        """
        chunk: {chunk_size: [500, 1000], chunk_overlap: 0, tokens_per_chunk: [128, 256]}
        retrieve: {top_k: 20}
        rerank: {kind: late_interaction, top_n: 10}
        """,
        [f"chunk={size}/0 tokens={tokens}" for size in (500, 1000) for tokens in (128, 256)],
    ),
    "a list of mappings compares kinds": (
        """
        chunk:
          - {kind: recursive, chunk_size: [500, 1000]}
          - {kind: page}
        rerank: [null, {kind: late_interaction}]
        """,
        [
            f"{chunk}{rerank}"
            for chunk in ("recursive chunk=500/0", "recursive chunk=1000/0", "page")
            for rerank in ("", " late_interaction")
        ],
    ),
    "models are named by their last part": (
        'retrieve: {model: ["embedded:all-MiniLM-L6-v2", "org/e5-small"]}',
        ["embed=all-MiniLM-L6-v2", "embed=e5-small"],
    ),
    "a list of lists sweeps over routes": (
        """
        retrieve:
          - {kind: chroma, model: org/one}
          - kind: rrf
            routes:
              - [{kind: chroma, model: org/one}, {kind: chroma, model: org/two}]
              - [{model: org/one}, {kind: rrf, routes: [{model: org/two}, {model: org/three}]}]
        """,
        ["chroma", "rrf(chroma+chroma)", "rrf(chroma+rrf)"],
    ),
    "rerankers may follow one another": (
        """
        retrieve: {top_k: 50}
        rerank:
          - null
          - {kind: late_interaction}
          - [{kind: late_interaction}, {kind: cross_encoder, top_n: [5, 10]}]
        """,
        [
            "rerank=none",
            "late_interaction",
            *(f"late_interaction cross_encoder top_n={n}" for n in (5, 10)),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SWEEPS.values(), ids=SWEEPS)
def test_what_a_sweep_holds_and_how_it_is_named(write, text, expected):
    config = load_config(write(text))
    assert names(config) == expected
    # the tokenizer is that of the first model, unless models are what varies
    assert len({s.tokenizer for s in config.settings}) == (2 if "embed=" in expected[0] else 1)


def test_settings_can_be_listed_instead_of_a_product(write):
    config = load_config(
        write(
            """
            chunk: {kind: recursive_token, chunk_size: 1000}
            rerank: {kind: late_interaction}
            settings:
              - {}
              - {rerank: null}
              - {chunk: {kind: token, tokens_per_chunk: [128, 256]}, rerank: null}
            """
        )
    )
    assert [(s.chunk.kind, s.rerank == ()) for s in config.settings] == [
        ("recursive_token", False),
        ("recursive_token", True),
        ("token", True),
        ("token", True),
    ]
    assert len(set(names(config))) == 4
    assert [s.chunk.tokens_per_chunk for s in config.settings[2:]] == [128, 256]


def test_a_field_that_is_a_list_is_swept_by_a_list_of_lists(write):
    one = load_config(write('chunk: {kind: recursive, separators: ["\\n", ""]}'))
    assert one.settings[0].chunk.separators == ("\n", "")
    two = load_config(write('chunk: {kind: recursive, separators: [["\\n", ""], [" ", ""]]}'))
    assert [s.chunk.separators for s in two.settings] == [("\n", ""), (" ", "")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("mesures: [ndcg_exp@10]", 6, ["mesures", "did you mean measures?"]),
        ("chunk: {chunk_sise: 500}", 6, ["chunk.chunk_sise", "did you mean chunk_size?"]),
        ("chunk: {chunk_size: [500, many]}", 6, ["chunk.chunk_size", "'many'"]),
        ("retrieve: {kind: bm25, top_k: yes}", 6, ["retrieve.top_k", "a number, not yes or no"]),
        ("chunk: {chunk_size: [yes, 500]}", 6, ["chunk.chunk_size", "a number, not yes or no"]),
        ("bootstrap: {level: no}", 6, ["bootstrap.level", "a number, not yes or no"]),
        ("results: ''", 6, ["results: this path is empty"]),
        ("cache: ' '", 6, ["cache: this path is empty"]),
        ('tokenizer: "a\\0b"', 6, ["tokenizer", "NUL"]),
        ("chunk: {chunk_size: []}", 6, ["list is empty"]),
        (
            "chunk: {chunk_size: [100, 500], chunk_overlap: 200}",
            6,
            ["chunk.chunk_overlap", "size (100)"],
        ),
        ("chunk: 500", 6, ["must be a mapping", "recursive_token"]),
        ("rerank: {kind: cross_encoder, model: 'embedded:maxsim'}", 6, ["late_interaction"]),
        ("measures: [map, map]", 6, ["twice"]),
        (
            "measures: [judged@10, rbp_residual]",
            6,
            ["how much was judged", "add a measure of quality"],
        ),
        ("measures: [ndcg_exp_upper@10]", 6, ["ndcg_exp_upper@10 is a bound"]),
        ("split: {validation: 2}", 6, ["split.validation"]),
        ("relevance: {judge: graph}", 6, ["no kind 'graph' any more", "Use `labels`, or `llm`"]),
        ("rewrite: {kind: entities}", 6, ["no kind 'entities' any more", "`llm`", "prompt", "`filter`"]),
        ("rerank: {kind: llm_entities}", 6, ["no kind 'llm_entities' any more", "Use `cross_encoder`"]),
        ("relevance: {depth: 3}", 6, ["relevance.depth", "no such key"]),
        ("relevance: {samples: 3}", 6, ["relevance.samples", "judge: llm"]),
        ("relevance:\n  judge: llm\n  endpoint:\n    modle: m", 9, ["did you mean model?"]),
        (
            "relevance:\n  judge: llm\n  endpoint: {model: m}\n  batch: true",
            9,
            ["relevance.batch", "omit this key", "endpoint.max_concurrency", "max_cost"],
        ),
        ("relevance: {judge: labels, file: l.jsonl}", 6, ["relevance.file", "name it there"]),
        ("parse: {kind: pdfminer}", 6, ["pypdf", "pypdfium2"]),
        ("parser: {kind: pypdfium2}", 6, ["such as parse: {kind: pypdfium2}"]),
        ("retrieve: {kind: rrf, routes: [{kind: bm25, feedback: null}]}", 6, ["feedback", "`minmax`"]),
        (
            "parse: [{kind: pypdf}, {kind: pypdfium2}]\nrelevance: {judge: llm, endpoint: {model: m}}",
            1,
            ["several parsers can be compared only by human labels"],
        ),
        (
            "rewrite:\n  kind: llm\n  endpoint: {model: m}\n  prompt: mine.yaml",
            9,
            [
                "rewrite.prompt: The prompt 'mine.yaml' of a rewriter of this kind cannot be read",
                "Built in: declarative",
            ],
        ),
        (
            "filter: {kind: llm, file: d.csv, fields: [company], endpoint: {model: m}, prompt: [1]}",
            6,
            ["filter.prompt: must be the name of a prompt"],
        ),
        ("settings: {chunk: {}}", 6, ["list of mappings"]),
        ("settings: \n  - {}\n  - {chunk: {chunk_sise: 3}}", 8, ["chunk_size"]),
        ("settings: \n  - {rerank: null}\n  - {}", 1, ["the same"]),
        ("settings: \n  - {}\n  - {rerank: {kind: late_interaction, top_n: 500}}", 8, ["top_k"]),
        (
            "settings:\n  - {}\n  - {embed: {model: org/one}}",
            8,
            ["such as retrieve: {kind: chroma, model: …}"],
        ),
        ("retrieve: {kind: rrf}", 6, ["routes: this key is missing"]),
        ("retrieve: {kind: rrf, routes: {kind: chroma}}", 6, ["must be a list of mappings"]),
        ("retrieve: {kind: rrf, routes: [{kind: chroma, top_j: 4}]}", 6, ["did you mean top_k?"]),
        ("retrieve: {kind: rrf, weights: [1], routes: [{}, {}]}", 6, ["1 number for 2 routes"]),
        ("retrieve: {kind: rrf, weights: [0, 0], routes: [{}, {}]}", 6, ["not all 0"]),
        ("rewrite: {kind: template, template: all}", 6, ["must hold {query}"]),
    ],
)
def test_a_mistake_is_reported_with_line_and_remedy(write, text, line, words):
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    message = str(caught.value)
    assert f"bench.yaml:{line}:" in message or line == 1
    for word in words:
        assert word in message


def test_a_missing_key_is_named(write):
    with pytest.raises(ConfigError, match=r"labels: this key is missing"):
        load_config(write("", base=GOOD.replace("labels: labels.csv\n", "")))


def test_a_judge_s_keys_are_next_to_those_of_relevance(write):
    text = "relevance: {judge: llm, rule: any_overlap, endpoint: {model: m}, pool: {unit: passage}}"
    relevance = load_config(write(text, base=GOOD.replace("labels: labels.csv\n", ""))).relevance
    assert relevance.rule == "any_overlap"
    assert relevance.judge.kind == "llm"
    assert relevance.judge.pool.unit == "passage"
    assert load_config(write("relevance: {judge: labels}")).relevance.judge.kind == "labels"


@pytest.mark.parametrize("judge", ["llm", "panel"])
def test_a_prompt_of_a_judge_that_cannot_be_read_is_reported_at_its_line(write, judge):
    endpoint, prompt = "endpoint: {model: m}", "prompt: pointwize"
    keys = [endpoint, "samples: 1", prompt]
    if judge == "panel":
        keys = ["members:", *(f"  {line}" for line in ["- " + keys[0], *("  " + one for one in keys[1:])])]
        keys += [f"  - {endpoint}"]
    text = "\n  ".join(["relevance:", f"judge: {judge}", *keys])
    line = 6 + text[: text.index("pointwize")].count("\n")
    with pytest.raises(ConfigError, match=rf"bench\.yaml:{line}: relevance\.\S*prompt: .*pointwise_zh"):
        load_config(write(text))


HTTP = "retrieve: {kind: http, url: 'http://127.0.0.1:9', version: '1'"


@pytest.mark.parametrize(
    "section",
    [
        *(
            f"relevance:\n  judge: llm\n  endpoint: {{model: m, {field}}}"
            for field in (
                "api_key_env: sk-secret",
                "api_key: sk-secret",
                "base_url: 'sk-secret'",
                "headers: sk-secret",
                "extra_body: [sk-secret]",
            )
        ),
        f"{HTTP}, request: {{token: sk-secret}}}}",
        f"{HTTP}, headers: {{X-Odd: {{a: sk-secret}}}}}}",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_shown(write, section):
    with pytest.raises(ConfigError, match=r"bench\.yaml:\d+: ") as caught:
        load_config(write(section))
    assert "sk-secret" not in str(caught.value)


def test_a_missing_file_names_its_neighbours_and_the_folder_of_configurations(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("")
    (tmp_path / "configs").mkdir()
    for name in ("other.yaml", ".hidden.yaml"):
        (tmp_path / "configs" / name).write_text("")
    (tmp_path / ".pre-commit-config.yaml").write_text("")
    with pytest.raises(ConfigError) as error:
        load_config(Path("bnch.yaml"))
    assert str(error.value).endswith("bnch.yaml. This folder holds: bench.yaml. configs holds: other.yaml.")
    with pytest.raises(ConfigError, match=r"configs is a folder.* It holds: other\.yaml\."):
        load_config(Path("configs"))


def test_a_null_is_a_missing_value_and_a_long_list_is_not_repeated(write):
    with pytest.raises(ConfigError, match=r"bench\.yaml:2: name: its value is missing"):
        load_config(write("", GOOD.replace("name: demo", "name: null")))
    with pytest.raises(ConfigError) as error:
        load_config(write("measures: [ndgc_exp@10]"))
    assert "Did you mean ndcg_exp" in str(error.value)
    assert str(error.value).count("ndgc_exp@10") == 1


def test_the_name_cannot_leave_the_results_folder(write):
    with pytest.raises(ConfigError, match=r"name: it may not be written so; .* describes this key .*demo"):
        load_config(write("", base=GOOD.replace("demo", "../demo")))


ROUTES = """
retrieve:
  kind: rrf
  top_k: 30
  routes:
    - {kind: chroma, model: org/one, top_k: [10, 20]}
    - {kind: chroma, model: org/two, query_prefix: "query: "}
"""


def test_a_fusion_holds_its_routes_and_lists_within_them_are_sweeps(write):
    config = load_config(write(ROUTES))
    assert [s.retrieve.kind for s in config.settings] == ["rrf", "rrf"]
    assert [[r.top_k for r in s.retrieve.routes] for s in config.settings] == [[10, 20], [20, 20]]
    assert names(config) == ["rrf(chroma,top_k=10+chroma)", "rrf(chroma,top_k=20+chroma)"]
    assert [e.model for e in config.settings[0].retrieve.encoders()] == ["org/one", "org/two"]
    assert config.settings[0].tokenizer == "org/one"
    again = type(config.settings[0]).model_validate(dict(config.settings[0]))
    assert again == config.settings[0]
    dumped = config.settings[0].model_dump(mode="json")["retrieve"]["routes"]
    assert [route["model"] for route in dumped] == ["org/one", "org/two"]
