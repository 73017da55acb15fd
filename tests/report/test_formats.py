"""Markdown and LaTeX: whatever a setting is called, its name formats nothing and breaks no table."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import Table, render
from harness.report import in_markdown as markdown
from harness.report.rendering import in_latex as latex
from harness.values import printable

HOSTILE = r"a|b \\ c_d 100% $x$ {y} #z & ~^ <script>alert(1)</script> [l](javascript:1) `c` \input{x}"


def table(*cells, prose=False):
    return Table("t", ("setting", "mean"), tuple((cell, "0.5") for cell in cells), prose=prose)


def test_markdown_by_hand():
    out = render([Table("a_b", ("setting", "mean"), (("x|y", "0.5"),), notes=("One.",))], "markdown")
    assert out == "**a\\_b**\n\n| setting | mean |\n|---|---:|\n| x\\|y | 0.5 |\n\nOne.\n"
    assert render([("Use a_b.", "Not c.")], "markdown") == "- Use a\\_b.\n- Not c.\n"


def test_a_hostile_name_stays_in_its_cell():
    row = render([table(HOSTILE)], "markdown").splitlines()[4]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert not re.search(r"(?<!\\)[<`\[$]", row.replace(r"\\", ""))
    row = render([table(HOSTILE)], "latex").splitlines()[8]
    assert len(re.findall(r"(?<!\\)&", row)) == 1
    assert r"\input" not in row
    assert row.count(r"\\") == 1


@given(st.text(max_size=60))
@settings(deadline=None)
def test_no_text_breaks_out(name):
    out = markdown(name).replace("<!-- -->", "")
    assert "\n" not in out
    # every sign that formats is behind a backslash of its own
    assert re.fullmatch(r"(?:\\.|[^\\`*_\[\]<>|&~$#!])*", out)
    plain = re.sub(r"\\([\\`*_\[\]<>|&~$#!])", r"\1", out)
    assert plain == printable(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("for @team", "for @<!-- -->team"),
        ("my.yaml:100:", "my.yaml:<!-- -->100:"),
        ("ndcg_exp@10 at 12:30:45", r"ndcg\_exp@10 at 12:30:45"),
    ],
)
def test_a_name_notifies_nobody_and_becomes_no_picture(name, shown):
    assert markdown(name) == shown


COMMANDS = {
    r"\textbackslash{}",
    r"\textasciitilde{}",
    r"\textasciicircum{}",
    r"\textless{}",
    r"\textgreater{}",
    r"\textbar{}",
    r"\textasciigrave{}",
    r"\ldots{}",
}


@given(st.text(alphabet="\\{}$&#%_~^<>|\"'`[]*-a1 …", max_size=40))
@settings(deadline=None)
def test_latex_holds_no_command_but_ours(name):
    rest = latex(name)
    for command in COMMANDS:
        rest = rest.replace(command, "")
    rest = re.sub(r"\\[{}$&#%_]|\{(?:[\[\]*'-]|'')\}|\$-\$", "", rest)
    assert not set(rest) & set("\\{}$&#%_~^[]*")


def test_text_wraps_sentences_and_an_unknown_format_is_refused():
    out = render([("one two three four five six",)], "text", 20)
    assert out == "one two three four\nfive six\n"
    with pytest.raises(ValueError, match="known: text, markdown, latex"):
        render([], "word")
