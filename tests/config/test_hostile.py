"""Files that are meant to hang, to exhaust memory, or to fail only when a result is written."""

import json
from pathlib import Path

import pytest
import yaml

from harness.models import EmbedConfig
from harness.running import BootstrapConfig, load_config
from harness.running.config.load import MOST_SETTINGS
from harness.running.config.source import DEEPEST, MOST_BYTES, MOST_VALUES
from harness.values import LARGEST, ConfigError

GOOD = "name: demo\ndocuments: docs/*.pdf\nqueries: queries.csv\nlabels: labels.csv\n"
NINE = ", ".join("*{0}" for _ in range(9))
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{NINE.format(f'a{i - 1}')}]\n" for i in range(1, 12)
)


def sweep(sizes, tokens):
    """A section with so many values of two keys."""
    return (
        f"chunk: {{chunk_size: {[*range(500, 500 + sizes)]}, tokens_per_chunk: {[*range(9, 9 + tokens)]}}}\n"
    )


# what is added to a good file, the line of the error, a word of it
ATTACKS = {
    "alias bomb": (BOMB, 9, "more than 20,000 values"),
    "a list within itself": ("chunk: &a [*a]", 5, "refers to itself"),
    "a mapping within itself": ("chunk: &a\n  kind: *a", 6, "refers to itself"),
    "a merge of itself": ("chunk: &a\n  <<: *a", 6, "refers to itself"),
    "3,000 brackets": (f"\nchunk: {'[' * 3000}{']' * 3000}", 6, "deeper than 50"),
    "3,000 braces": (f"chunk: {'{a: ' * 3000}1{'}' * 3000}", 5, "deeper than 50"),
    "300 indents": ("\n".join(" " * i + "chunk:" for i in range(300)), 54, "deeper than 50"),
    "an integer of 5,000 digits": (f"retrieve: {{top_k: {'9' * 5000}}}", 5, "not a valid int"),
    "an integer of 30 digits": (f"retrieve: {{top_k: {'9' * 30}}}", 5, "too large"),
    "one in quotes": (f"retrieve: {{top_k: '{'9' * 30}'}}", 5, "too large"),
    "5,000 digits in quotes": (f"retrieve: {{top_k: '{'9' * 5000}'}}", 5, "exceeded maximum size"),
    "a hexadecimal one": (f"retrieve: {{top_k: 0x{'f' * 5000}}}", 5, "too large"),
    "a sexagesimal one": (f"retrieve: {{top_k: {'1:' * 3000}1}}", 5, "too large"),
    "an impossible date": ("chunk: 2024-13-45", 5, "not a valid timestamp"),
    "NUL in a path": ('cache: "c\\0"', 5, "cache: this text holds a NUL character"),
    "NUL in a glob": ('documents: ["a", "b\\0*.pdf"]', 5, "documents"),
    "NUL in a model": ('retrieve: {model: "a\\0b"}', 5, "retrieve.model: this text holds a NUL"),
    "half a character": ('results: "r\\ud800"', 5, "lone surrogate"),
    "a name in a path": (
        f"\n\nresults: {'r' * 300}",
        7,
        "results: a name in this path is longer than the 255",
    ),
    "a whole path": (f"cache: {'r/' * 3000}r", 5, "cache: this path is longer than"),
    "infinity": ("relevance: {judge: llm, endpoint: {model: m, requests_per_minute: .inf}}", 5, "finite"),
    "a sweep of thousands": (sweep(100, 20), 5, "2,000 settings; a sweep has at most 1,000"),
    "a sweep over stages": (sweep(100, 10) + "retrieve: {top_k: [10, 20]}", 1, "2,000 settings; a sweep"),
    "an unknown tag": (
        "chunk: !!python/object/apply:os.system ['x']",
        5,
        "could not determine a constructor",
    ),
    "bytes that are none": ("chunk: !!binary 'zzz'", 5, "failed to decode base64"),
    "a key twice": ("parser:\n  kind: pypdf\n  kind: pypdf", 7, "given twice"),
    "a control character": ("\x1b", 5, "the character '\\x1b' is not allowed"),
    "a NUL": ("\n\x00", 6, "the character '\\x00' is not allowed"),
    "two documents": ("---\nname: b", 5, "another document"),
    "a key that is a list": ("? [a]\n: 1", 5, "unhashable key"),
    "a key that is true": ("true: 1", 5, "no such key"),
    "200 kB": ("# " + "x" * 200_000, None, "more than 200,000 bytes"),
}


