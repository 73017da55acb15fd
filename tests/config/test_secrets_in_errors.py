"""An error in a configuration repeats no value that may be a secret."""

import pytest

from harness.running.config.load import load_config
from harness.values.errors import ConfigError

HTTP = "retrieve: {kind: http, url: 'http://127.0.0.1:9', version: '1'"
KEY = "sk-do-not-show-me-4711"


@pytest.mark.parametrize(
    "section",
    [
        f"{HTTP}, request: {{token: {KEY}}}}}",
        f"{HTTP}, headers: {{X-Odd: {{a: {KEY}}}}}}}",
        f"relevance: {{judge: llm, endpoint: {{model: m, extra_body: [{KEY}]}}}}",
        f"relevance: {{judge: llm, endpoint: {{model: m, api_key: {KEY}}}}}",
        f"relevance: {{judge: llm, endpoint: {{model: m, headers: {KEY}}}}}",
    ],
)
def test_a_literal_key_is_not_echoed(tmp_path, section):
    path = tmp_path / "bench.yaml"
    text = f"name: x\ndocuments: x\nqueries: x\nlabels: x\nchunk: {{kind: page}}\n{section}\n"
    path.write_text(text if "retrieve" in section else f"{text}retrieve: {{kind: bm25}}\n")
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    assert KEY not in str(refused.value)
