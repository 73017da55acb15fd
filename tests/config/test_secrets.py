"""Secrets by their look: refused in a configuration, taken out of what is printed, recorded and kept."""

import json
import random
import string
import subprocess
from pathlib import Path

import pytest

from harness.cli.internal_faults import without_secrets
from harness.models import Endpoint, one_line
from harness.running import load_config, read_source
from harness.store import Ledger
from harness.values import (
    ConfigError,
    HarnessError,
    LlmAnswer,
    holds_secret,
    printable,
    quoted,
    redacted,
    redacted_value,
)
from harness.values.secrets import MARK
from tests.command import run

ROOT = Path(__file__).parents[2]
KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5t"

SECRETS = [
    *(KEY, "sk-abcdef1234567890", "sk-ABCDEF123456", "sk-ant-api03-abcdef", "sk-or-v1-0123456789abcdef"),
    *("sk-1234567890", "sk-abcdefghijklmnop", "sk_live_abcdefgh12", "hf_AbCdEfGhIjKlMnOpQrSt"),
    *("ghp_abcdefghijklmnopqrst123456", "AKIAIOSFODNN7EXAMPLE", "LTAI5tAbcdefghij1234"),
    *("AIzaSyA-1234567890abcdefghijklmnopqrstuv", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abcDEF"),
    *("0123456789abcdef0123456789abcdef.AbCdEf0123456789", "xK9mP2vL8qR4tY7wZ3nB6cF1"),
    "-----BEGIN RSA PRIVATE KEY-----abc-----END RSA PRIVATE KEY-----",
]
# Keys as providers make them: a beginning, then letters drawn at random from an alphabet, maybe an end.
LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
BASE62, WEB, BASE64 = LETTERS + DIGITS, LETTERS + DIGITS + "-_", LETTERS + DIGITS + "+/"
LOWER, UPPER = string.ascii_lowercase + DIGITS, string.ascii_uppercase + DIGITS
SHAPES = {
    "OpenAI": ("sk-", BASE62, 48, ""),
    "OpenAI, of a project": ("sk-proj-", WEB, 120, "T3BlbkFJ"),
    "OpenAI, of a service": ("sk-svcacct-", WEB, 60, ""),
    "Anthropic": ("sk-ant-api03-", WEB, 93, "AA"),
    "DeepSeek": ("sk-", HEX, 32, ""),
    "OpenRouter": ("sk-or-v1-", HEX, 64, ""),
    "AWS, id": ("AKIA", string.ascii_uppercase + "234567", 16, ""),
    "AWS, session": ("IQoJb3JpZ2luX2Vj", BASE64, 300, "="),
    "Azure": ("", BASE62, 52, "JQQJ99BDACYeBjFXJ3w3AAABACOGabcd"),
    "Azure, 32 digits in a header": ("api-key: ", HEX, 32, ""),
    "Azure, gateway": ("Ocp-Apim-Subscription-Key: ", HEX, 32, ""),
    "Azure, storage": ("AccountKey=", BASE64, 86, "=="),
    "Azure, application": ("Ab38Q~", WEB, 34, ""),
    "Google": ("AIza", WEB, 35, ""),
    "Google, client": ("GOCSPX-", WEB, 28, ""),
    "Google, session": ("ya29.a0", WEB, 100, ""),
    "Hugging Face": ("hf_", LETTERS, 34, ""),
    "GitHub": ("ghp_", BASE62, 36, ""),
    "GitHub, application": ("ghs_", BASE62, 36, ""),
    "GitHub, fine-grained": ("github_pat_", BASE62 + "_", 82, ""),
    "GitLab": ("glpat-", WEB, 20, ""),
    "Slack": ("xoxb-123456789012-1234567890123-", BASE62, 24, ""),
    "Slack, rotated": ("xoxe.xoxp-1-", BASE62, 140, ""),
    "Slack, address": ("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/", BASE62, 24, ""),
    "JWT": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.", WEB, 43, ""),
    "JWE": ("eyJhbGciOiJkaXIifQ..", WEB, 16, ".QUJDREVGR0g.QUJDREVGR0hJSktMTU4"),
    "Databricks": ("dapi", HEX, 32, ""),
    "Twilio": ("SK", HEX, 32, ""),
    "Qianfan": ("bce-v3/ALTAK-abcdefghij/", HEX, 40, ""),
    "Docker": ("dckr_pat_", WEB, 27, ""),
    "Telegram": ("1234567890:AA", WEB, 33, ""),
    "Vault": ("hvs.", WEB, 90, ""),
    "Linear": ("lin_api_", BASE62, 40, ""),
    "Shopify": ("shpat_", HEX, 32, ""),
    "Notion": ("ntn_", BASE62, 46, ""),
    "Grafana": ("glsa_", BASE62, 32, "_1a2b3c4d"),
    "Supabase": ("sbp_", HEX, 40, ""),
    "Mailgun": ("key-", HEX, 32, ""),
    "Weights & Biases": ("wandb_v1_", WEB, 60, ""),
    "a bearer of hexadecimal digits": ("Bearer ", HEX, 32, ""),
    "a variable": ("OPENAI_API_KEY=", HEX, 32, ""),
    "a form": ("client_secret=", HEX, 30, ""),
    "JSON": ('{"api_key": "', HEX, 32, '"}'),
    "JSON within a text": ('{\\"api_key\\": \\"', HEX, 32, '\\"}'),
    "words of a server": ("Invalid API key '", HEX, 32, "' was given"),
    "Chinese": ("密钥：", HEX, 32, ""),
    "a message of a server": ("Incorrect API key provided: ", HEX, 32, ". You can find yours"),
    "a user of an address": ("https://", HEX, 40, "@example.org/v1"),
    "a password of an address": ("redis://:", LOWER, 12, "@example.org:6379/0"),
    "a query of an address": ("https://example.org/v1?subscription-key=", HEX, 32, "&v=1"),
    "a signed address": ("https://example.org/b?sv=2024&X-Amz-Signature=", HEX, 64, ""),
    "an address with a token behind it": ("https://example.org/#access_token=", HEX, 32, ""),
}
# Words in which a token stands, and the token.
AMONG_WORDS = {
    "Bearer abc123def456": "abc123def456",
    "bearer my-secret-token": "my-secret-token",
    "Authorization: Token abcdef12": "abcdef12",
    "https://user:passw0rd@example.org/": "passw0rd",
    "https://example.org/?api_key=abcdef123": "abcdef123",
}
# Names, words, hashes and ids, some of which begin as secrets do.
OTHERS = [
    *("sk-learn", "sk-learn-contrib", "sk-SK", "sk-hynix", "sk-innovation", "task-management-2023"),
    *("disk-1234567890", "Bearer shares", "bearer earnings-per-share", "Basic earnings-per-share"),
    *("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "doc:1234-5678"),
    *("2d036c38e1f5a4b6c7d8e9f0a1b2c3d4e5f60718", "123e4567-e89b-12d3-a456-426614174000"),
    *("chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "fp_44709d6fcb", "req_011CSHoEeqs5C35K2UUqSkDB"),
    *("Qwen3-Embedding-0.6B-Q8_0-GGUF", "cross-encoder/ms-marco-MiniLM-L-6-v2", "gpt-4o-mini-2024-07-18"),
    *("RecursiveCharacterTextSplitter", "ndcg_evidence@5000", "OPENAI_API_KEY", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    *(
        "password: unknown",
        "the api key is optional",
        "api_key_env: OPENAI_API_KEY",
        "密码：未设置",
        "access key: none",
    ),
    *("SentenceTransformersTokenTextSplitter", "LLMContextPrecisionWithReference", "max_tokens: 400"),
    *("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "Basic information2023"),
    *("md5 d41d8cd98f00b204e9800998ecf8427e", "sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    *(
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "run-3f7714fa806c69eaa00c6dde6fce2c6f",
        "第三季度营业收入同比增长百分之十二",
    ),
    *("models--sentence-transformers--all-MiniLM-L6-v2", "bartowski/Qwen2.5-7B-Instruct-GGUF-IQ4_XS-Q8_0-L"),
    *("https://example.org/annual-report-2023-final.pdf?page=12", "https://example.org/#section-3.2.1"),
    *("annualreport2023financialstatements", "results/quickstart/2026-03-01T10-00-00/record.json"),
    *("Authorization: SEARCH_TOKEN", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "https://example.org/a?key=value"),
]


@pytest.mark.parametrize(
    ("words", "token"), [*((secret, secret) for secret in SECRETS), *AMONG_WORDS.items()]
)
def test_a_secret_is_taken_out_wherever_words_pass(words, token):
    text = f"it says {words} there"
    for shown in (redacted(text), printable(text), quoted(text), one_line(text), without_secrets(text)):
        assert MARK in shown
        assert token not in shown
    assert token not in str(HarnessError(text))
    assert token not in str(redacted_value({words: [words]}))


@pytest.mark.parametrize("text", OTHERS)
def test_names_words_hashes_and_ids_stay(text):
    assert redacted(f"it says {text} there") == f"it says {text} there"


@pytest.mark.parametrize("shape", SHAPES)
def test_keys_of_every_shape_are_taken_out_of_what_is_printed_recorded_and_kept(shape):
    before, alphabet, length, after = SHAPES[shape]
    draw = random.Random(shape)
    for _ in range(200):
        core = "".join(draw.choices(alphabet, k=length))
        secret = f"{before}{core}{after}"
        for text in (secret, f"It failed: {secret}", f"a,{secret},b", f"[{secret}]", f"地址 {secret}。"):
            assert core not in redacted(text), text
        assert core not in json.dumps(redacted_value({"a": [{"b": secret}], secret: 1}))


NAMED = [
    "api_key",
    "apikey",
    "X-Api-Key",
    "client_secret",
    "password",
    "accessToken",
    "AWS_SECRET_ACCESS_KEY",
]


@pytest.mark.parametrize("name", NAMED)
def test_the_value_of_a_field_with_the_name_of_a_secret_is_taken_out(name):
    fields = {"a": {name: "0123456789abcdef0123456789abcdef"}, f"{name}_env": "NAME_OF_A_VARIABLE"}
    assert redacted_value(fields) == {"a": {name: MARK}, f"{name}_env": "NAME_OF_A_VARIABLE"}
    for plain in ("NAME_OF_VARIABLE_2", "", "unknown", "12345678", None, 7, [], True):
        assert redacted_value({name: plain}) == {name: plain}


def test_files_and_digests_in_base64_stay():
    draw = random.Random(2)
    for _ in range(200):
        signs = "".join(draw.choices(BASE64, k=86))
        for text in (f"sha512-{signs}==", f"url(data:font/woff2;base64,{signs}==)", f"sha256-{signs[:43]}="):
            assert redacted(f"it has {text} there") == f"it has {text} there"


def test_random_tokens_are_found_whatever_they_begin_with():
    """Tokens of 32 letters and digits: by chance one in a hundred changes too seldom between kinds."""
    draw = random.Random(1)
    tokens = ["".join(draw.choices(string.ascii_letters + string.digits, k=32)) for _ in range(500)]
    assert sum(redacted(token) == MARK for token in tokens) >= 485


def test_no_shipped_text_or_record_is_changed():
    listed = subprocess.run(
        ["git", "ls-files", "corpora", "configs", "docs", "results"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    kinds = (".md", ".csv", ".txt", ".yaml", ".json", ".jsonl", ".trec")
    paths = [ROOT / name for name in listed.stdout.decode().splitlines() if name.endswith(kinds)]
    assert len(paths) > 100
    texts = {path: path.read_text("utf-8") for path in paths}
    assert [path for path, text in texts.items() if redacted(text) != text] == []


# Every place of a configuration in which somebody may write a key.
PLACES = [
    "{SECRET: 1}",
    "{name: SECRET}",
    "{nmae: SECRET}",
    "{documents: [SECRET]}",
    "{queries: SECRET}",
    "{labels: SECRET}",
    "{results: SECRET}",
    "{cache: SECRET}",
    "{measures: [SECRET]}",
    "{seed: SECRET}",
    "{retrieve: SECRET}",
    "{retrieve: {kind: SECRET}}",
    "{retrieve: {kind: exact, model: SECRET}}",
    "{retrieve: {kind: exact, revision: SECRET}}",
    "{retrieve: {kind: exact, SECRET: 1}}",
    "{retrieve: [{kind: bm25}, {kind: exact, depth: SECRET}]}",
    "{chunk: {kind: recursive, size: [SECRET]}}",
    "{relevance: {judge: SECRET}}",
    "{relevance: {judge: llm, prompt: SECRET}}",
    "{relevance: {judge: llm, prices: {SECRET: {input: 1}}}}",
    "{relevance: {judge: llm, max_cost: SECRET}}",
    "{relevance: {judge: llm, endpoint: SECRET}}",
    "{answer: {kind: llm, endpoint: {model: SECRET}}}",
]
PLACES += [
    f"{{relevance: {{judge: llm, endpoint: {{model: m, {line}}}}}}}"
    for line in [
        "base_url: SECRET",
        "api_key_env: SECRET",
        "api_key: SECRET",
        "key: SECRET",
        "token: SECRET",
        "max_concurrency: SECRET",
        "timeout: SECRET",
        "seed: SECRET",
        "temperature: SECRET",
        "structured: SECRET",
        "headers: SECRET",
        "headers: [SECRET]",
        "headers: {SECRET: x}",
        "headers: {X-Route: SECRET}",
        "headers_env: {Authorization: SECRET}",
        "headers_env: {SECRET: TOKEN}",
        "extra_body: {a: SECRET}",
        "extra_body: {SECRET: 1}",
        "extra_body: {a: {b: [1, {c: SECRET}]}}",
        "azure: SECRET",
        "azure: {endpoint: SECRET}",
        "azure: {api_version: SECRET}",
        "azure: {deployment: SECRET}",
    ]
]


PLACES += [
    f"{{relevance: {{judge: llm, endpoint: {{model: m, {line}}}}}}}"
    for line in [
        "base_urls: [SECRET]",
        "headers: {api-key: SECRET}",
        "api_base: SECRET",
    ]
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_no_place_of_a_configuration_repeats_a_key_of_any_shape(shape, tmp_path):
    before, alphabet, length, after = SHAPES[shape]
    core = "".join(random.Random(shape).choices(alphabet, k=length))
    path = tmp_path / "bench.yaml"
    for place in PLACES:
        # of hexadecimal digits alone four are shown
        for secret in (f"{before}{core}{after}", *([core] if alphabet == HEX and length >= 32 else [])):
            path.write_text(f"# a comment\n{place.replace('SECRET', json.dumps(secret))}\n")
            with pytest.raises(ConfigError) as caught:
                load_config(path)
            assert core not in str(caught.value), place


@pytest.mark.parametrize("secret", [KEY, "Bearer abc123def456", "xK9mP2vL8qR4tY7wZ3nB6cF1"])
def test_a_configuration_that_holds_a_secret_is_refused_and_the_secret_not_shown(secret, tmp_path):
    path = tmp_path / "bench.yaml"
    assert len(PLACES) > 40
    for place in PLACES:
        path.write_text(f"# a comment\n{place.replace('SECRET', json.dumps(secret))}\n")
        with pytest.raises(ConfigError, match="looks like a secret") as caught:
            read_source(path)
        assert str(caught.value).startswith(f"{path}:2: "), place
        assert secret.split()[-1] not in str(caught.value), place


def test_no_command_repeats_a_secret(tmp_path, capsys):
    path = tmp_path / "bench.yaml"
    path.write_text(f"name: x\nrelevance:\n  judge: llm\n  endpoint: {{model: m, max_concurrency: {KEY}}}\n")
    code, out, err = run(capsys, "bench", path)
    assert code == 1
    assert ":4: relevance.endpoint.max_concurrency: this looks like a secret" in " ".join(err.split())
    assert KEY not in out + err
    for words in (
        ["bench", tmp_path / KEY],
        [KEY],
        ["bench", path, "--limit", KEY],
        ["bench", path, f"--{KEY}"],
    ):
        code, out, err = run(capsys, *words)
        assert code != 0
        assert KEY not in out + err


@pytest.mark.parametrize(
    "fields",
    [{"max_concurrency": KEY}, {"extra_body": {"a": KEY}}, {"headers": {KEY: "x"}}, {KEY: 1}, {"seed": KEY}],
)
def test_a_section_made_in_python_is_refused_too(fields):
    with pytest.raises(ConfigError, match="looks like a secret") as caught:
        Endpoint(model="m", **fields)
    assert KEY not in str(caught.value)


def test_the_ledger_keeps_an_answer_without_the_secret_in_it(tmp_path):
    call = ("q", (f"a passage about {KEY}",), "sha", "m", {}, 0)
    answer = LlmAnswer(*call, True, (3,), "", f"Your key is {KEY}", 1, 1, None, 0.1, "req-1", "m")
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.record(ledger.key(answer), answer)
        (entry,) = ledger.entries()
    assert (entry.raw, entry.logprobs, entry.request_id) == (f"Your key is {MARK}", None, "req-1")
    # texts of the call make up its key
    assert entry.passages == answer.passages


# Names that storage services and generators of ids give, which look like tokens.
RANDOM_NAMES = ["1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms", "xK9mP2vL8qR4tY7wZ3nB6cF1"]


def test_times_of_answers_stay_with_their_queries_whatever_the_ids_look_like(tmp_path, capsys):
    days = dict(zip(RANDOM_NAMES, ("2026-03-01T10:00:00+00:00", "2026-03-02T10:00:00+00:00"), strict=True))
    answers = tmp_path / "answers.jsonl"
    rows = [
        {"query_id": name, "question": name, "answer": "a", "reference": "a", "time": day}
        for name, day in days.items()
    ]
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, _, err = run(capsys, "score-answers", answers, "--results", tmp_path / "scored")
    assert code == 0, err
    assert json.loads((tmp_path / "scored/record.json").read_text())["counts"]["answered_at"] == days


def test_hashes_of_documents_stay_with_their_names_whatever_these_look_like(tmp_path, capsys):
    for name in RANDOM_NAMES:
        (tmp_path / f"{name}.md").write_text(f"The pump of {name[:2]} is old.\n")
    (tmp_path / "queries.csv").write_text("query_id,text\nq1,what is old?\n")
    quote = "The pump of 1B is old."
    (tmp_path / "labels.csv").write_text(f"query_id,document,quote,grade\nq1,{RANDOM_NAMES[0]},{quote},4\n")
    (tmp_path / "bench.yaml").write_text(
        f"name: b\ndocuments: {tmp_path}/*.md\nqueries: {tmp_path}/queries.csv\n"
        f"labels: {tmp_path}/labels.csv\ncache: {tmp_path}/cache\nresults: {tmp_path}/results\n"
        "chunk: {kind: recursive, chunk_size: 60}\nretrieve: {kind: bm25}\nbootstrap: {resamples: 100}\n"
    )
    code, _, err = run(capsys, "bench", tmp_path / "bench.yaml")
    assert code == 0, err
    hashes = json.loads((tmp_path / "results/b/record.json").read_text())["hashes"]
    assert {Path(name).stem for name in hashes} >= set(RANDOM_NAMES)


def test_a_reply_that_is_a_text_stays_and_what_is_handed_on_is_what_is_kept(tmp_path):
    """Otherwise a run that reads the ledger has other results than the one that paid."""
    call = ("q", ("a passage",), "sha", "m", {}, 0)
    usual = (1, 1, None, 0.1, "req-1", "m")
    text = LlmAnswer(*call, True, None, "", f"It is in {RANDOM_NAMES[0]}.", *usual)
    graded = LlmAnswer(*call, True, (3,), "", f"Your key is {KEY}", *usual, logprobs=[{"token": KEY}])
    failed = LlmAnswer(*call, True, None, "refusal", f"No: {KEY}", *usual)
    with Ledger(tmp_path / "ledger.db") as ledger:
        kept = [ledger.record(ledger.key(answer), answer) for answer in (text, graded, failed)]
        entries = list(ledger.entries())
    assert kept[0] == text
    assert [answer.raw for answer in kept[1:]] == [f"Your key is {MARK}", f"No: {MARK}"]
    assert [entry.raw for entry in entries] == [answer.raw for answer in kept]
    assert [entry.logprobs for entry in entries] == [answer.logprobs for answer in kept] == [None] * 3


def test_a_file_of_hits_that_looks_like_a_secret_is_to_be_renamed(tmp_path, capsys):
    (tmp_path / f"{KEY}.jsonl").write_text('{"query_id": "q1", "rank": 1, "text": "a"}\n')
    words = ["score", "--hits", tmp_path / f"{KEY}.jsonl", "--queries", "q.csv", "--labels", "l.csv"]
    for more in ([], ["--name", "mine"]):
        code, out, err = run(capsys, *words, "--documents", "d/*", *more)
        assert code == 1
        assert "--hits: " in err
        assert "Rename the file" in " ".join(err.split())
        assert KEY not in out + err


@pytest.mark.parametrize(
    ("letters", "length", "words", "share"),
    [
        (string.ascii_letters + string.digits, 20, "95 of 100 are caught at a length of 20", 0.95),
        (string.ascii_letters + string.digits, 32, "and 99 at 32", 0.99),
        (string.ascii_lowercase + string.digits, 24, "none below 32", 0),
        (string.ascii_lowercase + string.digits, 32, "and 97 of 100 at 32", 0.97),
        (
            string.ascii_letters + string.digits + "-_",
            43,
            "98 of 100 with `-` and `_` among them at 43",
            0.98,
        ),
        (string.ascii_letters + string.digits + "+/", 40, "as many with `+` and `/` at 40", 0.98),
        (string.digits + "abcdef", 40, "of hexadecimal digits none of any length", 0),
    ],
)
def test_the_docs_say_how_many_random_tokens_are_caught(letters, length, words, share):
    draw = random.Random(1)
    caught = [holds_secret("".join(draw.choices(letters, k=length))) for _ in range(4_000)]
    # about 1.5 standard errors of 4,000 draws
    assert abs(sum(caught) / 4_000 - share) < 0.01 if share else not any(caught)
    assert words in " ".join((ROOT / "docs" / "judge.md").read_text("utf-8").split())
