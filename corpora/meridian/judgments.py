"""Compiles the judged queries (``source/judgments/*.txt``) to ``queries.csv`` and two files of labels.

The quickstart has files of its own: queries on the shorter documents (``source/quickstart/*.txt``) and, of
those above, all on the other short documents and the first of every type on the annual report.

A query is a line ``id type split | text``, then ``= answer``, then one line for each judged span::

    mq001 lookup train | How many people did Meridian employ at the end of 2025?
    = 39,717
    4 headcount | As of December 31, 2025, we employed ... worldwide. // optional note
    0 - | 39,722 ... 40,113 @ after this text

A span is given by its words; `` ... `` leaves out its middle; `` @ `` gives text after which to look, where
the words stand more than once. ``-`` is no evidence name. ``! file`` names the document of what follows.
``= none`` marks an unanswerable query, ``* mq001`` adds spans to a query of another file. Spaces, hyphens
and line ends never matter when a span is looked up; the quote in ``labels.csv`` is what pypdf extracts.
``judged.csv`` has these rows and, with grade 0, the spans of ``source/passes/dismissed.csv``, which were read
for a query and held no answer to it.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

from pypdf import PdfReader

_QUERY = re.compile(r"(m[a-z]\d+) (\w+) (train|validation) \| (.+)")
_SPAN = re.compile(r"([0-4]) ([\w-]+) \| (.+?)(?: @ (.+?))?(?: // (.+))?")
_DROPPED = re.compile(r"[\s\-\u00ad]+")
LABEL_COLUMNS = ("query_id", "document", "page", "quote", "start", "end", "grade", "evidence", "note")
QUERY_COLUMNS = ("query_id", "text", "type", "answer", "answerable", "split", "note")


@dataclass(frozen=True)
class Span:
    """A judged span as written: words, and where to look for them."""

    document: str
    grade: int
    evidence: str
    words: str
    after: str
    note: str


@dataclass
class JudgedQuery:
    """A query as written, with its spans."""

    query_id: str
    kind: str
    split: str
    text: str
    answer: str = ""
    answerable: bool = True
    note: str = ""
    spans: list[Span] = field(default_factory=list)


class Text:
    """The extracted text of a document, searched without regard to spaces and hyphens."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.paged = path.suffix == ".pdf"
        if self.paged:
            pages = [page.extract_text() for page in PdfReader(path).pages]
        else:
            pages = [path.read_text(encoding="utf-8")]
        self.pages = pages
        self._raw = "\f".join(pages)
        self._at = [i for i, c in enumerate(self._raw) if not _DROPPED.fullmatch(c) and c != "\f"]
        self._squeezed = "".join(self._raw[i] for i in self._at)

    def find(self, words: str, after: str = "") -> tuple[int, str]:
        """Return the page and the extracted quote of a span; the words must stand once behind ``after``."""
        head, _, tail = words.partition(" ... ")
        begin = self.begin(words, after)
        end = begin + len(squeeze(head))
        if tail:
            found = self._squeezed.find(squeeze(tail), end)
            if found < 0:
                raise ValueError(f"{self.name}: {tail!r} does not follow {head!r}")
            end = found + len(squeeze(tail))
        raw = self._raw[self._at[begin] : self._at[end - 1] + 1]
        if "\f" in raw:
            raise ValueError(f"{self.name}: the span {words!r} runs over the end of a page")
        if len(raw) > 2500:
            raise ValueError(f"{self.name}: the span {words!r} has {len(raw)} characters")
        page = self._raw.count("\f", 0, self._at[begin]) + 1
        if squeeze(self.pages[page - 1]).count(squeeze(raw)) > 1:
            raise ValueError(f"{self.name}: {words!r} stands more than once on page {page}; quote more of it")
        return page, re.sub(r"\s+", " ", raw)

    def begin(self, words: str, after: str = "") -> int:
        """Return the offset of a span in the squeezed text."""
        start = self._only(after, 0, unique=False) if after else 0
        return self._only(words.partition(" ... ")[0], start, unique=not after)

    def _only(self, words: str, start: int, unique: bool) -> int:
        squeezed = squeeze(words)
        found = self._squeezed.find(squeezed, start)
        if found < 0:
            raise ValueError(f"{self.name}: {words!r} is not in the text")
        if unique and self._squeezed.find(squeezed, found + 1) >= 0:
            raise ValueError(f"{self.name}: {words!r} stands more than once; say @ after what")
        return found


