"""Parsers as a step of a sweep: one corpus a parser, one evidence a label row."""

import math
from functools import partial

import pytest

from harness import read_results
from harness.labels import sheet_of
from harness.report import LossRow, losses_by_query, read_expected, read_table
from harness.running import (
    Session,
    load_config,
    load_corpus,
    load_documents,
    make_plan,
    run_bench,
    write_page,
)
from harness.running.corpora import load_corpora
from harness.values import ConfigError, HarnessError, LabelError, Silent
from tests.command import bench, table

# 40 characters each, the line end not counted
FIRST = "alpha stands in the first of two lines.."
SECOND = "bravo stands in the other of both lines."
OWN = "kind: python, call: 'tests.corpus.own:%s', version: '1', suffixes: [.txt]"
LOSES = f"parse: {{{OWN % 'lines_without'}, arguments: %s}}"
# the first loses nothing
BOTH = LOSES % "[{word: zulu}, {word: bravo}]"
MEASURES = "measures: ['ndcg_evidence(enough=10,L=10)@100', ndcg_text@200, 'recall@10', 'ndcg_exp@10']"
EVIDENCE = "ndcg_evidence(enough=10,L=10)@100"


def write_in(folder, cache, labels, more=BOTH, header="query_id,document,quote,evidence,grade"):
    """A configuration over one document of two lines, with label rows of (query, quote, evidence)."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "a.txt").write_text(f"{FIRST}\n{SECOND}\n", encoding="utf-8")
    rows = "".join(f"{query},alpha bravo stands,train\n" for query in ("q1", "q2"))
    (folder / "queries.csv").write_text(f"query_id,text,split\n{rows}", encoding="utf-8")
    (folder / "labels.csv").write_text("\n".join([header, *labels]) + "\n", encoding="utf-8")
    path = folder / "bench.yaml"
    path.write_text(
        f"name: parsers\ndocuments: {folder}/docs/*.txt\nqueries: {folder}/queries.csv\n"
        f"labels: {folder}/labels.csv\ncache: {cache}\nresults: {folder}/results\n"
        "chunk: {kind: recursive, chunk_size: 45, chunk_overlap: 0}\n"
        f"retrieve: {{kind: bm25, top_k: 10}}\n{MEASURES}\n{more}\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def write(tmp_path, shared_cache, no_workers):
    return partial(write_in, tmp_path, shared_cache)


@pytest.fixture(scope="module")
def two(tmp_path_factory, shared_cache, no_workers):
    """The configuration of a run with two parsers, its results, and their folder."""
    path = write_in(tmp_path_factory.mktemp("two"), shared_cache, TWO_ROWS)
    return path, *bench(path)


def values(results, measure):
    return {(row.setting, row.query_id): row.value for row in results.per_query if row.measure == measure}


TWO_ROWS = [f"q1,a,{FIRST},,4", f"q1,a,{SECOND},,4", f"q2,a,{SECOND},,4"]


def test_what_a_parser_loses_stays_in_the_ideal_and_is_its_loss(two):
    _, results, folder = two
    whole, cut = "arguments=word=zulu", "arguments=word=bravo"
    found = values(results, EVIDENCE)
    # stretches of 10 characters, discounted as ranks; an evidence is found with its first 10 characters. The
    # whole text has the two in stretches 1 and 5, the ideal in 1 and 2; gains cancel out.
    ideal = 1 + 1 / math.log2(3)
    assert found[whole, "q1"] == pytest.approx((1 + 1 / math.log2(6)) / ideal)
    assert found[cut, "q1"] == pytest.approx(1 / ideal)
    assert found[cut, "q2"] == 0
    # recall is of the evidence of all parsers; NDCG of chunks has an ideal of each text's own
    assert values(results, "recall@10")[cut, "q1"] == 0.5
    assert values(results, "ndcg_exp@10")[cut, "q1"] == 1
    # the losses are in the same unit: of the ideal of both lines the cut text can earn that of one
    lost = {(one.setting, one.query_id): one for one in losses_by_query(results.of(LossRow))}
    assert lost[cut, "q1"].losses["parser"] == pytest.approx(1 - 1 / ideal)
    assert lost[cut, "q2"].losses["parser"] == 1
    assert lost[whole, "q1"].losses["parser"] == lost[whole, "q2"].losses["parser"] == 0
    for key, one in lost.items():
        assert 1 - sum(one.losses.values()) == pytest.approx(one.final, abs=1e-12)
        assert one.final == pytest.approx(found[key], abs=1e-12)
    assert results.verdict["measure"] == EVIDENCE
    # by a measure of the length of labels the verdict sends the reader to the one that compares parsers
    output = " ".join(str(read_results(folder).compare("ndcg_text@200")).split())
    assert EVIDENCE in output.partition("Next:")[0]


def test_every_table_tells_the_texts_of_parsers_apart(two):
    _, results, folder = two
    texts = [row["document"] for row in table(folder / "documents.csv")]
    assert len(set(texts)) == 2
    assert {name.partition("@")[0] for name in texts} == {"a"}
    judged = [(row["query_id"], row["document"], row["evidence"]) for row in table(folder / "judgments.csv")]
    whole, cut = texts
    expected = [("q1", cut, "line 2"), *(("q1", whole, f"line {n}") for n in (2, 3)), ("q2", whole, "line 4")]
    assert sorted(judged) == sorted(expected)
    chunks = {row["chunk_id"] for row in table(folder / "rankings.csv")}
    assert {name.rpartition(":")[0] for name in chunks} == set(texts)
    # both have a chunk at the beginning: each is there with its own text
    passages = [row["chunk_id"] for row in table(folder / "passages.csv")]
    assert len(set(passages)) == len(passages)
    assert {row["cluster"] for row in table(folder / "queries.csv")} == {"a"}
    assert [row["accepted"] for row in table(folder / "anchoring.csv")].count("no") == 2
    of_cut = read_expected(folder, results.per_query[-1].setting)
    assert f"; {cut};" in of_cut["q1"]
    assert of_cut["q2"].startswith("[not in the")
    page, _ = write_page(folder)
    assert page.exists()
    assert set(read_table(folder, "chunk_offsets").document) == set(texts)


def test_two_parsers_that_read_the_same_score_the_same(write):
    labels = [*TWO_ROWS, f"q2,a,{FIRST},named,2"]
    results, _ = bench(write(labels, LOSES % "[{word: zulu}, {word: xray}]"))
    first, second = dict.fromkeys(row.setting for row in results.per_query)
    for measure in {row.measure for row in results.per_query}:
        found = values(results, measure)
        assert [found[first, q] for q in ("q1", "q2")] == [found[second, q] for q in ("q1", "q2")]
    assert {row.evidence for row in results.judgments if row.query_id == "q2"} == {"line 4", "named"}


def test_a_row_that_no_parser_finds_is_refused_or_listed(write):
    labels = [*TWO_ROWS, "q1,a,nothing like this is written in here,,3"]
    with pytest.raises(LabelError, match="line 5, query q1, a: 'nothing like this"):
        bench(write(labels))
    results, _ = bench(write(labels, f"{BOTH}\nanchor: {{on_unanchored: list}}"))
    lost = [one.losses["parser"] for one in losses_by_query(results.of(LossRow)) if one.query_id == "q1"]
    # what no parser finds is in no score, and so in no loss
    assert 0 == lost[0] < lost[1]


def test_offsets_are_of_one_text_so_a_quote_is_sought_and_offsets_alone_are_refused(write):
    header = "query_id,document,start,end,quote,grade"
    quoted = [f"q1,a,41,81,{SECOND},4", f"q2,a,0,40,{FIRST},4"]
    results, _ = bench(write(quoted, LOSES % "[{word: zulu}, {word: alpha}]", header=header))
    # without its first line the other is at the beginning
    assert {(row.start, row.end) for row in results.judgments if row.query_id == "q1"} == {(41, 81), (0, 40)}
    with pytest.raises(LabelError, match="line 2: start and end count the characters of one text"):
        bench(write(["q1,a,0,40,,4"], header=header))
    same = bench(write(["q1,a,0,40,,4"], LOSES % "[{word: zulu}, {word: xray}]", header=header))[0]
    assert len(same.judgments) == 2


def test_an_answer_that_one_parser_cannot_read_is_lost_there(write):
    def run(answer):
        fold = f"parse: [{{kind: pypdf}}, {{{OWN % 'one_text'}}}]\nanchor: {{threshold: 20}}"
        header = "query_id,document,quote,answer,grade"
        return bench(write([f"q1,a,{FIRST},{answer},4"], fold, header=header))[0]

    assert [row.document for row in run("alpha").judgments] == ["a@pypdf"]
    with pytest.raises(LabelError, match="the answer 'zulu' is not in"):
        run("zulu")


def test_equal_texts_are_one_evidence_under_all_parsers_if_they_are_under_one(write, tmp_path):
    path = write([f"q1,a,{FIRST},,4", f"q1,b,{FIRST},,4"], LOSES % "[{word: zulu}, {word: echo}]")
    # the second parser loses the label of b, and with it what told that the two are one
    for text in (f"{FIRST}\nbravo echo\n", f"{FIRST[:-1]} echo\n{FIRST}\n"):
        (tmp_path / "docs" / "b.txt").write_text(text, encoding="utf-8")
        assert {row.evidence for row in bench(path)[0].judgments} == {"line 2"}


def test_one_parser_is_one_corpus_and_changes_no_table(write, tmp_path):
    tables = []
    for more in ("", "parse: {kind: pypdf}", "parse: [{kind: pypdf}]"):
        config = load_config(write(TWO_ROWS, more))
        assert [setting.name for setting in config.settings] == ["base"]
        corpora = load_corpora(config, Session.at(config.cache, Silent()).document_reader)
        assert corpora.united is corpora.by_setting["base"]
        assert not corpora.united.texts_of
        _, folder = run_bench(config, Silent())
        tables.append({file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))})
    assert tables[0] == tables[1] == tables[2]
    assert b"a:0-40" in tables[0]["rankings.csv"]
    assert b"@" not in tables[0]["judgments.csv"]


def test_parsers_are_a_product_with_the_other_steps_and_are_read_once(write, tmp_path):
    sweep = BOTH + "\nrerank: null\nsettings: [{}, {chunk: {kind: page}}]"
    config = load_config(write(TWO_ROWS, sweep))
    with Session.at(tmp_path / "cache", Silent()) as session:
        corpora = load_corpora(config, session.document_reader)
        assert session.notes.counts["documents_parsed"] == 2
    assert len({id(corpus) for corpus in corpora.by_setting.values()}) == 2
    results, _ = run_bench(config, Silent())
    assert len(config.settings) == len({row.setting for row in results.summary}) == 4


def test_a_plan_and_a_dry_run_take_parsers_and_what_needs_one_text_says_so(two):
    config = load_config(two[0])
    plan = make_plan(config, Silent())
    assert [row.chunks for row in plan.settings] == [2, 1]
    assert plan.unlabelled == ()
    assert make_plan(config, Silent(), search=True).judge is None
    with pytest.raises(HarnessError, match="compare several parsers"):
        sheet_of(two[2], 10, Silent())
    with Session.at(config.cache, Silent()) as session:
        with pytest.raises(ConfigError, match="needs one text per document"):
            load_corpus(config, session.document_reader)
        (document,) = load_documents(config, session.document_reader).values()
    assert SECOND in document.text
