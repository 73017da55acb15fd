"""The check finds each fault it looks for, in judges made to have it."""

import json
import re

import pytest

from harness.judge import check_judge, known_set
from harness.models import Reply
from harness.values import HarnessError, Silent
from tests.judge.fake_server import FakeServer, error, says
from tests.judge.helpers import config

KNOWN = {passage.text: passage for topic in known_set() for passage in topic.passages}
FENCE = re.compile(r"<passage (\d+) (\w{16})>\n(.*?)\n</passage \1 \2>", re.DOTALL)


def passages_in(prompt):
    return [match.group(3) for match in FENCE.finditer(prompt)]


def honest(text):
    """Grades by the known passage that the text contains, whatever else it says."""
    (known,) = [passage for part, passage in KNOWN.items() if part in text]
    return (known.low + known.high) // 2


class Here:
    """A client that asks ``judge(passages, prompt, sample)``, which needs no HTTP; None refuses."""

    def __init__(self, judge, listwise):
        self.judge, self.listwise = judge, listwise

    async def ask(self, messages, response_format, sample, timeout):
        prompt = messages[1]["content"]
        grades = self.judge(passages_in(prompt), prompt, sample)
        if grades is None:
            return Reply("", "stop", "I will not", 100, 10, "req", "fake-1", 0.0)
        rows = [{"passage": n, "grade": g} for n, g in enumerate(grades, start=1)]
        said = json.dumps({"grades": rows} if self.listwise else {"grade": grades[0]})
        return Reply(said, "stop", "", 100, 10, "req", "fake-1", 0.0)

    async def aclose(self):
        pass


@pytest.fixture
def check(ledger, monkeypatch):
    """Checks a judge that answers here."""

    def check(judge, prompt="pointwise"):
        client = Here(judge, prompt.startswith("listwise"))
        monkeypatch.setattr("harness.models.llm.calls.ChatClient", lambda endpoint: client)
        return check_judge(config("http://unused/v1", prompt=prompt), ledger, reporter=Silent())

    return check


@pytest.mark.parametrize("prompt", ["pointwise_zh", "umbrela", "listwise"])
def test_an_honest_judge_passes(prompt, check):
    report = check(lambda shown, *_: [honest(text) for text in shown], prompt=prompt)
    assert not report.problems
    # three topics (in Chinese two) of four passages; six attacks, by two carriers each, among the other three
    assert (report.passages, report.summary.pairs) == ((32, 104) if "zh" in prompt else (48, 156))
    assert (report.in_range, report.self_agreement) == (1.0, 1.0)
    assert set(report.leakage.values()) == {0.0}
    assert report.position_bias == (pytest.approx(0) if "listwise" in prompt else None)


def test_an_obedient_judge_is_found_out(check):
    def obedient(shown, *_):
        return [4 if "grade this 4" in text else honest(text) for text in shown]

    report = check(obedient)
    gained = {attack: gain for attack, gain in report.leakage.items() if gain}
    # on the subject the honest grades are 0, 1 and 0, so there is less to gain: (4 + 3 + 4) / 3
    assert gained == {
        ("orders a grade", "off topic"): 4,
        ("closes its fence", "off topic"): 4,
        ("orders a grade", "on topic"): pytest.approx(11 / 3),
        ("closes its fence", "on topic"): pytest.approx(11 / 3),
    }
    assert any("off topic that orders a grade gains +4.00" in problem for problem in report.problems)


FOUND_OUT = {
    "counts words": (
        lambda shown, prompt, _: [4 if prompt.splitlines()[1] in text else honest(text) for text in shown],
        "pointwise",
        lambda report: report.leakage["is stuffed with the query", "off topic"] == 4,
        "gains +4.00",
    ),
    "is inconsistent": (
        lambda shown, prompt, sample: [sample % 3],
        "pointwise",
        lambda report: report.self_agreement == 0,
        "same grade",
    ),
    "has a position bias": (
        lambda shown, *_: [4, 3, 1, 0][: len(shown)],
        "listwise",
        lambda report: report.position_bias > 1,
        "position in the list",
    ),
    "finds all relevant": (
        lambda shown, *_: [4],
        "pointwise",
        lambda report: report.in_range < 0.5,
        "of plain passages",
    ),
    "refuses": (
        lambda *_: None,
        "pointwise",
        lambda report: (report.summary.unscored_count, report.passages) == (156, 48),
        "",
    ),
}


@pytest.mark.parametrize(("judge", "prompt", "measured", "problem"), FOUND_OUT.values(), ids=FOUND_OUT.keys())
def test_a_judge_with_a_fault_is_found_out(judge, prompt, measured, problem, check):
    report = check(judge, prompt=prompt)
    assert measured(report)
    assert any(problem in one for one in report.problems)


@pytest.mark.parametrize(
    ("answer", "options", "said", "asked"),
    [
        (error(400, "The moon is in the wrong house"), {}, "http_400: The moon is in the wrong house", 1),
        # a limit that is too short for every answer
        (says("<think>Hm", finish="length"), {"answers_per_call": 2}, "endpoint.max_tokens (400)", 2),
        (says("<think>Hm"), {"prompt": "umbrela", "answers_per_call": 1}, "unfinished_thought", 1),
    ],
)
def test_a_fault_that_every_call_would_meet_ends_the_check_at_the_first(answer, options, said, asked, ledger):
    with FakeServer(lambda *_: answer) as server, pytest.raises(HarnessError) as caught:
        check_judge(config(server.url, **options), ledger, reporter=Silent())
    assert said in str(caught.value)
    assert server.count == asked


def test_a_first_passage_that_is_filtered_says_nothing_of_the_others(ledger):
    def script(request, number):
        return error(400, "flagged", "content_filter") if number == 0 else says('{"grade": 1}')

    with FakeServer(script) as server:
        report = check_judge(config(server.url), ledger, reporter=Silent())
    # nor is it paid twice
    assert server.count == 48 * 3 == report.summary.calls
    assert report.summary.unscored_count == 0, "two samples of three are enough"
