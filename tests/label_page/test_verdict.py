"""The page in the order that settles the verdict: what raters see next, and what it tells of the verdict."""

import json
import threading
import time
from pathlib import Path

import pytest

from harness.labels.label_page import verdict as verdict_of
from harness.labels.label_page.opening import PassageSource, open_service
from harness.labels.label_page.queue import as_listed
from harness.labels.label_page.verdict import AGAIN
from harness.report.by_labels import read_by_labels
from harness.values.errors import ConfigError, LabelError
from harness.values.progress import Silent
from tests.command import exit_code, printed, refused, table
from tests.label_page.pools import by
from tests.labelling.mines import relevant, write_results


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_results(tmp_path)


def opened(results, **more):
    return open_service(PassageSource(results=results, top=5), Silent(), **more)


def grade(item):
    return relevant({"query_id": item["query_id"], "passage": item["text"]})


def walk(service, rater, most, say=None):
    """Grade up to ``most`` passages as they come, and the ids of those."""
    say = say or (lambda number, item: ("grade", grade(item)))
    seen, step = [], service.enter(rater)
    while step["item"] and len(seen) < most:
        name = step["item"]["item_id"]
        seen.append(name)
        service.rate(by(rater), name, *say(len(seen), step["item"]), 0)
        step = service.step(rater, after=name)
    return seen


def sentences_about(service, fresh=True):
    """The verdict once it is computed."""
    deadline = time.monotonic() + 60
    answer = service.firmness(fresh)
    while answer["working"] and time.monotonic() < deadline:
        time.sleep(0.01)
        answer = service.firmness(False)
    assert not answer["working"]
    return answer


def test_passages_come_as_labels_next_draws_them_for_every_rater(results):
    assert exit_code("labels", "next", results, "--top", 5, "--output", "sheet.csv") == 0
    drawn = [(row["query_id"], row["document"], int(row["start"])) for row in table("sheet.csv")]
    assert len(drawn) == 25
    with opened(results) as service:
        ada = walk(service, "Ada", 40)
        items = [service.state.item(name) for name in ada]
        assert [(one.query_id, one.doc_id, one.start) for one in items][:25] == drawn
        batches = json.loads(Path("labels.order.json").read_text())["batches"]
        assert len(batches) == 2
        # who comes later follows the same draws, and draws nothing
        assert walk(service, "Bob", 40) == ada
        assert json.loads(Path("labels.order.json").read_text())["batches"] == batches
    # another start goes on in the middle of a batch, and draws the next one when it is through
    with opened(results) as service:
        rest = walk(service, "Ada", 16)
        drawn = json.loads(Path("labels.order.json").read_text())["batches"]
        known = [service.state.item(name) for name in rest]
        names = [one["item_id"] for batch in drawn for one in batch["drawn"]][40:56]
        assert [f"{one.query_id} {one.doc_id}:{one.start}-{one.end}" for one in known] == names


def test_passages_of_results_may_come_as_listed(results):
    with opened(results) as service:
        drawn, every = walk(service, "Ada", 5), list(service.items)
    with opened(results, order=as_listed) as service:
        assert walk(service, "Bob", 5) == every[:5] != drawn
        assert sentences_about(service)["sentences"]


def test_what_is_skipped_or_disputed_blocks_no_batch_and_counts_as_no_grade(results):
    with opened(results) as service:
        before = walk(
            service, "Ada", 30, lambda n, item: ("skip", "torn") if n % 3 == 0 else ("grade", grade(item))
        )
        assert len(json.loads(Path("labels.order.json").read_text())["batches"]) == 2
        # 30 less the 10 that were skipped, and the one that the labels file has
        assert sentences_about(service)["sentences"][0].startswith("21 of ")
        walk(service, "Bob", 2, lambda n, item: ("grade", 4 - grade(item)))
        # two are disputed now; deciding one of them brings it back
        assert sentences_about(service)["sentences"][0].startswith("19 of ")
        service.decide(by(), before[0], 4, "")
        assert sentences_about(service)["sentences"][0].startswith("20 of ")


