"""An expert reviews golden answers in a page or a sheet: question, contexts and answer side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from harness.data import read_rows
from harness.labels.labelling.grading_sheet import write_sheet
from harness.labels.testset.set_state import Outcome, SetState
from harness.labels.testset.testset_rows import AnswerRow, Place, ReviewedAnswer
from harness.models import filled
from harness.store import write_text
from harness.values import ConfigError, counted, refuse_existing, suggestion

_PAGE = Path(__file__).parent / "assets" / "answers.html"
COLUMNS = ("query_id", "question", "contexts", "answer", "reviewed")
_ENGLISH = {
    "contexts-name": "Contexts",
    "answer-name": "Golden answer",
    "draft-name": "As it was",
    "keep": "Keep, next",
    "before": "Back",
    "next": "Skip",
    "save": "Save as a file",
    "reviewed": "reviewed",
    "open": "Not reviewed yet.",
    "changed": "Reviewed: changed.",
    "agreed": "Reviewed: as it was.",
    "add": "Add this sentence to the answer",
    "saved": "Saved.",
    "not_saved": "Not saved yet; this page tries again every few seconds. Leave it open.",
    "who": "Who reviews the golden answers?",
    "your_name": "Your name",
    "begin": "Begin",
    "not_kept": "This browser keeps nothing: save as a file before you close the page.",
}
_CHINESE = {
    "contexts-name": "相关段落",
    "answer-name": "标准答案",
    "draft-name": "原来的答案",
    "keep": "确认，下一题",
    "before": "上一题",
    "next": "跳过",
    "save": "保存为文件",
    "reviewed": "已审核",
    "open": "尚未审核。",
    "changed": "已审核：已修改。",
    "agreed": "已审核：未修改。",
    "add": "把这句话加入答案",
    "saved": "已保存。",
    "not_saved": "尚未保存；页面每隔几秒重试，请不要关闭。",
    "who": "谁来审核标准答案？",
    "your_name": "姓名",
    "begin": "开始",
    "not_kept": "此浏览器不保存内容：关闭页面前请保存为文件。",
}


@dataclass(frozen=True, slots=True)
class AnswerToReview:
    """A golden answer and the contexts that it was written from."""

    row: AnswerRow
    contexts: Sequence[Place]


def write_review(state: SetState, path: Path, rows: Sequence[AnswerToReview]) -> Outcome:
    """Write the answers to a page (.html) or a sheet (.xlsx, .csv); raises ConfigError where it is there."""
    refuse_existing(path)
    if not rows:
        raise no_answer(state)
    if path.suffix.lower() == ".html":
        write_text(path, _page(state, rows))
        advice = "Open it in a browser, and save what was reviewed as a file."
    else:
        write_sheet(path, [_sheet_row(answer) for answer in rows], COLUMNS, "to review")
        advice = "Edit the column answer; write yes into reviewed where it is right as it stands."
    return Outcome(
        (f"{path}: {counted(len(rows), 'answer')} to review. {advice}",),
        next=(
            f"{state.command} answer --from "
            f"{'reviewed.csv' if path.suffix.lower() == '.html' else quote(str(path))} --by NAME",
        ),
    )


def no_answer(state: SetState) -> ConfigError:
    """The error of a review of nothing."""
    return ConfigError(f"There is no golden answer to review. Write them first: {state.command} answer")


def _sheet_row(answer: AnswerToReview) -> dict[str, Any]:
    contexts = "\n\n".join(f"[{at}] {place.text}" for at, place in enumerate(answer.contexts, 1))
    row = answer.row
    return dict(zip(COLUMNS, (row.query_id, row.question, contexts, row.answer, ""), strict=True))


def _page(state: SetState, rows: Sequence[AnswerToReview]) -> str:
    chinese = state.config.language == "zh"
    items = [
        {
            "query_id": answer.row.query_id,
            "question": answer.row.question,
            "answer": answer.row.answer,
            "contexts": [{"where": where(place, chinese), "text": place.text} for place in answer.contexts],
        }
        for answer in rows
    ]
    content = {
        "name": state.folder.absolute().name,
        "words": review_words(chinese),
        "items": items,
    }
    # no text of a document can end the script that holds it
    data = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    return filled(_PAGE.read_text("utf-8"), {"language": "zh" if chinese else "en", "data": data})


def where(place: Place, chinese: bool) -> str:
    """The document of a passage, and its page if it has pages."""
    page = f"，第 {place.page} 页" if chinese else f", page {place.page}"
    return place.document.doc_id + (page if place.page is not None else "")


def read_review(state: SetState, path: Path, by: str, rows: Sequence[AnswerRow]) -> Outcome:
    """Take the answers that a person has reviewed in a sheet or page; all of them, or none.

    A row counts as reviewed if its answer was changed, or has ``yes`` in ``reviewed``. Raises CorpusError
    that names all lines at fault: a question that is not in the test set or was reworded since, one that is
    there twice, an answer that was emptied; ConfigError without a name.
    """
    if not by.strip() or set(",;") & set(by):
        raise ConfigError("Say who reviewed, in a name without comma and semicolon: --by NAME.")
    before = {row.query_id: row for row in rows}

    def fault(line: ReviewedAnswer) -> str:
        row = before.get(line.query_id)
        if row is None:
            near = suggestion(line.query_id, before)
            return f"there is no kept question {line.query_id!r}{near}. Correct the id, or remove the row."
        if _plain(line.question) != _plain(row.question):
            return f"{line.query_id} was reworded since. Write a new sheet: {state.command} answer --sheet"
        empty = line.reviewed and not line.answer.strip()
        return (
            f"{line.query_id} is reviewed and has no answer. Write one, or remove the row." if empty else ""
        )

    after: dict[str, AnswerRow] = {}
    for line in read_rows(path, ReviewedAnswer, fault=fault):
        row, text = before[line.query_id], line.answer.strip()
        if line.reviewed or (text and _plain(text) != _plain(row.answer)):
            after[row.query_id] = reviewed_row(row, text, by)
    changed_now = sum(reviewed.answer != before[name].answer for name, reviewed in after.items())
    state.write("answer", f"reviewed by {by}", {AnswerRow: [after.get(row.query_id, row) for row in rows]})
    summary = f"{counted(len(after), 'answer')} reviewed by {by}, {changed_now} of them changed."
    return Outcome((f"{state.path(AnswerRow)}: {summary}",))


def reviewed_row(row: AnswerRow, answer: str, by: str) -> AnswerRow:
    """An answer as a person has left it: as it was but for white space, or changed."""
    if _plain(answer) == _plain(row.answer):
        return replace(row, reviewed_by=by)
    before = "" if row.draft else row.before or row.answer
    return replace(row, answer=answer, by=by, note="", before=before, reviewed_by=by)


def review_words(chinese: bool) -> Mapping[str, str]:
    """The words of the page, in the language of the prompts."""
    return _CHINESE if chinese else _ENGLISH


def _plain(text: str) -> str:
    return " ".join(text.split())


def review_facts(rows: Sequence[AnswerRow]) -> Mapping[str, int]:
    """How many answers a model drafted or people gave, and how many were reviewed, and changed since."""
    drafted, given = [row for row in rows if row.draft], [row for row in rows if not row.draft and row.answer]
    return {
        "drafted": len(drafted),
        "drafted_reviewed": sum(bool(row.reviewed_by) for row in drafted),
        "drafted_changed": sum(_plain(row.answer) != _plain(row.draft) for row in drafted),
        "given": len(given),
        "given_reviewed": sum(bool(row.reviewed_by) for row in given),
        "given_changed": sum(_plain(row.answer) != _plain(row.before or row.answer) for row in given),
    }
