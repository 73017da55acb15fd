"""Judging by batches, over real sockets: the same answers in the same ledger, whatever happens on the way."""

import json

import pytest

from harness.judge import LlmJudge
from harness.values import JudgeError, LlmError, Silent
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion, error
from tests.judge.helpers import config, judge_all, judged, pairs

PRICES = {"fake": {"input": 1.0, "output": 10.0}}


def batched(url, **options):
    batch = {"poll": 0.02, **options.pop("batch", {})}
    return config(url, batch=batch, **options)


def by_batches(script, ledger, count, **options):
    batch = {"poll": 0.02, **options.pop("batch", {})}
    return judged(script, ledger, count, batch=batch, **options)


def by_number(line):
    """Grades a request by the number of its passage, so that a mix-up shows."""
    number = int(line["body"]["messages"][1]["content"].split("\npassage ")[1].split("\n")[0])
    return completion(json.dumps({"grade": number % 5}))


def grades(graded):
    return [one.judgment.grade for one in graded]


def test_a_pool_is_judged_by_one_file_and_one_batch(ledger):
    script = Batches(by_number, looks=3)
    graded, summary, _ = by_batches(script, ledger, 12, prices=PRICES)
    assert grades(graded) == [number % 5 for number in range(12)]
    assert len(script.batches) == 1
    assert not script.direct
    assert (summary.calls, summary.from_ledger, summary.pairs) == (12, 0, 12)
    # 100 tokens read at 1, 10 written at 10 per million, at half the price
    assert summary.cost == pytest.approx(12 * (100 * 1 + 10 * 10) / 1e6 / 2)
    assert [one.cost for one in graded] == pytest.approx([1e-4] * 12)
    assert ledger.batches.all() == []
    entry = next(ledger.entries())
    assert (entry.served_model, entry.seconds, entry.request_id) == ("fake-1-2025", 90.0, "batch_2/req-0")


def test_batched_and_single_answers_are_interchangeable(ledger):
    script = Batches(by_number)
    with FakeServer(script) as server:
        judge_all(batched(server.url), ledger, pairs(5))
        alone, summary = judge_all(config(server.url), ledger, pairs(8))
        assert (summary.from_ledger, len(script.direct)) == (5, 3)
        together, again = judge_all(batched(server.url), ledger, pairs(10))
    assert (again.from_ledger, again.calls, len(script.asked)) == (8, 2, 7)
    assert grades(together)[:8] == grades(alone)
    sent = script.lines_of(script.batches["batch_2"])[0]["body"]
    # a request in a batch has the body of a call by itself
    assert sent.keys() == script.direct[0].keys()
    assert {k: v for k, v in sent.items() if k != "messages"} == {
        k: v for k, v in script.direct[0].items() if k != "messages"
    }


def test_batches_keep_to_the_limits_of_requests_and_bytes(ledger):
    script = Batches(by_number)
    with FakeServer(script) as server:
        graded, _ = judge_all(batched(server.url, batch={"max_requests": 4}), ledger, pairs(10))
        assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [4, 4, 2]
        judge_all(batched(server.url, batch={"max_bytes": 10_000}), ledger, pairs(20))
    assert grades(graded) == [number % 5 for number in range(10)]
    later = [script.files[batch["input_file_id"]] for batch in list(script.batches.values())[3:]]
    assert len(later) > 1
    assert all(len(data) <= 10_000 for data in later)
    assert len(script.asked) == len(set(script.asked)) == 20


