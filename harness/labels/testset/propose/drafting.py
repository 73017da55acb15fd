"""Questions drafted without a model, from headings, tables and sentences. They are marked as drafts."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.propose.askable import (
    Vocabulary,
    contradicted,
    is_heading,
    is_noun_phrase,
    is_whole_row,
    is_whole_sentence,
    owned,
    owners_of,
    period_of,
)
from harness.labels.testset.propose.material import (
    TableRow,
    heading_at,
    headings_of,
    sentences,
    table_rows,
)
from harness.labels.testset.rows import Place, Question
from harness.values import Document, main_script, on_one_line, outside_latin

BY = "drafted offline"
# sentences that begin with as many same words are one text twice
_OPENING = 5
# years from the usual one in which somebody may still ask
_FAR = 13
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# a sentence that refers to the one before makes no question
_SUBJECT = (
    r"(?P<subject>(?!(?:Its|Their|This|These|Those|It|They|There|Here|That|Such"
    r"|If|When|While|Where|As|Because|Since|Although|Unless|But|And|Or|What|Who|How|Which"
    r"|In|At|On|For|During|By|Of|To|From|With|After|Before|Under|Of)\b)"
    r"(?:The |Our |All |Every |Each )?[^\W\d_][^.,;:!?()]{2,70}?)"
)
# only what is a figure: of other sentences "What is …?" asks for too little
_ABOUT = "(?:about |approximately |around |nearly |almost |over |under |up to |at least |at most )?"
_FIGURE = rf"{_ABOUT}[$€£¥]? ?\d[\d,.]*(?![^\W\d_])"
_IS = re.compile(rf"^{_SUBJECT} (?P<verb>is|are|was|were) (?P<rest>{_FIGURE}[^;!?]*)\.?$")
# past forms with their base
_PAST = (
    "rose:rise fell:fall grew:grow sold:sell paid:pay held:hold increased:increase decreased:decrease "
    "declined:decline employed:employ opened:open covered:cover reached:reach owned:own"
)
_BASE = dict(pair.split(":") for pair in _PAST.split())
_DID = re.compile(
    rf"^{_SUBJECT} (?P<verb>{'|'.join(_BASE)}|employs|sells|pays|opens|covers|holds|owns)"
    rf" (?P<rest>(?:by |to )?{_FIGURE}[^;!?]*)\.?$"
)
# a word cut at the end of a line, or a sentence with a verb of its own
_BROKEN = re.compile(r"\w- |\b(?:is|are|was|were|has|have|had|will|would|which|that|who)\b")
_MOVES = ("rise", "fall", "grow", "increase", "decrease", "decline")
_HOW_MANY = ("sell", "open")
_ZH_FACT = re.compile(
    r"(?P<subject>[^，。；：、\s（）()]{2,24})(?P<verb>为|是|达到|达|共计|合计|约)(?P<rest>[^，。；]*\d)"
)
_NUMBERED = re.compile(
    r"^(?:(?:Item|Note|Chapter|Section|Part|Appendix|Article)\s+)?"
    r"(?:\d+[A-Z]?|[IVX]+)[.\d]*[.:)]?\s*[—–-]?\s+",
    re.IGNORECASE,
)
# where the noun of a label ends: "cash equivalents at beginning of year"
_AFTER_NOUN = re.compile(r" (?:at|of|for|in|from|to|by|on|per|used|provided|with|under|before|after)\b|[,(]")
# not the first word of a sentence with the name behind it, and no part of a longer name
_NAME = re.compile(
    r"\b(?!(?:The|An?|In|On|At|Our|Its|This|That|For|By|Of|And|From|To|With|As)\b)"
    r"[A-Z][\w&-]+(?: [A-Z][\w&-]+)+\b(?<!ican)(?<!pean)(?! (?:and|of|for) [A-Z])"
)


def draft(documents: Sequence[Document], count: int, seed: int) -> list[Question]:
    """Up to ``count`` questions of as many kinds as the text gives, in shares of `KINDS`.

    Where a kind has too little to go by, others take its place. The same text and seed give the same drafts.
    They have no ids yet.
    """
    texts = {document.doc_id: document.text for document in documents}
    vocabulary = Vocabulary(list(texts.values()))
    owners = owners_of(documents)
    rows = [
        replace(row, label=owned(_common(row.label), name) if name else row.label)
        for document in documents
        for name in [owners[document.doc_id]]
        for row in _whole_rows(document, vocabulary)
    ]
    random.Random(f"{seed}:rows").shuffle(rows)
    by_document = [list(_facts(document, vocabulary, owners[document.doc_id])) for document in documents]
    facts = _spread(by_document, seed)
    # each kind begins with other rows, so that not four questions ask about one
    third = len(rows) // 3
    compared, others = [*rows[third:], *rows[:third]], [*rows[2 * third :], *rows[: 2 * third]]
    found: dict[str, list[Question]] = {
        "fact": facts,
        "table": [_of_cell(row, column, "table") for row in rows for column in islice(row.cells, 1)],
        "two_places": list(_two_places(documents, vocabulary)),
        "comparison": list(_comparisons(compared)),
        "paraphrase": [again for one in reversed(facts) if (again := _other_words(one)) is not None],
        "other": [_of_cell(row, column, "other") for row in others for column in islice(row.cells, 1, 2)],
        "unanswerable": list(_unanswerable(rows, facts, texts)),
    }
    kinds = [kind for kind in KINDS if found[kind]]
    if not kinds:
        return []
    wanted = quotas(count, kinds)
    chosen: list[Question] = []
    rest: list[Question] = []
    seen: set[str] = set()
    for kind in kinds:
        fresh = list({one.text: one for one in found[kind] if one.text not in seen}.values())
        seen |= {one.text for one in fresh}
        chosen += fresh[: wanted[kind]]
        rest += fresh[wanted[kind] :]
    chosen += rest[: count - len(chosen)]
    return [replace(one, by=BY) for one in chosen]


def question(text: str, kind: str, *places: Place) -> Question:
    """A question whose evidence would be in one or two places."""
    suggested: dict[str, Any] = {}
    for suffix, place in zip(("", "_2"), places, strict=False):
        passage = on_one_line(place.text)
        columns = {"document": place.document.doc_id, "page": place.page, "passage": passage}
        columns |= {"start": place.start, "end": place.end}
        suggested |= {f"{name}{suffix}": value for name, value in columns.items()}
    return Question(query_id="", text=text, kind=kind, **suggested)


def _asked(about: str, kind: str, chinese: str, english: str, *places: Place) -> Question:
    """A question in the language of the text that it is about."""
    return question(chinese if is_chinese(about) else english, kind, *places)


def is_chinese(text: str) -> bool:
    """Whether a text is to be asked about in Chinese."""
    return outside_latin(text) > 0.3 and main_script(text) == "Chinese"


def _whole_rows(document: Document, vocabulary: Vocabulary) -> list[TableRow]:
    """The rows of tables that can be asked about."""
    rows = list(table_rows(document))
    labels, two_figures = Counter(row.label for row in rows), contradicted(rows)
    return [
        row
        for row in rows
        if row.label.casefold() not in two_figures
        if is_chinese(row.label + "".join(row.cells))
        or (
            is_whole_row(row, labels)
            and not vocabulary.is_broken(row.label)
            # the name of a place or a segment does not say what its figures are
            and not (
                _YEAR.fullmatch(next(iter(row.cells)))
                and "\t" not in row.place.text
                and vocabulary.is_name(row.label)
            )
        )
    ]


def _facts(document: Document, vocabulary: Vocabulary, owner: str) -> Iterator[Question]:
    asked: dict[str, dict[str, Place]] = {}
    for place in sentences(document):
        sentence = on_one_line(place.text)
        text = _ask(sentence, document.text, owner)
        if text and not vocabulary.is_broken(text):
            asked.setdefault(text, {}).setdefault(sentence, place)
    for text, its in asked.items():
        # which one of several sentences is meant, nobody could tell
        if len(its) == 1:
            yield question(text, "fact", *its.values())
    headings, last, zh = headings_of(document), "", is_chinese(document.text[:5000])
    for place in sentences(document):
        title, sentence = heading_at(headings, place.start), place.text.strip()
        # the first sentence below each heading, which is not the heading itself
        if title in ("", last) or title in place.text:
            continue
        last = title
        if len(title) < 4 or not any(letter.isalpha() for letter in title):
            continue
        bare = _NUMBERED.sub("", title).strip() or title
        whole = is_whole_sentence(sentence) and len(sentence.split()) >= 8
        if title.endswith(("?", "？")):
            # the document asks it itself
            yield question(title, "fact", place)
        elif zh or (is_heading(bare) and whole and bare.casefold() not in sentence.casefold()):
            chinese = f"关于“{title}”，{document.doc_id} 是怎么说的？"
            english = f"What does {owner or document.doc_id} say about {bare}?"
            yield _asked(document.text[:5000], "fact", chinese, english, place)


def _ask(sentence: str, text: str, owner: str) -> str:
    """The question that a sentence of a text answers; '' where no rule fits, or the period is not named.

    Without a period a past figure is of no time, unless the text, no filing, speaks of its subject only here.
    """
    if is_chinese(sentence):
        found = _ZH_FACT.search(sentence)
        return f"{found['subject']}是多少？" if found else ""
    found = _IS.match(sentence) or _DID.match(sentence)
    if found is None or _BROKEN.search(found["subject"]):
        return ""
    if not (is_whole_sentence(sentence) and is_noun_phrase(found["subject"], _fewest(found["subject"]))):
        return ""
    verb, subject = found["verb"], owned(_lowered(found["subject"]), owner)
    base, helper = _BASE.get(verb, verb.removesuffix("s")), "did" if verb in _BASE else "does"
    when = ""
    if verb in ("was", "were", *_BASE):
        when = period_of(found["rest"])
        if not when and (owner or text.casefold().count(found["subject"].casefold()) > 1):
            return ""
    end = f" {when}?" if when else "?"
    if verb in ("is", "are", "was", "were"):
        return f"What {verb} {subject}{end}"
    if base in _MOVES:
        if found["rest"].startswith("to "):
            # where it moved to is not by how much
            return ""
        return f"By how much {helper} {subject} {base}{end}"
    if base == "employ":
        return f"How many people {helper} {subject} employ{end}"
    return f"{'How many' if base in _HOW_MANY else 'What'} {helper} {subject} {base}{end}"


def _fewest(subject: str) -> int:
    """With an article one word of content is enough: `the warranty`, but not `expense`."""
    return 1 if subject.partition(" ")[0] in ("The", "Our", "All", "Every", "Each") else 2


def _lowered(subject: str) -> str:
    """A subject inside of a question: its article small, its names as they are."""
    first, _, rest = subject.partition(" ")
    if rest and first in ("A", "An", "The", "Our", "All", "Every", "Each"):
        return f"{first.lower()} {rest}"
    return _common(subject)


def _of_cell(row: TableRow, column: str, kind: str) -> Question:
    english = f"What is the {column} of {row.label}?"
    if _YEAR.fullmatch(column):
        english = f"What {_was(row.label)} in {column}?"
    return _asked(row.label + column, kind, f"{row.label}的{column}是多少？", english, row.place)


def _was(label: str) -> str:
    """A label of a table as the subject of a question about the past: `was goodwill`, `were dividends`."""
    noun = _AFTER_NOUN.split(label)[0].rstrip()
    plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    return f"{'were' if plural else 'was'} {_common(label)}"


def _change(label: str, one: str, two: str) -> str:
    if _YEAR.fullmatch(one) and _YEAR.fullmatch(two):
        return f"How did {_common(label)} change from {min(one, two)} to {max(one, two)}?"
    return f"How does {_common(label)} differ between {one} and {two}?"


def _common(label: str) -> str:
    """A label with a small first letter, unless its words are a name or an abbreviation."""
    first, _, rest = label.partition(" ")
    capitals = not first[1:].islower() or any(word[:1].isupper() for word in rest.split())
    return label if not rest or "'" in first or capitals else label[0].lower() + label[1:]


def _comparisons(rows: Sequence[TableRow]) -> Iterator[Question]:
    """Two columns of a row, and two rows of a table, in turn."""
    for row in rows:
        for one, two in islice(combinations(row.cells, 2), 1):
            chinese = f"{row.label}在{one}与{two}之间有何差别？"
            english = _change(row.label, one, two)
            yield _asked(row.label + one, "comparison", chinese, english, row.place)
    by_document: dict[str, list[TableRow]] = {}
    for row in rows:
        by_document.setdefault(row.place.document.doc_id, []).append(row)
    for own in by_document.values():
        for left, right in zip(own[::2], own[1::2], strict=False):
            column = next((name for name in left.cells if name in right.cells), "")
            if column and left.label != right.label:
                chinese = f"{left.label}与{right.label}的{column}相比如何？"
                english = f"How do {left.label} and {right.label} compare in {column}?"
                yield _asked(left.label + column, "comparison", chinese, english, left.place, right.place)


def _two_places(documents: Sequence[Document], vocabulary: Vocabulary) -> Iterator[Question]:
    """Names inside of exactly two or three whole sentences, not next to each other."""
    places: dict[str, list[Place]] = {}
    titles = {one.title.casefold() for document in documents for one in headings_of(document)}
    for document in documents:
        for place in sentences(document):
            text = place.text.strip()
            if not is_whole_sentence(text):
                continue
            for name in dict.fromkeys(_NAME.findall(text, 1)):
                places.setdefault(" ".join(name.split()), []).append(place)
    for name, its in places.items():
        first, last = its[0], its[-1]
        apart = first.document.doc_id != last.document.doc_id or last.start - first.end > 1000
        heads = name.isupper() or any(name.casefold() in title for title in titles)
        same = first.text.casefold().split()[:_OPENING] == last.text.casefold().split()[:_OPENING]
        if len(its) in (2, 3) and apart and not heads and not same and vocabulary.is_name(name):
            yield question(f"What do the documents say about {name}?", "two_places", first, last)


def _other_words(one: Question) -> Question | None:
    """A fact asked otherwise; a draft of a draft."""
    text = one.text
    if found := re.match(r"What (?P<verb>is|are|was|were) (?P<what>.+)\?$", text):
        what, when = found["what"], period_of(found["what"])
        what = what.removesuffix(f" {when}") if when else what
        text = f"Can you tell me what {what} {found['verb']}{f' {when}' if when else ''}?"
    elif found := re.match(r"(?P<what>.+)是多少？$", text):
        text = f"请问{found['what']}有多少？"
    else:
        return None
    return replace(one, text=text, kind="paraphrase", note=f"other words for: {one.text}")


def _unanswerable(
    rows: Sequence[TableRow], facts: Sequence[Question], texts: dict[str, str]
) -> Iterator[Question]:
    """Questions about a year that no document names."""
    years = Counter(int(year) for text in texts.values() for year in _YEAR.findall(text))
    # near the year that they are about, so that the question is not absurd
    usual = max(years, key=lambda year: (years[year], year), default=2024)
    near = (year for apart in range(1, _FAR) for year in (usual + apart, usual - apart))
    missing = next((year for year in near if 1900 <= year < 2100 and year not in years), None)
    if missing is None:
        return
    note = f"no document names {missing}; check that none answers it"
    for row in rows:
        chinese, english = f"{row.label}在{missing}年是多少？", f"What {_was(row.label)} in {missing}?"
        asked = _asked(row.label, "unanswerable", chinese, english, row.place)
        yield replace(asked, answerable=False, note=note)
    for one in facts:
        found = _YEAR.search(one.text)
        if found:
            text = one.text[: found.start()] + str(missing) + one.text[found.end() :]
            yield replace(one, text=text, kind="unanswerable", answerable=False, note=note)


def _spread(groups: Sequence[list[Question]], seed: int) -> list[Question]:
    """The questions of all documents in turn, each document's in an order drawn by the seed."""
    for number, group in enumerate(groups):
        random.Random(f"{seed}:{number}").shuffle(group)
    longest = max(map(len, groups), default=0)
    return [group[at] for at in range(longest) for group in groups if at < len(group)]
