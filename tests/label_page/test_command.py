"""`harness label`: from a configuration or a pool file to labels that the benchmark reads."""

import signal
import threading
from pathlib import Path

import httpx
import pytest

from harness.labels import PassageSource, PassageToGrade, open_service, sheet_rows, write_sheet
from harness.labels.label_page.opening import read_pool
from harness.report import cells_of
from harness.values import Silent
from tests.command import exit_code, printed, refused, table
from tests.label_page.pools import DOCUMENTS, ITEMS, QUESTIONS, TEXTS, by, document, write_folder
from tests.label_page.served import Page

YAML = (
    "name: mine\ndocuments: docs/*\nqueries: queries.csv\nlabels: labels.csv\n"
    "retrieve: {kind: bm25, top_k: 10}\nmeasures: [ndcg_exp@10, judged@10]\n"
    "chunk:\n  - {kind: recursive_token, chunk_size: [40, 200], chunk_overlap: 0}\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    (tmp_path / "queries.csv").write_text(
        "query_id,text,answerable\nq1,Which plant was closed in Lyon?,yes\nq2,Where are cars?,yes\n"
        "q3,Who closed the moon?,no\n"
    )
    (tmp_path / "my.yaml").write_text(YAML)
    return tmp_path


def grade_all(source, grade=2, rater="Ada"):
    with open_service(source, Silent()) as service:
        step = service.enter(rater)
        while step["item"]:
            service.rate(by(rater), step["item"]["item_id"], "grade", grade, 0)
            step = service.step(rater, after=step["item"]["item_id"])
        return len(service.items)


def judged():
    rows = cells_of(Path("results/mine"), "per_query")
    return {float(row["value"]) for row in rows if row["measure"] == "judged@10" and row["query_id"] != "q3"}


def test_from_no_label_at_all_to_a_top_that_is_judged(folder, capsys):
    total = grade_all(PassageSource(config=Path("my.yaml")))
    assert total >= 4
    assert (folder / "labels.labelling.sqlite").exists()
    assert f"{total} labels added" in printed(capsys, "label", "my.yaml", "--merge")
    assert exit_code("bench", "my.yaml") == 0
    assert judged() == {1.0}
    # everything is a label now: there is nothing to do, and nothing is added twice
    assert "nothing to label" in refused(capsys, "label", "my.yaml", "--no-browser")
    assert f"0 labels added; {total} were there already" in printed(capsys, "label", "my.yaml", "--merge")


def test_a_pool_file_is_exported_as_labels_that_the_benchmark_reads(folder, capsys):
    source = PassageSource(pool=Path("pool.csv"), documents=("docs/*",))
    assert grade_all(source) == len(ITEMS)
    words = ["label", "--pool", "pool.csv"]
    assert f"ratings.csv: {len(ITEMS)} grades by Ada" in printed(capsys, *words, "--export", "ratings.csv")
    assert "exists already" in refused(capsys, *words, "--export", "ratings.csv")
    assert "--labels labels.csv" in refused(capsys, *words, "--documents", "docs/*", "--merge")
    merge = [*words, "--documents", "docs/*", "--merge", "--labels", "labels.csv"]
    assert f"labels.csv: {len(ITEMS)} labels added." in printed(capsys, *merge)
    assert [row["judge"] for row in table("ratings.csv")] == ["Ada"] * len(ITEMS)
    assert exit_code("bench", "my.yaml") == 0
    found = {
        (row["document"], int(row["start"]), int(row["end"]))
        for row in cells_of(Path("results/mine"), "judgments")
    }
    assert {(one.doc_id, one.start, one.end) for one in ITEMS} <= found