def test_a_full_queue_of_the_endpoint_is_not_overfilled(ledger):
    script = Batches(by_number, looks=2)
    with FakeServer(script) as server:
        judge = LlmJudge(batched(server.url), ledger)
        tokens = judge.estimate(pairs(1)).prompt_tokens
        options = {"queued_tokens": 4 * tokens + tokens // 2}
        graded, _ = judge_all(batched(server.url, batch=options), ledger, pairs(10))
    assert None not in grades(graded)
    assert all(batch["request_counts"]["total"] <= 4 for batch in script.batches.values())
    assert len(script.batches) >= 3


def test_the_dry_run_tells_the_price_of_batches_and_calls_on_their_way(ledger):
    at = "http://127.0.0.1:9/v1"
    single = LlmJudge(config(at, prices=PRICES), ledger).estimate(pairs(10))
    batch = LlmJudge(batched(at, prices=PRICES), ledger).estimate(pairs(10))
    assert batch.price == pytest.approx(single.price / 2)
    assert batch.likely_price == pytest.approx(single.likely_price / 2)
    assert "0.5 per million tokens read, 5 written, in batches" in str(batch)
    for own, share in (
        ({"batch_factor": 0.25}, 1 / 4),
        # a price of their own, per million: a tenth of both usual prices, or of one of them
        ({"batch_input": 0.1, "batch_output": 1.0}, 1 / 10),
    ):
        prices = {"fake": {**PRICES["fake"], **own}}
        less = LlmJudge(batched(at, prices=prices), ledger).estimate(pairs(10))
        assert less.price == pytest.approx(single.price * share)


def test_an_endpoint_without_batches_says_so_and_what_to_do(ledger):
    with (
        FakeServer(lambda request, number: error(404, "Not Found")) as server,
        pytest.raises(LlmError, match=r"offers no batches.*Not Found.*Remove `batch`"),
    ):
        judge_all(batched(server.url), ledger, pairs(3))
    # nothing is on its way, and judging by itself goes on
    with FakeServer(Batches()) as server:
        graded, _ = judge_all(config(server.url), ledger, pairs(3))
    assert grades(graded) == [1, 1, 1]


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("POST files", error(503)),
        ("POST files", Answer(cut=0)),
        ("POST batches", error(429, headers={"retry-after": "0"})),
        ("GET batches", error(500)),
        ("GET batches", Answer(cut=30)),
        ("GET batches", Answer(body=["surprise"])),
        ("GET files/content", error(502)),
        ("GET files/content", Answer(body=b"x" * 500, cut=300)),
    ],
    ids=str,
)
def test_a_passing_fault_is_outlasted_and_nothing_is_sent_twice(what, fault, ledger):
    script = Batches(by_number)
    script.faults = {what: [fault]}
    graded, summary, _ = by_batches(script, ledger, 6)
    assert grades(graded) == [0, 1, 2, 3, 4, 0]
    assert len(script.asked) == len(set(script.asked)) == 6
    assert sum(summary.faults.values()) == 1


class Heard(Answer):
    """The request is heard and carried out, and its answer is lost."""

    heard = True


@pytest.mark.parametrize("fault", [Heard(cut=0), Heard(500, {"error": "x"})], ids=["cut", "500"])
def test_a_batch_whose_making_was_heard_but_not_answered_is_found_and_not_made_twice(fault, ledger):
    script = Batches(by_number)
    script.faults = {"POST batches": [fault]}
    graded, _, _ = by_batches(script, ledger, 6)
    assert grades(graded) == [0, 1, 2, 3, 4, 0]
    assert len(script.batches) == 1


def test_a_batch_that_may_exist_stays_recorded_though_it_cannot_be_looked_up(ledger):
    script = Batches(by_number)
    # the key may make batches and not list them
    script.faults = {"POST batches": [Heard(cut=0)], "GET batches": [error(403, "not with this key")] * 2}
    with FakeServer(script) as server:
        for _ in range(2):
            with pytest.raises(LlmError, match="not with this key"):
                judge_all(batched(server.url), ledger, pairs(6))
        graded, _ = judge_all(batched(server.url), ledger, pairs(6))
    assert grades(graded) == [0, 1, 2, 3, 4, 0]
    assert len(script.batches) == 1


def test_an_outage_that_is_too_long_ends_the_wait_and_not_the_batch(ledger):
    script = Batches(by_number, looks=2)
    script.faults = {"GET batches": [error(503)] * 1000}
    with FakeServer(script) as server:
        options = batched(server.url, breaker_seconds=0.2)
        with pytest.raises(LlmError, match="run again to resume"):
            judge_all(options, ledger, pairs(4))
        script.faults = {}
        graded, _ = judge_all(options, ledger, pairs(4))
    assert grades(graded) == [0, 1, 2, 3]
    assert len(script.batches) == 1


def test_half_of_the_lines_fail_and_are_asked_again(ledger):
    failed = set()

    def reply(line):
        number = by_number(line)
        if len(failed) < 5 and line["custom_id"] not in failed:
            failed.add(line["custom_id"])
            return error(500, "overloaded")
        return number

    script = Batches(reply)
    graded, summary, _ = by_batches(script, ledger, 10)
    assert grades(graded) == [number % 5 for number in range(10)]
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [10, 5]
    assert summary.faults == {"http_500": 5}


def test_lines_that_never_work_are_given_up_and_not_scored(ledger):
    script = Batches(lambda line: error(500, "overloaded"))
    with pytest.raises(JudgeError, match="http_500 4"):
        by_batches(script, ledger, 4, batch={"tries": 2})
    assert len(script.batches) == 2
    assert not any(entry.settled for entry in ledger.entries()), "the next run asks again"


def test_unusable_answers_are_paid_for_twice_at_most_and_never_become_grades(ledger):
    script = Batches(lambda line: completion("It is quite relevant."))
    with pytest.raises(JudgeError, match="no grade"):
        by_batches(script, ledger, 4)
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [4, 4]
    entries = list(ledger.entries())
    assert [entry.settled for entry in entries] == [False] * 4 + [True] * 4
    assert all(entry.grades is None for entry in entries)


