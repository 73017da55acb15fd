"""The contract test that authors run on their own steps: it passes what is right and names what is wrong."""

import re

import pytest

from harness.cli import main
from tests.custom.services import Search


def check(capsys, *words):
    """The exit code, and what was printed."""
    with pytest.raises(SystemExit) as end:
        main(["check-kind", *words])
    captured = capsys.readouterr()
    return end.value.code, captured.out + captured.err


@pytest.mark.parametrize(
    ("call", "role"),
    [
        ("tests.search.own:shared_words", "retriever"),
        ("tests.custom.kinds:matching", "reranker"),
        ("tests.search.own:polite", "rewriter"),
        ("tests.chunk.own:fixed", "chunker"),
    ],
)
def test_a_step_that_keeps_the_contract_passes(capsys, call, role):
    code, output = check(capsys, call, "--as", role)
    assert code == 0
    assert "FAILED" not in output
    assert "note" not in output
    assert re.search(r"\d+ checks passed, 0 failed\.", output)


REQUEST = '{ids: "{{ ids }}", texts: "{{ texts }}", qs: "{{ queries }}", k: "{{ k }}"}'
BROKEN = [
    ("tests.search.own:twice", "retriever", "ranks known passages.*ranked a passage twice"),
    (
        "moody",
        "retriever",
        "gives a query the same ranking when called again: A query has a different ranking when called again",
    ),
    ("by_batch", "retriever", "alone and among others: A query has a different ranking alone"),
    ("exactly_k", "retriever", "accepts a single passage.*returned 1 .*positions go from 0 to 0"),
    ("no_empty_query", "retriever", "accepts an empty query.*IndexError"),
    ("remembers", "retriever", "keeps no passages.*After a search of other passages"),
    ("tests.search.own:one_score", "reranker", "one finite score.*one score for each of 20 pairs"),
    ("moody_scores", "reranker", "gives a pair the same score when called again"),
    ("by_place", "reranker", "the same score in another order"),
    ("by_count", "reranker", "alone and among others: A pair has a different score alone"),
    ("no_empty_passage", "reranker", "an empty passage.*ZeroDivisionError"),
    ("short_only", "reranker", "a very long passage.*too many tokens"),
    ("tests.search.own:silent", "rewriter", "gives every question one text.*which is not text"),
    ("no_empty_question", "rewriter", "accepts an empty question.*IndexError"),
    ("tests.chunk.own:texts", "chunker", "cuts by offsets: prose.*returned text"),
    ("encoded", "chunker", r"cuts by offsets: Chinese.*has the characters 0 to \d+"),
    ("moody_cut", "chunker", "gives a text the same cut when called again"),
]


@pytest.mark.parametrize(("call", "role", "says"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_step_that_breaks_the_contract_is_reported_with_its_place(capsys, call, role, says):
    name = call if ":" in call else f"tests.custom.kinds:{call}"
    code, output = check(capsys, name, "--as", role)
    assert code == 1
    assert re.search(f"FAILED  .*{says}", output)


@pytest.mark.parametrize(
    ("call", "role", "says"),
    [
        ("backwards", "retriever", "3 of 3 passages, given verbatim as queries, are not ranked first"),
        ("constant", "reranker", "All passages have the score 1"),
        ("mute", "rewriter", "The text for"),
        ("numbered", "rewriter", "has a different text alone"),
        ("counting", "rewriter", "has a different text when called again"),
        ("first_only", "chunker", r"[\d,]+ characters are in no chunk"),
        ("whole_text", "chunker", r"The longest chunk has 1\d,\d+ characters, in the text 'prose'"),
    ],
)
def test_what_is_allowed_and_worth_knowing_is_a_note(capsys, call, role, says):
    code, output = check(capsys, f"tests.custom.kinds:{call}", "--as", role)
    assert code == 0
    assert re.search(f"note    .*{says}", output)


def test_a_parser_is_tried_on_files(capsys, tmp_path):
    path = tmp_path / "report.note"
    path.write_text("first--second", encoding="utf-8")
    code, output = check(capsys, "tests.corpus.own:pages", "--as", "parser", "--file", str(path))
    assert (code, output.count("ok  ")) == (0, 3)
    code, output = check(capsys, "tests.custom.kinds:changing", "--as", "parser", "--file", str(path))
    assert code == 1
    assert "has a different text when called again, report.note: at offset" in output
    code, output = check(capsys, "tests.corpus.own:pages", "--as", "parser")
    assert code == 1
    assert "Give one with --file" in output


def test_the_own_steps_of_a_configuration_are_found_routes_and_services_too(capsys, write_config):
    with Search() as server:
        path = write_config(
            chunk="[{kind: page}, {kind: python, call: 'tests.chunk.own:lines', version: a}]",
            retrieve=f"""
  kind: rrf
  routes:
    - {{kind: bm25, rewrite: {{kind: python, call: 'tests.search.own:polite', version: a}}}}
    - kind: http
      url: {server.root}/many
      version: a
      request: {REQUEST}""",
            rerank=f"""[
  {{kind: python, call: 'tests.custom.kinds:matching', version: a}},
  {{kind: endpoint, endpoint: {{model: ours, base_url: '{server.root}', path: /scores, version: a,
    request: {{q: '{{{{ query }}}}', docs: '{{{{ passages }}}}'}}, response: results}}}}]""",
        )
        code, output = check(capsys, str(path))
        assert server.count > 9
    assert code == 0
    assert set(re.findall(r"^(?:retriever|reranker|rewriter|chunker) .*", output, re.MULTILINE)) == {
        "chunker tests.chunk.own:lines",
        "rewriter tests.search.own:polite",
        f"retriever {server.root}/many",
        "reranker tests.custom.kinds:matching",
        f"reranker {server.root}/scores",
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["mine:search"], "say what it is: --as retriever"),
        (["nowhere.yaml"], "There is no configuration file nowhere.yaml"),
        (["mine", "--as", "reranker"], "must be package.module:function"),
        (["a:b", "--as", "reranker", "--arguments", "{"], "--arguments is not JSON"),
        (["a:b", "--as", "reranker", "--arguments", "[]"], "must be an object"),
        (["nowhere:run", "--as", "reranker"], "no module nowhere"),
    ],
)
def test_a_step_that_cannot_be_tested_is_reported(capsys, words, says):
    code, output = check(capsys, *words)
    assert code == 1
    assert says in output


def test_a_configuration_without_user_defined_steps_is_reported(capsys, write_config):
    code, output = check(capsys, str(write_config()))
    assert code == 1
    assert "no step of kind python or http" in output
