"""Whose figure a draft asks for, and of when: among reports of several companies a draft names both.

Rules for English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from harness.labels.testset.propose.material import TableRow
from harness.values import Document

_PART = re.compile(r"[^\W\d_]{3,}")
_OWN = re.compile(r"^(?:the|our) ", re.IGNORECASE)
_COMPANY = re.compile(r"\b(?:the|our) company\b", re.IGNORECASE)
# behind these stands what a figure is compared with
_COMPARED = re.compile(r"\b(?:compared|versus|against|from|than)\b")
_DATE = r"(?:fiscal )?(?:year )?(?:[A-Z][a-z]+ \d{1,2}, )?(?:19|20)\d\d\b"
_PERIOD = re.compile(
    r"\b(?:in|for|during|as of|at|at the end of|through) (?:the )?"
    rf"(?:(?:\w+ )?(?:quarter|years?|months) )?(?:of |ended )?{_DATE}"
)


def owners_of(documents: Sequence[Document]) -> dict[str, str]:
    """The company of each document; '' where none is found, for all where there is only one.

    It is the first part of a document's id that its text has as a name: `ULTABEAUTY_2023` is of Ulta Beauty.
    """
    owners = {document.doc_id: _owner(document) for document in documents}
    several = len({name.casefold() for name in owners.values() if name}) > 1
    return owners if several else dict.fromkeys(owners, "")


def _owner(document: Document) -> str:
    for part in _PART.findall(document.doc_id):
        spelt = re.compile(rf"\b{' ?'.join(part)}\b", re.IGNORECASE)
        found: Counter[str] = Counter(one for one in spelt.findall(document.text) if one[0].isupper())
        # in capitals on a cover, and as it is usually written elsewhere
        usual = [one for one in found if not one.isupper()] or list(found)
        small = sum(one[0].islower() for one in spelt.findall(document.text))
        if usual and found.total() > small:
            return max(usual, key=lambda one: (found[one], one))
    return ""


def owned(subject: str, owner: str) -> str:
    """A subject with its owner: `Adobe's contract assets`."""
    subject = str(_COMPANY.sub(owner, subject)) if owner else subject
    if not owner or owner.casefold() in subject.casefold():
        return subject
    if subject.startswith(("all ", "every ", "each ")):
        return f"{subject} at {owner}"
    own = f"{owner}'" if owner.endswith("s") else f"{owner}'s"
    return f"{own} {_OWN.sub('', subject)}"


def period_of(rest: str) -> str:
    """The period of a figure in the words behind it, such as `in fiscal 2022`; '' where there is none."""
    found = _PERIOD.search(_COMPARED.split(rest)[0])
    return str(found[0]) if found else ""


def contradicted(rows: Iterable[TableRow]) -> set[str]:
    """The labels of rows that have two figures for one column: a question could mean either."""
    figures: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for column, cell in row.cells.items():
            figures.setdefault((row.label.casefold(), column), set()).add(cell)
    return {label for (label, _), cells in figures.items() if len(cells) > 1}