def test_a_batch_of_useless_answers_opens_the_breaker(ledger):
    script = Batches(lambda line: completion("It is quite relevant."))
    with pytest.raises(LlmError, match="5 times in a row"):
        by_batches(script, ledger, 20, breaker=5)
    assert len(list(ledger.entries())) == 20, "what was answered is on record"
    assert len(script.batches) == 1
    assert ledger.batches.all() == []


def test_an_expired_batch_gives_what_it_has_and_the_rest_is_asked_again(ledger):
    def reply(line):
        done = by_number(line)
        return (
            done
            if len(script.batches) > 1 or done["choices"][0]["message"]["content"] < '{"grade": 2'
            else None
        )

    script = Batches(reply, ends_as="expired")
    reporter = Silent()
    with FakeServer(script) as server:
        judge = LlmJudge(batched(server.url), ledger)
        graded = []
        judge.grade(list(pairs(10)), graded.append, reporter=reporter)
    assert len(graded) == 10
    assert all(one.judgment.grade is not None for one in graded)
    assert [batch["request_counts"]["completed"] for batch in script.batches.values()] == [4, 6]
    assert any("expired: 4 of 10 calls were answered" in text for text in reporter.warnings)


def test_a_batch_that_is_refused_ends_the_run_in_the_words_of_the_endpoint(ledger):
    script = Batches(ends_as="failed")
    with pytest.raises(LlmError, match="invalid_model: The model does not exist"):
        by_batches(script, ledger, 4)
    assert ledger.batches.all() == []


def test_a_full_queue_is_waited_for_while_other_batches_run(ledger):
    script = Batches(by_number, looks=2)
    whole = script._end

    def end(batch, status):
        if batch["id"] == "batch_4":
            status = "failed"
        whole(batch, status)
        if status == "failed":
            batch["errors"]["data"] = [{"code": "token_limit_exceeded", "message": "Enqueued token limit"}]

    script._end = end
    with FakeServer(script) as server:
        graded, _ = judge_all(batched(server.url, batch={"max_requests": 3}), ledger, pairs(6))
        assert None not in grades(graded)
        assert len(script.batches) == 3
        script.batches.clear()
        script._end = lambda batch, status: (
            whole(batch, "failed"),
            batch["errors"]["data"].clear(),
            batch["errors"]["data"].append({"code": "token_limit_exceeded", "message": "Limit: 90,000"}),
        )
        with pytest.raises(LlmError, match=r"Limit: 90,000.*batch.queued_tokens"):
            judge_all(batched(server.url), ledger, pairs(9))


def test_a_batch_that_is_cancelled_meanwhile_is_not_sent_again_behind_the_users_back(ledger):
    script = Batches(lambda line: by_number(line) if len(script.batches) > 1 else None, looks=10)

    def look(batch, look=script._look):
        if script.seen[batch["id"]] == 2 and len(script.batches) == 1:
            script.batches[batch["id"]]["status"] = "cancelling"
        script.looks = 10 if len(script.batches) == 1 else 1
        return look(batch)

    script._look = look
    with FakeServer(script) as server:
        with pytest.raises(LlmError, match=r"was cancelled while.*0 of 4 calls.*Run again"):
            judge_all(batched(server.url), ledger, pairs(4))
        assert len(script.batches) == 1
        graded, _ = judge_all(batched(server.url), ledger, pairs(4))
    assert grades(graded) == [0, 1, 2, 3]


def test_a_cut_file_is_fetched_again(ledger):
    fetched = []

    def edit(name, data):
        fetched.append(name)
        return data[:-40] if len(fetched) == 1 else data

    graded, _, _ = by_batches(Batches(by_number, edit=edit), ledger, 5)
    assert grades(graded) == [0, 1, 2, 3, 4]
    assert len(fetched) == 2


def test_lines_that_stay_broken_or_missing_are_asked_again_and_said_to_be_maybe_billed(ledger):
    def edit(name, data):
        lines = data.splitlines(keepends=True)
        return b"".join([*lines[:2], b'{"broken', b"\n", *lines[4:]]) if len(script.batches) == 1 else data

    script = Batches(by_number, edit=edit)
    graded, summary, _ = by_batches(script, ledger, 6, prices=PRICES)
    assert grades(graded) == [0, 1, 2, 3, 4, 0]
    assert summary.faults == {"missing_line": 2}
    assert summary.unseen_calls == 2
    assert summary.unseen_cost > 0


