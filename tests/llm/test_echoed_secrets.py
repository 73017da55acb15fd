"""Secrets of others that a server or a model repeats are in no message, log, record or ledger."""

import logging
import random
import traceback

import pytest

from harness.judge import LlmJudge
from harness.values import HarnessError, Silent
from tests.config.test_secrets import SHAPES
from tests.judge.fake_server import FakeServer, error, says
from tests.judge.helpers import config, pairs, script_of

SAID = {
    "an error of the request": lambda secret: error(400, f"cannot use {secret} here"),
    "an error of the server": lambda secret: error(500, f"config: {secret}"),
    "the code of an error": lambda secret: error(418, "no", code=secret),
    "an answer": lambda secret: says(f"The passage holds {secret} and no grade"),
    "a refusal": lambda secret: says(None, refusal=f"{secret} is not allowed"),
}


@pytest.mark.slow
@pytest.mark.usefixtures("three_tries")
@pytest.mark.parametrize("said", SAID)
def test_a_secret_that_a_server_repeats_is_kept_nowhere(said, ledger, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    draw = random.Random(said)
    cores = {}
    for name in sorted(SHAPES):
        _, alphabet, length, _ = SHAPES[name]
        cores[name] = "".join(draw.choices(alphabet, k=length))
    whole = {name: f"{SHAPES[name][0]}{core}{SHAPES[name][3]}" for name, core in cores.items()}
    texts = []
    for number, words in enumerate((" and ".join(whole.values()), whole["JWT"], whole["AWS, id"])):
        with FakeServer(script_of(SAID[said](words))) as server:
            judge = LlmJudge(config(server.url), ledger)
            asked = pairs(2, prefix=f"{number} ")
            try:
                judge.grade(asked, lambda graded: texts.append(repr(graded)), reporter=Silent())
            except HarnessError as problem:
                texts.append("".join(traceback.format_exception(problem)))
            assert server.requests
    texts += [caplog.text, *ledger.export_lines()]
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    texts.append(files.decode("latin-1"))
    assert len(texts) > 4
    assert [name for name, core in cores.items() if any(core in text for text in texts)] == []
