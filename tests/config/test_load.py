"""Configuration files: what is read, what is refused, and that the message says file, line and remedy."""

import json
import re
import textwrap
import traceback
from pathlib import Path

import pytest

from harness.running import STEP_KINDS, load_config
from harness.values import ConfigError, Section, folder_name, unlike_a_name
from tests.bad_files.test_bad_files import REMEDY
from tests.command import write_files

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


# what is added to a good file, by the line that is at fault; it is 1 where two parts do not fit together
MISTAKES = {
    6: [
        "mesures: [ndcg_exp@10]",
        "chunk: {chunk_sise: 500}",
        "chunk: {chunk_size: [500, many]}",
        "retrieve: {kind: bm25, top_k: yes}",
        "chunk: {chunk_size: [yes, 500]}",
        "bootstrap: {level: no}",
        "results: ''",
        "cache: ' '",
        'tokenizer: "a\\0b"',
        "chunk: {chunk_size: []}",
        "chunk: {chunk_size: [100, 500], chunk_overlap: 200}",
        "chunk: 500",
        "rerank: {kind: cross_encoder, model: 'embedded:maxsim'}",
        "measures: [map, map]",
        "measures: [ndgc_exp@10]",
        "measures: [judged@10, rbp_residual]",
        "measures: [ndcg_exp_upper@10]",
        "split: {validation: 2}",
        "relevance: {judge: reranker}",
        "rewrite: {kind: entities}",
        "rerank: {kind: llm_entities}",
        "relevance: {depth: 3}",
        "relevance: {samples: 3}",
        "relevance: {judge: labels, file: l.jsonl}",
        "parse: {kind: pdfminer}",
        "parser: {kind: pypdfium2}",
        "retrieve: {kind: rrf, routes: [{kind: bm25, feedback: null}]}",
        "filter: {kind: llm, file: d.csv, fields: [company], endpoint: {model: m}, prompt: [1]}",
        "settings: {chunk: {}}",
        "retrieve: {kind: rrf}",
        "retrieve: {kind: rrf, routes: {kind: chroma}}",
        "retrieve: {kind: rrf, routes: [{kind: chroma, top_j: 4}]}",
        "retrieve: {kind: rrf, weights: [1], routes: [{}, {}]}",
        "retrieve: {kind: rrf, weights: [0, 0], routes: [{}, {}]}",
        "rewrite: {kind: template, template: all}",
        "chunk: {kind: token, tokens_per_chunk: 8, token_overlap: 8}",
        "chunk: {kind: sentence, chunk_overlap: 1}",
        "chunk: {kind: agentic}",
        "chunk: {kind: semantic, chunk_size: 100}",
        "chunk: {kind: langchain, splitter: LatexTextSplitter, language: latex}",
        "chunk: {kind: langchain, splitter: os.system}",
        "context: {kind: fields, file: documents.csv, template: company}",
        "retrieve: {kind: bm25, user_dictionary: words.txt}",
        "retrieve: {kind: bm25, analyser: plain, stop_words: short}",
        "retrieve: {kind: exact, model: a/b, endpoint: {model: m}}",
        "retrieve: {kind: faiss, index: hnsw, nlist: 16}",
        "rerank: {kind: llm, endpoint: {model: m}, by: listwise, score: logprob}",
        "rerank: {kind: llm, endpoint: {model: m}, score: logprob}",
        "rerank: {kind: llm, endpoint: {model: m, top_logprobs: 5, max_tokens: 1}, score: logprob}",
        "rerank: {kind: llm, endpoint: {model: m}, by: setwise, window: 10}",
        "rerank: {kind: llm, endpoint: {model: m}, by: listwise, stride: 21}",
        "rerank: {kind: llm, endpoint: {model: m}, by: setwise, prompt: order}",
        "relevance: {judge: llm, endpoint: {model: m, max_tokens: 300, max_completion_tokens: 400}}",
        "relevance: {judge: llm, endpoint: {model: m, max_tokens_field: max_completion_tokens}}",
        "relevance: {judge: llm, endpoint: {model: m, extra_body: {temperature: 1}}}",
        "relevance: {judge: llm, endpoint: {model: m, extra_body: {n: 3}}}",
        "relevance: {judge: llm, endpoint: {model: m, extra_body: {stream: true}}}",
        "relevance: {judge: llm, endpoint: {model: m, extra_body: {x: .nan}}}",
        "relevance: {judge: llm, endpoint: {model: m, timeout: 10, deadline: 5}}",
        "relevance: {judge: llm, endpoint: {model: m, temperature: 3}}",
    ],
    8: [
        "settings: \n  - {}\n  - {chunk: {chunk_sise: 3}}",
        "settings: \n  - {}\n  - {rerank: {kind: late_interaction, top_n: 500}}",
        "settings:\n  - {}\n  - {embed: {model: org/one}}",
    ],
    9: [
        "relevance:\n  judge: llm\n  endpoint:\n    modle: m",
        "relevance:\n  judge: llm\n  endpoint: {model: m}\n  batch: true",
        "rewrite:\n  kind: llm\n  endpoint: {model: m}\n  prompt: mine.yaml",
        "relevance:\n  judge: llm\n  endpoint: {model: m}\n  prompt: pointwize",
        "relevance:\n judge: panel\n members:\n - {prompt: a, endpoint: {model: a}}\n - endpoint: {model: b}",
    ],
    1: [
        "parse: [{kind: pypdf}, {kind: pypdfium2}]\nrelevance: {judge: llm, endpoint: {model: m}}",
    ],
}


