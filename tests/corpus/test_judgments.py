"""Graded spans that another tool has written."""

import json

import pytest

from harness.data.corpus.labels import read_judgments
from harness.values.errors import LabelError
from harness.values.types import Document

LABEL = {"query_id": "q", "doc_id": "d", "start": 0, "end": 5, "grade": 3}
DOCUMENTS = {"d": Document("d", "long enough", (), "")}


@pytest.fixture
def read(tmp_path):
    def read(*rows, documents=DOCUMENTS):
        file = tmp_path / "l.jsonl"
        file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
        return read_judgments(file, documents, ["q"])

    return read


def test_spans_are_read_as_they_are(read):
    judgments = read(LABEL, "", {**LABEL, "start": 2, "grade": None, "evidence": "f1", "judge": "ann"})
    assert [(j.start, j.end, j.grade, j.judge, j.evidence) for j in judgments] == [
        (0, 5, 3, "human", ""),
        (2, 5, None, "ann", "f1"),
    ]
    assert all(judgment.source.endswith("l.jsonl") for judgment in judgments)


def test_two_judges_who_differ_on_a_span_are_refused_with_the_step_that_merges_them(read):
    ann = {**LABEL, "judge": "ann", "evidence": "a"}
    ben = {**LABEL, "judge": "ben", "evidence": "b", "grade": 1}
    with pytest.raises(LabelError, match=r"l\.jsonl, line 2: ben gives 1, ann gives 3 on line 1 .* --merge"):
        read(ann, ben)
    # the same grade, or none, contradicts nobody
    assert len(read(ann, {**ben, "grade": 3}, {**ben, "judge": "cem", "grade": None})) == 3