def read(folder: Path) -> list[JudgedQuery]:
    """Read every judged query below ``folder``, in order of file name."""
    queries: list[JudgedQuery] = []
    document = ""
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("! "):
                document = line[2:].strip()
            elif line.startswith("* "):
                queries.append(JudgedQuery(line[2:].strip(), "", "", ""))
            elif match := _QUERY.fullmatch(line):
                queries.append(JudgedQuery(*match.groups()))
            elif line.startswith("= "):
                answer, _, note = line[2:].partition(" // ")
                queries[-1].answerable = answer != "none"
                queries[-1].answer = answer if answer != "none" else ""
                queries[-1].note = note
            elif match := _SPAN.fullmatch(line):
                grade, evidence, words, after, note = match.groups()
                queries[-1].spans.append(
                    Span(document, int(grade), evidence.strip("-"), words, after or "", note or "")
                )
            else:
                raise ValueError(f"{path.name}:{number}: cannot read {line!r}")
    return queries


def write(source: Path, folders: list[Path], target: Path) -> None:
    """Write the files of queries and labels below ``target``; ``folders`` hold the documents."""
    queries = read(source / "judgments")
    texts = {path.name: Text(path) for folder in folders for path in sorted(folder.iterdir())}
    labels = _labels(queries, texts)
    judged = [*labels, *dismissed(source / "passes" / "dismissed.csv")]
    _save(target / "labels.csv", LABEL_COLUMNS, labels)
    _save(target / "judged.csv", LABEL_COLUMNS, judged)
    _save_queries(target / "queries.csv", queries)
    more = read(source / "quickstart")
    kept = chosen(queries)
    ids = {query.query_id for query in kept}
    added = [*_labels(more, texts), *dismissed(source / "passes" / "quickstart-dismissed.csv")]
    rows = [*(row for row in judged if row[0] in ids), *added]
    _save(target / "quickstart_judged.csv", LABEL_COLUMNS, rows)
    _save_queries(target / "quickstart_queries.csv", [*kept, *(query for query in more if query.kind)])


def chosen(queries: list[JudgedQuery]) -> list[JudgedQuery]:
    """What the quickstart asks of the older queries: the first of each type on the report, all others."""
    first: dict[str, str] = {}
    report = [query for query in queries if query.query_id.startswith("mq")]
    for query in sorted(report, key=lambda query: query.query_id):
        first.setdefault(query.kind, query.query_id)
    return [query for query in queries if query not in report or query.query_id in first.values()]


def _labels(queries: list[JudgedQuery], texts: dict[str, Text]) -> list[tuple[object, ...]]:
    labels: list[tuple[object, ...]] = []
    problems = []
    for query in queries:
        for span in query.spans:
            text = texts[span.document]
            try:
                page, quote = text.find(span.words, span.after)
            except ValueError as error:
                problems.append(f"{query.query_id}: {error}")
                continue
            shown = page if text.paged else ""
            labels.append(
                (query.query_id, span.document, shown, quote, "", "", span.grade, span.evidence, span.note)
            )
    if problems:
        raise ValueError("spans not found:\n" + "\n".join(problems))
    return labels


def _save_queries(path: Path, queries: list[JudgedQuery]) -> None:
    _save(
        path,
        QUERY_COLUMNS,
        [
            (q.query_id, q.text, q.kind, q.answer, "yes" if q.answerable else "no", q.split, q.note)
            for q in sorted(queries, key=lambda q: q.query_id)
        ],
    )


def dismissed(path: Path) -> list[tuple[object, ...]]:
    """What was read and held no answer, as rows of labels; offsets count the characters of the whole text."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (
                row["query_id"],
                row["document"],
                row["page"],
                "",
                row["start"],
                row["end"],
                0,
                "",
                f"dismissed in pooling (round {row['rounds'].replace(' ', ' and ')})",
            )
            for row in csv.DictReader(file)
        ]


def squeeze(words: str) -> str:
    """The text without spaces, hyphens and line ends."""
    return _DROPPED.sub("", words)


def _save(path: Path, columns: tuple[str, ...], lines: list[tuple[object, ...]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    path.write_bytes(out.getvalue().encode("utf-8"))
