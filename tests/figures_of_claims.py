"""Where each figure of docs/claims.md stands: in the sentence or cell that its command fills."""

import re
from dataclasses import dataclass

from tests.docs_commands import ROOT

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-\d+)?|three|nine|eleven|twelve"
FIGURE = re.compile(rf"(?<![\w.])(?:{NUMBER})(?![\w.]*\w)", re.IGNORECASE)
COMMAND = re.compile(r"`[^`]*`|\]\([^)]*\)")


def one_line(text):
    return " ".join(text.split())


def plain(figure):
    """A figure without the marks that pages set differently: a plus, a long minus, commas, capitals."""
    return figure.casefold().replace("\u2212", "-").replace(",", "").removeprefix("+")


def section(page, heading):
    """The text of a page under a heading, without that of the next one; all of it without a heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if not heading:
        return text
    (part,) = (part for part in re.split(r"(?m)^#+ ", text) if part.partition("\n")[0] == heading)
    return part


def figures_at(template, text):
    """The figures at ``{}`` of a template that occurs once in a text, and where it occurs."""
    words = re.escape(template).replace(r"\{\}", rf"([-+\u2212]?(?:{NUMBER}))")
    matches = list(re.finditer(words, text))
    assert len(matches) == 1, f"{template!r} occurs {len(matches)} times"
    return [plain(figure) for figure in matches[0].groups()], matches[0].span()


@dataclass(frozen=True)
class Words:
    """A sentence of a page with its figures at ``{}``."""

    page: str
    template: str
    heading: str = ""

    def figures(self):
        return figures_at(self.template, one_line(section(self.page, self.heading)))[0]


@dataclass(frozen=True)
class Cell:
    """The first figures of a cell: of the first table after ``after``, by its row and column."""

    page: str
    heading: str
    row: str
    column: str
    after: str = ""
    count: int = 1

    def figures(self):
        text = section(self.page, self.heading)
        lines = text[text.index(self.after) :].splitlines()
        start = next(at for at, line in enumerate(lines) if line.startswith("|"))
        end = next((at for at in range(start, len(lines)) if not lines[at].startswith("|")), len(lines))
        header, _, *rows = ([cell.strip(" *") for cell in line[1:-1].split("|")] for line in lines[start:end])
        (row,) = (row for row in rows if row[0] == self.row)
        figures = re.findall(rf"[-+\u2212]?(?:{NUMBER})", row[header.index(self.column)])
        return [plain(figure) for figure in figures[: self.count]]


_CHOICES = ("reading-a-run.md", "What does each choice do?")
_FILINGS = ("study-retrieval.md", "")


def _meridian(row, column="ndcg_evidence@5000 (95%)"):
    return Cell("meridian.md", "Settings", row, column, after="Dense:")


def _choice(row):
    return Cell(*_CHOICES, row, "difference"), Cell(*_CHOICES, row, "95 % interval", count=2)


def _way(row):
    return Cell(*_FILINGS, row, "ndcg_text@10000")


# the beginning of a claim: its words with figures at {}, and where these are
PLACES = {
    "Smaller chunks rank better": (
        ("({} queries, labels of", Words("meridian.md", "over the {} queries with relevant text")),
        ("labels of {} characters)", Words("study-measure.md", "| Meridian (shipped) | 135 | {} characters")),
        ("chunks of 250 characters reach {} of", _meridian("recursive_token chunk=250/0")),
        ("of 1,000 characters {}, and", _meridian("recursive_token chunk=1000/0")),
        ("whole pages {}, by vectors", _meridian("page")),
        (
            "the other way round, {} and {}, because",
            _meridian("recursive_token chunk=250/0", "ndcg_exp@10"),
            _meridian("recursive_token chunk=1000/0", "ndcg_exp@10"),
        ),
        (
            "On {} filings ({} queries of FinanceBench)",
            Words("study-chunking.md", "are {} filings (10-K"),
            Words("study-chunking.md", "characters), {} queries and"),
        ),
        (
            "by `ndcg_evidence@{}` no chunking of {} is shown to be worse",
            Words("study-chunking.md", "By `ndcg_evidence@{}` nothing is ruled out", "What is real"),
            Words("study-chunking.md", "no chunking of {} is shown to be worse"),
        ),
    ),
    "Words added to vectors help": (
        (
            "({} queries on {} documents)",
            Words("reading-a-run.md", "of 1, for {} queries on {} documents"),
        ),
        (
            "gain {} over vectors alone (95 % interval {} to {})",
            *_choice("keyword + vector instead of vector search"),
        ),
        ("beats them by {} (", _choice("keyword instead of vector search")[0]),
        ("lose to vectors alone, {} against {} of", _way("minmax 1:1"), _way("dense")),
        ("as good as these, {};", _way("minmax 3:1")),
        (
            "the largest mean gain, to {}, which {} filings do not show to be more than chance",
            _way("fields, dense"),
            Words(
                "study-retrieval.md", "With {} filings and 55 pairs it is *not* shown to be more than chance"
            ),
        ),
        ("and three parts of vectors to one of words",),
    ),
    "A small reranker can help or harm": (
        (
            "gains {} to {} on the included collection",
            Words("meridian.md", "Late interaction gains {} to {} of `ndcg_evidence@5000`"),
        ),
        ("really so in {} settings of {} (", Words("meridian.md", "really so in {} settings of {} (")),
        ("could be found, {} ({} to {}) (", *_choice("reranked instead of no reranker")),
        (
            "lowers the mean in {} settings of {}, none of them",
            Words("study-chunking.md", "in {} settings of {}, by up to 0.058"),
        ),
    ),
    "How long labels are decides": (
        ("By `ndcg_text@{}` the same", Words("study-measure.md", "| ndcg_text@{} | as labelled")),
        (
            "rankings put {} characters",
            Words("study-measure.md", "With labels of 82 characters {} beats 1000"),
        ),
        ("characters above {} by", Words("study-measure.md", "With labels of 82 characters 250 beats {} by")),
        ("above 1,000 by {} with", Words("study-measure.md", "characters 250 beats 1000 by {}; with")),
        ("with labels of {} characters", Words("study-measure.md", "With labels of {} characters 250 beats")),
        ("and below by {} when", Words("study-measure.md", "surroundings it loses by {}.")),
        (
            "padded by {}.",
            Words("study-measure.md", "| by 250 | by {} |", "What is wrong with `ndcg_text`"),
        ),
        (
            "the sign of {} of the {} differences that it finds",
            Words("study-measure.md", ": {} of the {} differences that it finds keep their sign"),
        ),
    ),
    'The figures of "Evaluating Chunking"': (
        ("On {} of the study's documents", Words("reproduction.md", "On the same {} documents it gives")),
        ("documents ({} queries)", Words("reproduction.md", "means over the {} queries.")),
        (
            "are within {} points of the study's own code in every setting",
            Words("reproduction.md", "IoU within {} points in every setting"),
        ),
    ),
    "Faster than the fastest other tool": (
        ("{} queries from a Parquet file", Words("speed.md", "to the mean, on {} queries", "Scoring")),
        (
            "take {} times less time than the fastest other tool",
            Cell(
                "speed.md",
                "Scoring",
                "parquet against the fastest peer, rows in random order",
                "reached, elapsed",
            ),
        ),
        (
            "from dictionaries {} times less (",
            Cell(
                "speed.md",
                "Scoring",
                "dictionaries against pytrec_eval, filled in rank order",
                "reached, elapsed",
            ),
        ),
    ),
}


def faults(claim, places):
    """The figures of a claim that differ from the place they are from, and those that have no place."""
    text = one_line(claim)
    wrong, spans = [], []
    for template, *sources in places:
        shown, span = figures_at(template, text)
        spans.append(span)
        there = [figure for source in sources for figure in source.figures()]
        if shown != there:
            wrong.append(f"{template}: {shown} in the claim, {there} at its place")
    for start, end in [*spans, *(match.span() for match in COMMAND.finditer(text))]:
        text = text[:start] + " " * (end - start) + text[end:]
    return wrong + [f"{figure} has no place" for figure in FIGURE.findall(text)]