def test_a_document_that_cannot_be_read_is_no_hindrance_where_the_pool_was_made_without_it(folder):
    (folder / "docs" / "damaged.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    assert grade_all(PassageSource(pool=Path("pool.csv"), documents=("docs/*",))) == len(ITEMS)


def test_a_pool_file_and_a_configuration_go_together_and_a_question_without_an_answer_is_not_asked(folder):
    with open_service(PassageSource(config=Path("my.yaml")), Silent()) as service:
        assert set(service.questions) == {"q1", "q2"}
    source = PassageSource(config=Path("my.yaml"), pool=Path("pool.csv"))
    assert source.state_path == Path("pool.labelling.sqlite")
    assert grade_all(source) == len(ITEMS)


def test_two_raters_who_differ_are_exported_each_and_left_out_of_the_merged_labels(folder, capsys):
    source = PassageSource(pool=Path("pool.csv"), documents=("docs/*",))
    grade_all(source)
    grade_all(source, 3, "Bob")
    words = ["label", "--pool", "pool.csv", "--documents", "docs/*"]
    assert exit_code(*words, "--export", "all.csv") == 0
    assert {(row["judge"], row["grade"]) for row in table("all.csv")} == {("Ada", "2"), ("Bob", "3")}
    merged = printed(capsys, *words, "--merge", "--labels", "merged.csv")
    assert f"merged.csv: 0 labels added; {len(ITEMS)} left out, on which raters differ" in merged
    assert {row["settled"] for row in table("merged.disputed.csv")} == {"Ada 2; Bob 3; open"}
    for way in (["--export", "ann.csv"], ["--merge", "--labels", "more.csv"]):
        assert "no rater 'bob' (did you mean 'Bob'?)" in refused(capsys, *words, *way, "--rater", "bob")
    assert not Path("ann.csv").exists()
    # what single raters say is no label: a benchmark refuses it, and says what to do
    Path("all.csv").rename("labels.csv")
    assert "merge them first" in refused(capsys, "bench", "my.yaml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pool", "pool.csv"], "the documents it was made of"),
        (["my.yaml", "--documents", "docs/*"], "leave --documents out"),
        (["my.yaml", "--merge"], "nothing has been labelled yet"),
        (["--pool", "pool.csv", "--documents", "docs/*", "--merge"], "--labels labels.csv"),
    ],
)
def test_what_cannot_be_done_is_reported_with_the_remedy(folder, words, message, capsys):
    assert message in refused(capsys, "label", *words)


def test_a_pool_file_keeps_offsets_order_and_priority(tmp_path):
    path = write_folder(tmp_path)
    text = path.read_text(encoding="utf-8").replace("page,text", "priority,text", 1)
    path.write_text(text.replace(",,The plant in Graz", ",2.5,The plant in Graz"), encoding="utf-8")
    documents = {name: document(name, text, (0,)) for name, text in TEXTS.items()}
    questions, items = read_pool(path, documents)
    assert list(questions) == ["q1", "q2"]
    assert [one.item_id for one in items] == [one.item_id for one in ITEMS]
    assert [one.priority for one in items] == [None, 2.5, None, None, None]
    assert items[0].page == 1


def test_a_sheet_of_harness_labels_is_a_pool_file_too(tmp_path):
    wanted = [PassageToGrade.of(DOCUMENTS[one.doc_id], one.query_id, one.start, one.end) for one in ITEMS]
    for name in ("sheet.csv", "sheet.xlsx"):
        write_sheet(tmp_path / name, sheet_rows(wanted, QUESTIONS))
        found, items = read_pool(tmp_path / name, DOCUMENTS)
        assert [one.item_id for one in items] == [one.item_id for one in ITEMS]
        assert found == QUESTIONS


def test_ctrl_c_closes_the_page_and_says_where_the_labels_are(folder):
    page = Page("--pool", "pool.csv", "--documents", "docs/*")
    saved = page.post(
        "say", rater="Ada", request="request-1", item=ITEMS[0].item_id, kind="grade", value=3, seen=0
    )
    assert saved.json()["rating"]["grade"] == 3
    out, err = page.stop(signal.SIGINT)
    assert page.process.returncode == 0
    assert "Stopped. The labels are in pool.labelling.sqlite" in out
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_killed_page_loses_nothing_that_it_said_was_saved(folder):
    acknowledged = {}
    count = 0
    for round_of in range(4):
        page = Page("--pool", "pool.csv", "--documents", "docs/*")
        answered = page.client.get("/api/step", params={"rater": "Ada", "item": ITEMS[0].item_id}).json()
        if acknowledged:
            assert answered["item"]["rating"]["grade"] == acknowledged[ITEMS[0].item_id]
        killer = threading.Timer(0.4 + 0.3 * round_of, page.process.send_signal, [signal.SIGKILL])
        killer.start()
        try:
            while True:
                count += 1
                one, value = ITEMS[count % len(ITEMS)], count % 5
                answer = page.post(
                    "say",
                    rater="Ada",
                    request=f"request-{count}",
                    item=one.item_id,
                    kind="grade",
                    value=value,
                    seen=0,
                )
                if answer.status_code == 200:
                    acknowledged[one.item_id] = value
        except httpx.TransportError:
            # the last request was sent and never answered: it may stand, and must not be damaged
            last = (one.item_id, value)
        page.stop(signal.SIGKILL)
        with open_service(PassageSource(pool=Path("pool.csv"), documents=("docs/*",)), Silent()) as service:
            stand = {label.item_id: label.rating.grade for label in service.state.labels()}
            assert service.state._read("PRAGMA integrity_check") == [("ok",)]
        assert stand in (acknowledged, {**acknowledged, last[0]: last[1]})
        acknowledged = stand
    assert count > 20
