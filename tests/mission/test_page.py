"""Each document has a page in docs, with every row of it and the figures that its worked examples come to."""

import contextlib
import io
import re
import shlex

import pytest

from harness.running import load_config
from tests.docs_commands import ROOT, shown
from tests.mission.figures import ROWS as FIGURES
from tests.mission.test_rows import ROWS
from tests.test_docs_commands import TARGETS, fits

DOCS = ROOT / "docs"
# the beginnings of the ids of a document, by its page
PAGES = {
    "recipes": ("card",),
    "recipes-ndcg": ("ndcg",),
    "recipes-testset": ("set",),
    "recipes-abilities": ("abil", "tier"),
    "recipes-ragas": ("ragas",),
    "recipes-hybrid": ("hyb",),
}
PAGE_OF = {begin: page for page, begins in PAGES.items() for begin in begins}


def page_of(row_id):
    return PAGE_OF[row_id.partition("-")[0]]


def rows_of(page, heading):
    """The rows of the tables under a heading, by the id in their first cell, with what stands behind it."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    return [tuple(line.strip("| ").split(" | ", 1)) for line in section.splitlines() if " | " in line]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_row_is_on_the_page_of_its_document(row):
    page = page_of(row["id"])
    heading = "The frame" if page == "recipes" else "Its methods"
    explained = [words for row_id, words in rows_of(page, heading) if row_id == row["id"]]
    assert explained
    # what runs it, and where more is said
    assert all("`" in words and "](" in words for words in explained)


def methods_of(page):
    """The rows of the methods of a page: what each is here, and the command that runs it, without quotes."""
    for row_id, words in rows_of(page, "The frame" if page == "recipes" else "Its methods"):
        if re.match(r"[a-z]+-\d", row_id):
            _, here, command, _ = re.split(r"(?<!\\) \| ", words)
            yield row_id, here, command.strip("`")


METHODS = [(page, *method) for page in PAGES for method in methods_of(page)]
CONFIG = re.compile(r"configs/[\w./-]+\.yaml")


@pytest.mark.parametrize(("page", "row", "here", "command"), METHODS)
def test_every_method_has_a_command_that_runs_it(page, row, here, command, monkeypatch):
    monkeypatch.chdir(ROOT)
    program, *words = shlex.split(command)
    if program == "harness":
        fits(words, whole=True)
    elif program == "make":
        assert words[0] in TARGETS
    else:
        assert (program, words[0]) == ("python", "-m")
    named = CONFIG.findall(command)
    text = ""
    for path in named:
        text += (ROOT / path).read_text(encoding="utf-8")
        if "prompts" not in path:
            load_config(ROOT / path)
    if words[0] == "bench":
        # and sets what the row names
        for kind in re.findall(r"(?:kind|judge): (\w+)", here):
            assert re.search(rf"(?:kind|judge): {kind}\b", text), kind
        for key in re.findall(r"(?:^|[{ `])(\w+): [\w\[{]", here):
            assert re.search(rf"\b{key}:", text), key


def test_every_recipe_has_a_command_and_every_file_of_recipes_a_page():
    pages = {page: (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    for text in pages.values():
        for section in text.partition("\n## Recipes\n")[2].split("\n### ")[1:]:
            assert re.search(r"^```sh\nharness |^```sh\nmkdir ", section, re.MULTILINE), section[:60]
    files = {f"configs/recipes/{path.name}" for path in (ROOT / "configs" / "recipes").glob("*.yaml")}
    # the command of a test set copies its file; tuning has a page of its own
    assert files - set(CONFIG.findall(" ".join(pages.values()))) == {"configs/recipes/tune.yaml"}


def test_a_page_names_no_row_of_another_document():
    for page in PAGES:
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        ids = set(re.findall(r"^\| ([a-z]+-\d+)", text, re.MULTILINE))
        assert {page_of(row_id) for row_id in ids} == {page}
        assert ids <= {row["id"] for row in ROWS}


def written(figure):
    """How the parts of a figure stand on a page: words and numbers, and a row of grades or votes as one."""
    if not isinstance(figure, list):
        return [str(figure)]
    if all(isinstance(part, int) or part in ("YES", "NO") for part in figure):
        return [" ".join(map(str, figure))]
    return [text for part in figure for text in written(part)]


@pytest.mark.parametrize("row", FIGURES, ids=[f"{row['id']} {row['place']}" for row in FIGURES])
def test_every_figure_of_an_example_is_in_its_row(row):
    rows = rows_of(page_of(row["id"]), "Worked examples")
    shown_there = " ".join(words for row_id, words in rows if row_id == row["id"])
    for text in written(row["figure"]):
        assert re.search(rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)", shown_there), text


LINES = [
    command.line
    for page in PAGES
    for command in shown(DOCS / f"{page}.md")
    if command.words[:2] == ["python", "-c"]
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_python_prints_what_stands_behind_it(line):
    (_, _, code) = shlex.split(line, comments=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue().strip() == line.rpartition("# ")[2]


def test_the_figures_of_the_recipe_for_a_10_k_are_printed():
    assert [line.rpartition("# ")[2] for line in LINES] == ["0.7632", "0.0", "0.9505", "True"]
