"""The pages of README and docs/: all are in the index, and links and messages lead to them."""

import re
import shutil

import pytest
import yaml

from harness.judge import load_prompt
from harness.measures.answer.answer_calls import STEPS, prompt_of
from harness.report import SCORED_FROM
from harness.running import STEP_KINDS, load_config
from harness.values import guide
from tests.command import printed, run
from tests.docs_commands import PAGES, ROOT
from tests.test_compare_command import add_prices, write_results
from tests.test_docs_commands import MINE

INDEX = ROOT / "docs" / "README.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def headings(page):
    """What a link to a heading of a page ends with, as Markdown renderers name it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_link_leads_to_a_file_and_heading():
    for page in PAGES:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in link:
                continue
            path, _, heading = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, link)
            assert not heading or heading in headings(target), (page.name, link)


# whole pages that `make docs` writes from the code
GENERATED = {
    "api.md",
    "configuration.md",
    "answer-measures.md",
    "measures.md",
    "results.md",
    "reading-a-run.md",
}
NOT_PROSE = re.compile(r"<!-- .*?made by.*?<!-- end of[^>]*>|^ *```.*?^ *```|^(?:\||    ).*?$", re.M | re.S)


def test_prose_is_wrapped():
    for page in PAGES:
        if page.name not in GENERATED and not page.name.startswith("study-"):
            prose = NOT_PROSE.sub("", page.read_text(encoding="utf-8"))
            assert [line for line in prose.splitlines() if len(line) > 120] == [], page.name


def test_the_index_has_a_line_for_every_page():
    text = INDEX.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert all(len(LINK.findall(line)) == 1 for line in lines)
    named = [link.partition("#")[0] for link in LINK.findall(text)]
    assert sorted(one for one in named if not one.startswith("..")) == sorted(
        page.relative_to(INDEX.parent).as_posix() for page in INDEX.parent.rglob("*.md") if page != INDEX
    )
    assert "(docs/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


YAML = {
    f"{page.name} {number}": yaml.safe_load(block)
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```yaml.*?\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    )
    # those are jobs of GitHub and GitLab
    if not re.search(r"^(jobs|include):", block, re.MULTILINE)
}
# files of prompts, and configurations
PROMPTS = {name: block for name, block in YAML.items() if "user" in block}
BLOCKS = {name: block for name, block in YAML.items() if name not in PROMPTS}
# what some sections do not stand without
BESIDE = {
    "answer_measures": {"answer": {"kind": "extractive"}},
    "rerank": {"retrieve": {"kind": "bm25", "top_k": 50}},
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_every_configuration_of_a_page_is_valid(block, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    base = yaml.safe_load(MINE)
    for section, beside in BESIDE.items():
        base |= beside if section in block else {}
    path = tmp_path / "my.yaml"
    path.write_text(yaml.safe_dump(base | block), encoding="utf-8")
    assert len(load_config(path).settings) >= 1


def test_prompts_of_a_page_can_be_read(tmp_path):
    assert len(PROMPTS) >= 2
    for name, block in PROMPTS.items():
        path = tmp_path / "prompt.yaml"
        path.write_text(yaml.safe_dump(block, allow_unicode=True), encoding="utf-8")
        if name.startswith("judge.md"):
            assert load_prompt(str(path)).user == block["user"]
        else:
            assert prompt_of(STEPS["attributed"], "en", str(path)).user == block["user"]


def test_the_page_of_a_step_names_every_kind():
    for step, page in (("retrieve", "retrieval.md"), ("rewrite", "rewriting.md")):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        # a user's own is on a page of its own, and a template says what it does
        missing = {kind for kind in STEP_KINDS[step] if f"`{kind}`" not in text}
        assert missing <= {"template", "python", "http"}, page


GATE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def test_the_files_that_the_gate_page_copies_are_a_baseline(tmp_path, capsys):
    whole = write_results(tmp_path / "whole", {"a": 0.5})
    add_prices(whole, {"a": 900})
    (tmp_path / "base").mkdir()
    names = re.search(r"\{(per_query[^}]+)\}", GATE)[1].split(",")
    for name in names:
        shutil.copy(whole / name, tmp_path / "base" / name)
    code, out, _ = run(capsys, "gate", whole, "--baseline", tmp_path / "base")
    assert (code, "passed" in out) == (0, True)
    assert "Costs are left out" not in printed(capsys, "compare", whole, tmp_path / "base")


def test_the_files_that_the_gate_page_copies_with_a_judge_are_those_it_is_scored_from():
    assert set(re.search(r"\{(queries[^}]+)\}", GATE)[1].split(",")) == set(SCORED_FROM)


SOURCES = sorted((ROOT / "harness").rglob("*.py"))


def test_a_page_is_named_relative_to_the_working_folder_or_in_full(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    assert guide("judge.md") == "docs/judge.md"
    monkeypatch.chdir(tmp_path)
    assert guide("judge.md") == str(ROOT / "docs/judge.md")


def test_every_page_that_is_named_exists():
    named = {page for path in SOURCES for page in re.findall(r"guide\([\"'](.+?)[\"']\)", path.read_text())}
    assert len(named) > 5
    assert all((ROOT / "docs" / page).is_file() for page in named)
