"""Whether a draft can be asked: it needs a subject that is a whole noun phrase, and a whole span behind it.

Among reports of several companies it also says whose figure it asks for, and of when. Rules for
English. Each drops more than it must: reading a question that nobody would ask takes longer than writing one
that is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from harness.labels.testset.propose.material import TableRow
from harness.values import Document

_WORD = re.compile(r"[^\W\d_]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# no noun phrase ends so, and in a subject none of these stands for a noun
_INSIDE = _set(
    "that which who when where if is are was were be been has have had will would may can these this those "
    "above such following"
)
_LOOSE = _INSIDE | _set(
    "a an the and or of in on at by for from to with as per than its their our not no see under within"
)
_NO_START = ("of", "and", "or", "we", "included", "including", "based")
_MONTHS = _set("january february march april may june july august september october november december")
# parts of a report that say nothing by themselves
_FORMAL = re.compile(
    r"^(?:item|part|section|article|note|schedule|exhibits?|appendix|signatures?|see|table of|index|form"
    r"|mine safety|other information|controls|legal proceedings|properties|risk factors|summary)\b",
    re.IGNORECASE,
)
_LONGEST = 12
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


def is_noun_phrase(text: str, fewest: int = 2) -> bool:
    """Whether words can be the subject of a question: begun, ended, without a verb, not said twice.

    It has ``fewest`` words of content or more: `expense` alone says too little.
    """
    words = text.lower().split()
    if not words or len(words) > _LONGEST or not re.fullmatch(r"[^.;:!?|]*", text):
        return False
    last = words[-1].strip(",()'’\"")
    if last in _LOOSE or last.endswith("ed") or _INSIDE & set(words) or words[0] in _NO_START:
        return False
    if _MONTHS & set(words) or text.count("(") != text.count(")"):
        return False
    found = [word for word in _WORD.findall(text) if len(word) > 2 and word.lower() not in _LOOSE]
    return len({word.lower() for word in found}) >= fewest and not _has_heading(found)


def _has_heading(words: Sequence[str]) -> bool:
    """Whether a heading ran into the words below it, which say it again."""
    again = [at for at, word in enumerate(words) if word.lower() in map(str.lower, words[:at])]
    return len(again) > 1 or any(words[at][0].isupper() for at in again)


def is_whole_sentence(text: str) -> bool:
    """Whether a text begins and ends as a sentence does, and is none of a table."""
    box = re.search("[☐-☒]", text)
    return not box and bool(re.match(r"[“\"(]?[A-Z0-9]", text)) and text.endswith((".", ".”", '."', ".)"))


def is_heading(title: str) -> bool:
    """Whether a heading names something to ask about: two words of content, no number of a section."""
    words = title.split()
    return len(words) <= 8 and title[0].isupper() and not _FORMAL.match(title) and is_noun_phrase(title)


def is_whole_row(row: TableRow, labels: Counter[str]) -> bool:
    """Whether a row says what its figures are of: its label is unique where columns are named by words.

    Of a line of figures the label has two words of content, and nothing but figures follows.
    """
    line = row.place.text.strip()
    if "," in line and "\t" not in line and not line.startswith(row.label):
        return False
    after = line.partition(row.label)[2]
    if not _WORD.search(after) and all(column.isdecimal() for column in row.cells):
        return (
            row.label[0].isupper()
            and not row.label.startswith(("Other", "Less"))
            and is_noun_phrase(row.label)
        )
    delimited = not all(column.isdecimal() for column in row.cells)
    return delimited and labels[row.label] == 1 and is_noun_phrase(row.label, 1)


class Vocabulary:
    """The words of the documents, by which words that a PDF has split or run together are told."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word.lower() for text in self._texts for word in _WORD.findall(text))

    def is_broken(self, text: str) -> bool:
        """Whether two neighbours are one word more often (`con tent`), or one word is two (`taxrate`)."""
        words, counts = [word.lower() for word in _WORD.findall(text)], self._counts
        if any(min(counts[a], counts[b]) < counts[a + b] for a, b in pairwise(words)):
            return True
        return any(
            min(counts[word[:at]], counts[word[at:]]) > 5 * counts[word]
            for word in words
            if len(word) > 9
            for at in range(3, len(word) - 2)
        )

    def is_name(self, text: str) -> bool:
        """Whether words are a name: nowhere small, or each of them more often with a capital."""
        small = any(text.lower() in written for written in self._texts)
        return not small or self._is_title(text)

    def _is_title(self, text: str) -> bool:
        words = [word for word in _WORD.findall(text) if word.lower() not in _LOOSE]
        if len(words) < 2 or not all(word[0].isupper() for word in words):
            return False
        written, small = (sum(one.count(form) for one in self._texts) for form in (text, text.lower()))
        return written > small


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
