"""A check: one sentence that holds or does not, with the observation if it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import Passages
from harness.values import Document, HarnessError, Query, Silent

Outcome = Literal["ok", "failed", "note"]
Check = tuple[str, Callable[[], object]]
"""A sentence and its test, which raises HarnessError where it does not hold, Remark for a note."""
TEXTS = (
    "The storage yard holds 4,200 vehicles and was paved with recycled asphalt.",
    "A crane failure stopped loading for nine days in March.",
    "The fuel pump was recalled in 2024 because a seal could harden in the cold.",
    "年末公司共有员工39,717人。",
    "Ünïcode, “quotes” and an emoji 🚗 in one line.",
    "At the end of the year 39,717 people worked for the company.",
    "A crane failure stopped loading for nine days in March.",
)

QUESTIONS = (
    "Why was the fuel pump recalled?",
    "公司有多少员工？",
    "What stopped loading in March?",
    "🚗?",
)

DOCUMENTS = {
    "prose": " ".join(TEXTS[:3] * 60),
    "paragraphs": "\n\n".join(TEXTS * 10),
    "Windows line ends": "\r\n".join(TEXTS * 5),
    "Chinese": "储油罐区可停放4,200辆汽车；地面由再生沥青铺成。三月起重机故障，装船停了九天！" * 15,
    "emoji and combining marks": "a\u0301 🚗👩\u200d🔧 e\u0301\u0302 " * 40,
    "a table": "Year | Revenue | Profit\n" * 30,
    "one long word": "x" * 3000,
    "one character": "x",
}


class BrokenError(HarnessError):
    """A step returned something that breaks the contract."""


class Remark(Exception):  # noqa: N818 - not an error
    """A step returned something allowed but worth knowing."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check; ``message`` is empty if all is well."""

    outcome: Outcome
    about: str
    message: str = ""


def run_checks(checks: Sequence[Check]) -> Iterator[CheckResult]:
    """Try one after the other; where the first does not hold, the others would say the same."""
    for place, (about, attempt) in enumerate(checks):
        try:
            attempt()
        except Remark as remark:
            yield CheckResult("note", about, str(remark))
        except HarnessError as error:
            yield CheckResult("failed", about, str(error))
            if place == 0:
                return
        else:
            yield CheckResult("ok", about)


@contextmanager
def fresh_tools() -> Iterator[RunTools]:
    """The tools of a run that knows nothing of earlier ones."""
    with TemporaryDirectory() as folder, Context.at(Path(folder), Silent()) as context:
        yield RunTools(context)


def passages(texts: tuple[str, ...] = TEXTS) -> Passages:
    """Passages as a setting hands them to its retriever."""
    ids = tuple(f"d{i}:0-{len(text)}" for i, text in enumerate(texts))
    key = sha256("\0".join(texts).encode()).hexdigest()
    return Passages(ids, texts, tuple(map(len, texts)), key)


def queries(texts: tuple[str, ...] = QUESTIONS) -> list[Query]:
    """Queries by the names q1, q2 and so on."""
    return [Query(f"q{i}", text, "train") for i, text in enumerate(texts, 1)]


def documents() -> list[Document]:
    """Documents with special content, by a name for it."""
    return [Document(name, text, (), sha256(text.encode()).hexdigest()) for name, text in DOCUMENTS.items()]