@pytest.mark.parametrize(
    ("line", "text"), [(line, text) for line, texts in MISTAKES.items() for text in texts]
)
def test_a_mistake_is_reported_with_line_and_remedy(write, text, line):
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    message = str(caught.value)
    section = "settings" if text.startswith("settings") else text.partition(":")[0]
    assert re.search(rf"bench\.yaml:{line}: .*{section}", message), message
    assert REMEDY.search(message) or re.search("must hold|omit|name it there|: (set|use|list) ", message), (
        message
    )


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("检索_二〇二五.v1", "检索_二〇二五.v1"),
        ("हिन्दी-खोज", "हिन्दी-खोज"),
        # as one letter, however it was typed
        ("caf\u0065\u0301", "caf\u00e9"),
        ("中" * 66, "中" * 66),
        ("x" * 100, "x" * 100),
        ("中" * 67, "it takes 201 bytes"),
        ("x" * 101, "it has 101 letters"),
        # paths, blanks, hidden files, a change of direction, letters that nobody sees
        *((name, "it may not be written so") for name in ("a/b", "a\\b", "a b", ".a", "_a", "a\u202eb")),
        *((name, "it may not be written so") for name in ("a\u200bb", "\u3164", "a\ufe0f", "a:b", "\u0301a")),
    ],
    ids=ascii,
)
def test_a_name_is_made_of_letters_of_any_script(write, name, taken):
    path = write("", base=GOOD.replace("demo", json.dumps(name)))
    if taken.startswith("it "):
        with pytest.raises(ConfigError, match=f":2: name: {taken}"):
            load_config(path)
    else:
        assert load_config(path).name == taken
    # the nearest name to any text is one
    assert unlike_a_name(folder_name(name) or "x") == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("labels: labels.csv\n", "", "labels: this key is missing"),
        ("name: demo", "name: null", r":2: name: its value is missing"),
        ("demo", "../demo", "name: it may not be written so: use letters and digits of any script, dots"),
        (
            "labels.csv",
            "labels.csv\nsettings: [{rerank: null}, {}]",
            "two settings of the sweep are the same",
        ),
    ],
)
def test_a_file_that_lacks_something_or_says_it_twice_is_refused(write, old, new, message):
    with pytest.raises(ConfigError, match=rf"bench\.yaml.*{message}"):
        load_config(write("", GOOD.replace(old, new)))


def test_a_judge_s_keys_are_next_to_those_of_relevance(write):
    text = "relevance: {judge: llm, rule: any_overlap, endpoint: {model: m}, pool: {unit: passage}}"
    relevance = load_config(write(text, base=GOOD.replace("labels: labels.csv\n", ""))).relevance
    assert relevance.rule == "any_overlap"
    assert relevance.judge.kind == "llm"
    assert relevance.judge.pool.unit == "passage"
    assert load_config(write("relevance: {judge: labels}")).relevance.judge.kind == "labels"


HTTP = "retrieve: {kind: http, url: 'http://127.0.0.1:9', version: '1'"
SECRET = "sk-very-secret-0123456789"
AZURE = "{endpoint: 'https://host?key=SECRET', api_version: '1', deployment: d}"


@pytest.mark.parametrize(
    "section",
    [
        *(
            f"relevance:\n  judge: llm\n  endpoint: {{model: m, {field}}}"
            for field in (
                "api_key_env: SECRET",
                "api_key: SECRET",
                "base_url: 'SECRET'",
                "base_url: 'https://user:SECRET@host/v1'",
                "base_url: 'https://host/v1?api-key=SECRET'",
                "base_url: 'ftp://host/SECRET'",
                "base_url: 'host:8000/SECRET'",
                f"azure: {AZURE}",
                "headers: SECRET",
                "headers: {Authorization: SECRET}",
                "headers: {Ocp-Apim-Subscription-Key: SECRET}",
                "headers: {cf-aig-token: SECRET}",
                "headers_env: {X-Api-Key: SECRET}",
                "extra_body: [SECRET]",
            )
        ),
        f"{HTTP}, request: {{token: SECRET}}}}",
        f"{HTTP}, headers: {{X-Odd: {{a: SECRET}}}}}}",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, "0a1b2c3d4e5f"])
def test_a_secret_in_the_file_is_refused_and_not_shown(write, section, secret):
    with pytest.raises(ConfigError, match=r"bench\.yaml:\d+: ") as caught:
        load_config(write(section.replace("SECRET", secret)))
    assert secret[:6] not in "".join(traceback.format_exception(caught.value))


def test_a_missing_file_names_its_neighbours_and_the_folder_of_configurations(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("")
    write_files(tmp_path, {".hidden.yaml": "", "configs/other.yaml": "", "configs/.hidden.yaml": ""})
    with pytest.raises(ConfigError, match=r"This folder holds: bench\.yaml\. configs holds: other\.yaml\.$"):
        load_config(Path("bnch.yaml"))
    with pytest.raises(ConfigError, match=r"configs is a folder.* It holds: other\.yaml\."):
        load_config(Path("configs"))


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


def test_every_field_that_holds_a_configuration_says_of_which_stage():
    """Without the mark at the field itself, a section within a section is read without its kind."""
    marked = 0
    for stage, table in STEP_KINDS.items():
        for kind in table:
            for name, field in table.find(kind).config.model_fields.items():
                if "StageConfig" in str(field.annotation) or re.search(
                    r"(?:Read|Rewriter|Filter|Field|Retriever|Chunk)\w*Config\b", str(field.annotation)
                ):
                    marked += 1
                    assert any(isinstance(mark, Section) for mark in field.metadata), (stage, kind, name)
    assert marked >= 5


def test_a_judge_written_as_a_section_is_told_where_its_keys_go(write):
    with pytest.raises(ConfigError, match=r"its keys are beside it: relevance: \{judge: cosine, model: …\}"):
        load_config(write("relevance: {judge: {kind: cosine}}"))
