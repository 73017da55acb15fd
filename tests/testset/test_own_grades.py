"""A grade belongs to the one who gave it: from the labelling page to grades.csv and the datasheet."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.judge import krippendorff_alpha
from harness.labels import DisagreementRow, GradeRow, PassageSource, PoolRow, SetState, open_service, to_csv
from harness.values import Silent
from tests.command import table
from tests.label_page.pools import by
from tests.testset.helpers import run, step_printed, step_refused, testset

LABEL = ("label", "--pool", "set/pool.csv", "--documents", "docs/*")
SET = SetState(Path("set"))


def two_raters():
    """Two raters of 100 passages: the same grade for 84, alpha 0.63."""
    one = [0] * 70 + [4] * 30
    return one, [4] * 9 + one[9:93] + [0] * 7


@pytest.fixture
def graded(folder):
    """A test set whose passages Ada and Bob have graded on the labelling page."""
    sentences = "\n\n".join(f"Plant number {n} employs {n + 200} people in town {n}." for n in range(120))
    Path("docs/plants.txt").write_text(sentences, encoding="utf-8")
    Path("mine.csv").write_text("text\nHow many people does plant number 7 employ?\n", encoding="utf-8")
    testset("propose", "--from", "mine.csv")
    testset("choose", "--auto")
    testset("gather")
    pool = SET.rows(PoolRow)
    text = Path("docs/plants.txt").read_text(encoding="utf-8")
    spans = [(at, at + len(one)) for one in sentences.split("\n\n")[:100] for at in [text.index(one)]]
    pool = [replace(pool[0], doc_id="plants", start=a, end=b, page=None, text=text[a:b]) for a, b in spans]
    SET.path(PoolRow).write_text(to_csv(PoolRow, pool), encoding="utf-8")
    raters = two_raters()
    source = PassageSource(pool=SET.path(PoolRow), documents=("docs/*",))
    with open_service(source, Silent()) as service:
        ids = sorted(service.items, key=lambda name: service.items[name].start)
        for name, grades in zip(("Ada", "Bob"), raters, strict=True):
            for item_id, grade in zip(ids, grades, strict=True):
                service.rate(by(name), item_id, "grade", grade, 0)
        differ = [one for one, a, b in zip(ids, *raters, strict=True) if a != b]
        service.decide(by("Cleo"), differ[0], 3, "")
    return np.array(raters, dtype=float)


def test_two_raters_keep_their_agreement_from_the_page_to_the_export_and_status_repeats_nothing(
    graded, capsys
):
    def status():
        capsys.readouterr()
        assert testset("status") == 0
        said, _, following = capsys.readouterr().out.partition("Next")
        said = " ".join(said.replace("│", " ").split())
        return said, [line.strip() for line in following.splitlines()[1:] if line.strip()]

    assert (graded[0] == graded[1]).mean() == 0.84
    alpha = krippendorff_alpha(graded)
    assert round(alpha, 2) == 0.63
    said, following = status()
    assert "200 grades of the labelling page not read" in said
    # nobody is asked to grade again what was graded on the page
    read = "harness testset set grade --from set/people{0}.csv --by {1}".format
    assert following[1].endswith("--export set/people.csv")
    assert following[2:] == [read("", "Ada"), read("", "Bob")]
    assert run(*LABEL, "--export", "set/people.csv") == 0
    assert "100 rows of other raters left out" in step_printed(
        capsys, "grade", "--from", "set/people.csv", "--by", "Ada"
    )
    said, following = status()
    assert "100 grades of the labelling page not read yet" in said
    assert following[2] == read("-2", "Bob")
    assert testset("grade", "--from", "set/people.csv", "--by", "Bob") == 0
    assert {row.grader for row in SET.rows(GradeRow)} == {"Ada", "Bob"}
    disputed = SET.rows(DisagreementRow)
    assert len(disputed) == 16
    assert [(row.resolved, row.resolved_by) for row in disputed if row.resolved] == [(3, "Cleo")]
    # what the two differ on is to be resolved, not to be graded
    assert "# write 15 grades into the column resolved" in status()[1][0]
    assert testset("export") == 0
    sheet = Path("set/export/datasheet.md").read_text(encoding="utf-8")
    assert "Ada and Bob: 100 passages, the same grade for 84%" in sheet
    assert f"Krippendorff's alpha (ordinal) {alpha:.2f}" in sheet
    assert "16 disagreements, 1 of them resolved" in sheet
    assert "3, resolved by Cleo" in sheet
    assert sheet.count("| unjudged |") == 15
    assert sorted(row["grader"] for row in table("set/export/grades.csv")) == ["Ada"] * 100 + ["Bob"] * 100
    # no file is read as the work of somebody else
    assert run(*LABEL, "--merge", "--labels", "merged.csv") == 0
    before = SET.rows(GradeRow)
    capsys.readouterr()
    for made in ("set/people.csv", "merged.csv", "set/export/labels.csv", "set/export/grades.csv"):
        for step in ("grade", "review"):
            assert f"{made} holds the work of Ada" in step_refused(
                capsys, step, "--from", made, "--by", "NAME"
            )
    assert SET.rows(GradeRow) == before