def test_two_different_answers_to_one_request_are_discarded(ledger):
    def edit(name, data):
        lines = data.splitlines()
        if len(lines) == 1:
            return data
        first, second = json.loads(lines[0]), json.loads(lines[1])
        mixed = json.dumps({**second, "custom_id": first["custom_id"]}).encode()
        # the third line occurs twice, word for word
        return b"\n".join([*lines, mixed, lines[2]])

    script = Batches(by_number, edit=edit)
    graded, summary, _ = by_batches(script, ledger, 5)
    assert grades(graded) == [0, 1, 2, 3, 4]
    assert summary.faults == {"double_answer": 1}
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [5, 1]


def test_answers_to_unknown_requests_are_ignored(ledger):
    def edit(name, data):
        stranger = {**json.loads(data.splitlines()[0]), "custom_id": "somebody else's"}
        return data + json.dumps(stranger).encode()

    reporter = Silent()
    with FakeServer(Batches(by_number, edit=edit)) as server:
        graded = []
        LlmJudge(batched(server.url), ledger).grade(list(pairs(3)), graded.append, reporter=reporter)
    assert len(list(ledger.entries())) == 3
    assert any("does not contain" in text for text in reporter.warnings)


def test_max_cost_holds_back_what_it_cannot_be_sure_of(ledger):
    with FakeServer(Batches(by_number)) as server:
        free = batched(server.url, prices=PRICES)
        most = LlmJudge(free, ledger).estimate(pairs(10)).price / 10
        limit = batched(server.url, prices=PRICES, max_cost=4.5 * most)
        script = server.script
        with pytest.raises(LlmError, match="max_cost"):
            judge_all(batched(server.url, prices=PRICES, max_cost=0.5 * most), ledger, pairs(10))
        assert not script.batches, "nothing was sent"
        graded, summary = judge_all(limit, ledger, pairs(10))
    assert None not in grades(graded)
    first, *_ = script.batches.values()
    assert first["request_counts"]["total"] == 4
    assert summary.cost <= 4.5 * most


def test_max_calls_counts_the_requests_of_batches(ledger):
    script = Batches(by_number)
    with pytest.raises(LlmError, match="max_calls"):
        by_batches(script, ledger, 10, max_calls=4)
    assert len(script.asked) == 4 == len(list(ledger.entries()))


def test_samples_are_calls_of_one_batch_each_with_its_seed(ledger):
    script = Batches(by_number)
    graded, _, _ = by_batches(script, ledger, 2, samples=3, endpoint={"temperature": 0.5})
    assert [one.samples for one in graded] == [(0, 0, 0), (1, 1, 1)]
    (batch,) = script.batches.values()
    assert sorted(line["body"]["seed"] for line in script.lines_of(batch)) == [0, 0, 1, 1, 2, 2]


def test_a_key_is_read_only_when_there_is_something_to_ask(ledger, monkeypatch):
    by_batches(Batches(by_number), ledger, 3)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    graded, summary = judge_all(
        batched("http://127.0.0.1:9/v1", endpoint={"api_key_env": "NO_SUCH_KEY"}), ledger, pairs(3)
    )
    assert grades(graded) == [0, 1, 2]
    assert summary.calls == 0


def test_a_key_does_not_come_back_in_words_or_answers(ledger, monkeypatch):
    key = "sk-test-0123456789abcdef"
    monkeypatch.setenv("BATCH_KEY", key)

    def reply(line):
        return (
            error(400, f"bad key {key}")
            if len(script.batches) == 1
            else completion(f'<think>{key}</think>{{"grade": 1}}')
        )

    script = Batches(reply)
    with FakeServer(script) as server:
        options = batched(server.url, endpoint={"api_key_env": "BATCH_KEY"}, max_unscored=1)
        judge_all(options, ledger, pairs(2))
        assert all(request["headers"]["authorization"] == f"Bearer {key}" for request in server.requests)
        judge_all(options, ledger, pairs(2))
    assert len(script.batches) == 2
    assert not any(key in line or key[4:] in line for line in ledger.export_lines())


@pytest.mark.parametrize("fields", [{"batch": {"poll": 0}}, {"batch": "yes"}, {"batch": {"window": "soon"}}])
def test_options_that_cannot_work_are_refused(fields):
    with pytest.raises(ValueError, match="batch"):
        config("http://127.0.0.1:9/v1", **fields)


def test_headers_that_change_answers_do_not_go_with_batches():
    with pytest.raises(ValueError, match="no headers of their own"):
        config("http://127.0.0.1:9/v1", batch=True, endpoint={"headers": {"X-Route": "eu"}})
    assert config("http://127.0.0.1:9/v1", batch=True, endpoint={"headers": {"X-Title": "me"}}).endpoint.batch
    assert config("http://127.0.0.1:9/v1", batch=False).endpoint.batch is None