def test_the_verdict_is_computed_after_ten_labels_and_in_a_thread_of_its_own(results, monkeypatch):
    real, go_on, entered = verdict_of.by_labels, threading.Event(), threading.Event()

    def slow(*given):
        entered.set()
        assert go_on.wait(60)
        return real(*given)

    with opened(results) as service:
        assert service.about()["verdict"] is True
        first = sentences_about(service, fresh=False)["sentences"]
        monkeypatch.setattr(verdict_of, "by_labels", slow)
        walk(service, "Ada", AGAIN - 1)
        assert service.firmness(False) == {**service.firmness(False), "sentences": first, "working": False}
        assert not entered.is_set()
        walk(service, "Ada", 1)
        assert service.firmness(False)["working"]
        assert entered.wait(60)
        # while it computes, labels are saved and what was known stays on show
        assert len(walk(service, "Ada", 3)) == 3
        assert service.firmness(True)["sentences"] == first
        go_on.set()
        # the ten that were there when it began, and the one of the labels file; then all of them
        answer = sentences_about(service, fresh=False)
        assert answer["sentences"][0].startswith("11 of ")
        assert sentences_about(service, fresh=True)["sentences"][0].startswith("14 of ")


def test_a_verdict_that_cannot_be_computed_is_reported_and_stops_nobody(results):
    with opened(results) as service:
        walk(service, "Ada", 2)
        Path("labels.order.json").write_text("{}")
        assert "labels.order.json is damaged" in sentences_about(service)["problem"]
        assert len(walk(service, "Ada", 2)) == 2
    with pytest.raises(LabelError, match="damaged"), opened(results):
        pass


def test_raters_see_no_setting_of_a_passage_and_the_verdict_can_be_hidden_from_them(results):
    settings = {
        one["name"] for one in json.loads((results / "record.json").read_text())["config"]["settings"]
    }
    with opened(results, show_verdict=False) as service:
        assert service.about()["verdict"] is False
        with pytest.raises(LabelError, match="does not show"):
            service.firmness(True)
        shown = json.dumps([service.enter("Ada"), service.question_list("Ada", 0), service.about()])
        assert not [name for name in settings if name in shown]
    with opened(results) as service:
        assert {row[0] for row in sentences_about(service)["means"]} == settings


def test_merged_grades_and_skips_go_on_in_labels_next(results, capsys):
    with opened(results) as service:
        walk(service, "Ada", 48, lambda n, item: ("skip", "torn") if n % 6 == 0 else ("grade", grade(item)))
        last = sentences_about(service)
    assert "40 labels added; 8 skipped" in printed(capsys, "label", "--results", results, "--merge")
    assert exit_code("labels", "next", results, "--top", 5) == 0
    assert read_by_labels(results).sentences == last["sentences"]
    # what is merged, skipped passages among it, is not asked for again
    with opened(results) as service:
        assert not service.items.keys() & service.state.done("Ada")


def test_conflicting_options_are_reported(results, capsys):
    assert "leave out CONFIG" in refused(capsys, "label", "my.yaml", "--results", results)
    assert "goes with --results" in refused(capsys, "label", "my.yaml", "--hide-verdict")


def test_results_of_a_judge_take_a_file_of_people_of_their_own(results, capsys):
    """The results as if a language model had graded them, and no label file was named."""
    path = results / "record.json"
    record = json.loads(path.read_text())
    record["config"]["relevance"] = {"judge": {"kind": "llm"}}
    record["config"]["labels"] = None
    record["judge"] = {"model": "model-2026"}
    path.write_text(json.dumps(record))
    with pytest.raises(ConfigError, match="--labels"), opened(results):
        pass
    source = PassageSource(results=results, top=5, labels=Path("people.csv"))
    with open_service(source, Silent()) as service:
        walk(service, "Ada", 12)
        assert "model-2026" in " ".join(sentences_about(service)["sentences"])
    assert Path("people.labelling.sqlite").exists()
    assert "people.csv: 12 labels added" in printed(
        capsys, "label", "--results", results, "--labels", "people.csv", "--merge"
    )