@pytest.mark.parametrize(("text", "line", "words"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_an_error_with_its_line(text, line, words, tmp_path):
    path = tmp_path / "bench.yaml"
    replaced = text.partition(":")[0].strip()
    good = "".join(
        "\n" if replaced and row.startswith(f"{replaced}:") else row for row in GOOD.splitlines(keepends=True)
    )
    path.write_text(good + text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(path) if line is None else f"{path}:{line}: ")
    assert len(message) < 1000


def test_a_file_that_is_not_utf_8_is_reported_with_its_line(tmp_path):
    path = tmp_path / "bench.yaml"
    path.write_bytes(GOOD.encode() + "# Größe".encode("latin-1"))
    with pytest.raises(ConfigError, match=r":5: this is not UTF-8"):
        load_config(path)


def test_a_file_without_an_end_is_refused():
    with pytest.raises(ConfigError, match="more than 200,000 bytes"):
        load_config(Path("/dev/zero"))


def test_a_long_name_is_refused_before_anything_is_written(tmp_path):
    path = tmp_path / "bench.yaml"
    path.write_text(GOOD.replace("demo", "d" * 101), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bench\.yaml:1: name: .*use at most 100"):
        load_config(path)
    path.write_text(GOOD.replace("demo", "d" * 100), encoding="utf-8")
    assert load_config(path).name == "d" * 100


def test_aliases_and_merges_are_read_and_keep_their_lines(tmp_path):
    path = tmp_path / "bench.yaml"
    more = (
        "settings:\n"
        "  - chunk: &base\n"
        "      kind: recursive\n"
        "      separators: &signs ['a', 'b']\n"
        "  - chunk: {<<: *base, chunk_size: 300, separators: *signs}\n"
        "  - rerank:\n"
        "      <<: {kind: late_interaction, top_n: 900}\n"
    )
    path.write_text(GOOD + more.rpartition("  - rerank")[0], encoding="utf-8")
    one, two = load_config(path).settings
    assert one.chunk.separators == two.chunk.separators == ("a", "b")
    assert two.chunk.chunk_size == 300
    path.write_text(GOOD + more, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bench\.yaml:11: .*top_n"):
        load_config(path)
    path.write_text(GOOD + more.replace("chunk_size: 300", "chunk_sise: 300"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bench\.yaml:9: .*chunk_size"):
        load_config(path)


def test_a_key_cannot_steer_the_message_it_is_in(tmp_path):
    path = tmp_path / "bench.yaml"
    path.write_text(GOOD + '"\\e[31mx\\n::error::y": 1\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert r"bench.yaml:5: \x1b[31mx \x3a:error::y: there is no such key" in str(caught.value)


def test_the_limits_hold_for_configurations_made_in_python_too():
    with pytest.raises(ValueError, match="too large"):
        BootstrapConfig(seed=10**20)
    with pytest.raises(ValueError, match="NUL"):
        EmbedConfig(model="m\0")


def test_what_is_read_is_what_pyyaml_reads(tmp_path):
    """The limits change no value: the loader is PyYAML's own."""
    from harness.running.config.source import load_yaml

    text = "a: [1, 2.5, yes, ~, 2024-01-02, 'x', &q {b: 1e3}, *q]\n? 3\n: {<<: *q, c: 0o7}\n"
    data, lines = load_yaml(tmp_path / "x.yaml", text.encode())
    assert data == yaml.safe_load(text)
    assert json.dumps(sorted(map(str, lines.items())))
    assert lines[("3",)] == 2


def test_the_page_on_errors_names_the_limits_that_hold():
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    page = " ".join(page.split())
    assert f"at most {MOST_BYTES:,} bytes, {DEEPEST} levels" in page
    assert f"{MOST_VALUES:,} values; a sweep has at most {MOST_SETTINGS:,} settings" in page
    assert f"numbers go up to 2^{LARGEST.bit_length() - 1}" in page
