"""Filters: what is left of the documents, that any retriever ranks within it, how mistakes are counted."""

import pytest

from harness.report import base_payload, read_tables
from harness.running.evaluate.result_tables import _left_out
from harness.steps import FILTERS, Passages
from harness.values import ConfigError, Query, Ranking
from tests.command import bench as run
from tests.command import table as rows_of
from tests.search.helpers import Tools, tools_at
from tests.search.test_steps import RETRIEVERS, STEP_KINDS, service, smallest, with_toys

RulesConfig = FILTERS["rules"].config
RulesFilter = FILTERS["rules"].make

__all__ = ["service", "with_toys"]

DOCUMENTS = ("acme_2022", "acme_2023", "bolt_2022", "cord_2021")
TABLE = """document,company,form,period
acme_2022.pdf,Acme,10-K,2022
acme_2023.pdf,Acme,10-Q,2023
bolt_2022,Bolt & Sons,10-K,FY2022
cord_2021,Cord; Cable Co,10-K,2021
other_1999,Other,10-K,1999
"""
TEXTS = (
    ("acme_2022", "Vehicles in the yard: 4,200."),
    ("acme_2022", "Rain fell on the harbour."),
    ("acme_2023", "The yard holds 4,300 vehicles."),
    ("bolt_2022", "vehicles vehicles yard yard"),
    ("bolt_2022", "The fuel pump was recalled."),
    ("cord_2021", "How many vehicles fit the yard? How many vehicles fit the yard?"),
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "documents.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def is_stored(tools, config):
    """Whether a search finds everything in the cache."""
    return tools.is_stored("retrieve", config, passages(), QUERIES)


def passages(texts=TEXTS):
    ids, at = [], {}
    for document, text in texts:
        start = at.get(document, 0)
        at[document] = start + len(text)
        ids.append(f"{document}:{start}-{at[document]}")
    own = tuple(text for _, text in texts)
    return Passages(tuple(ids), own, tuple(map(len, own)), key=repr(texts))


def rules(table, **more):
    return RulesConfig(file=table, **{"fields": ["company", "form"], "years": ["period"], **more})


def asked(*texts):
    return [Query(f"q{i}", text, "train") for i, text in enumerate(texts)]


def left(config, tools, text, documents=DOCUMENTS):
    (one,) = tools.run(RulesFilter(config).run(asked(text), documents))
    return None if one.documents is None else sorted(one.documents)


@pytest.mark.parametrize(
    ("text", "more", "documents"),
    [
        ("How many vehicles fit?", {}, None),
        ("What did Acme say?", {}, ["acme_2022", "acme_2023"]),
        ("What did Acme say in 2023?", {}, ["acme_2023"]),
        ("Acme or Bolt and Sons, FY22 to FY23", {}, ["acme_2022", "acme_2023", "bolt_2022"]),
        ("the 10K of Cable Co", {}, ["cord_2021"]),
        # of a document that is not here
        ("What did Other say in 1999?", {}, None),
        # no 10-Q of Bolt's: the form is set aside, then nothing is
        ("Bolt & Sons by its 10-Q", {}, ["bolt_2022"]),
        ("Acme in 2021", {}, ["acme_2022", "acme_2023"]),
        ("Acme in 2021", {"on_empty": "nothing"}, []),
        # a report also answers for the years before it
        ("Acme in 2022", {"years_back": 1}, ["acme_2022", "acme_2023"]),
        ("Acme in 2021", {"years_back": 2}, ["acme_2022", "acme_2023"]),
        ("1998", {"years_back": 2, "fields": ["form"]}, None),
    ],
)
def test_the_documents_that_a_question_names_are_left(text, more, documents, table, tools):
    assert left(rules(table, **more), tools, text) == documents


def test_ignored_columns_are_reported_and_can_be_forbidden(table, tools):
    (one,) = tools.run(RulesFilter(rules(table)).run(asked("Acme in 2021"), DOCUMENTS))
    assert (one.dropped, one.named["period"], one.total) == (("period",), ("2021",), 4)
    (one,) = tools.run(RulesFilter(rules(table, on_empty="nothing")).run(asked("Acme in 2021"), DOCUMENTS))
    assert (one.dropped, one.documents) == ((), frozenset())


def test_aliases_stand_for_values(table, tools, tmp_path):
    aliases = tmp_path / "aliases.csv"
    aliases.write_text(
        "field,value,alias\ncompany,Bolt & Sons,BLT\ncompany,Acme,roadrunner's\ncompany,Gone,Acme\n",
        encoding="utf-8",
    )
    config = rules(table, aliases=aliases)
    assert left(config, tools, "BLT and the Roadrunner's") == ["acme_2022", "acme_2023", "bolt_2022"]
    aliases.write_text("field,value,alias\nsector,Steel,iron\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"aliases of sector, and none of .* fields \(company, form\)"):
        left(config, tools, "iron")
    assert left(rules(table, aliases=aliases, fields=[]), tools, "iron of 2023") == ["acme_2023"]


def test_a_table_with_gaps_is_reported_whole_or_searched_whatever_is_named(table, tools):
    table.write_text(TABLE.replace("Bolt & Sons", "").replace("cord_2021,", "cord_2020,"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"2 of 4 documents: bolt_2022 \(company\); cord_2021\. Add them"):
        left(rules(table), tools, "Acme")
    kept = left(rules(table, on_missing="keep"), tools, "Acme in 2022")
    assert kept == ["acme_2022", "bolt_2022", "cord_2021"]


QUERIES = asked(
    "How many vehicles fit the yard of Acme?", "How many vehicles fit the yard?", "Bolt & Sons' yard"
)
WANTED = ({"acme_2022", "acme_2023"}, set(DOCUMENTS), {"bolt_2022"})


# fusions share what they do with a filter
@pytest.fixture(params=[one for one in RETRIEVERS if one not in ("minmax", "weighted", "toy_best_rank")])
def retriever(request, with_toys):
    if request.param == "faiss":
        pytest.importorskip("faiss")
    return STEP_KINDS["retrieve"][request.param]


def test_every_retriever_ranks_within_what_is_left_to_its_full_depth(retriever, table, tools):
    """As if there were no other documents: the same ranking as over the chunks of these alone."""
    config = smallest(retriever, top_k=2, filter=rules(table))
    found = tools.search("retrieve", config, passages(), QUERIES)
    assert [one.query_id for one in found.filtered] == ["q0", "q1", "q2"]
    for at, (query, wanted) in enumerate(zip(QUERIES, WANTED, strict=True)):
        alone = passages(tuple(one for one in TEXTS if one[0] in wanted))
        (expected,) = tools.search("retrieve", smallest(retriever, top_k=2), alone, [query]).rankings
        own = found.rankings[at]
        text = dict(zip(passages().ids, passages().texts, strict=True))
        there = dict(zip(alone.ids, alone.texts, strict=True))
        assert [text[one] for one in own.chunk_ids] == [there[one] for one in expected.chunk_ids]
        assert own.scores == pytest.approx(expected.scores)
        assert {one.rpartition(":")[0] for one in own.chunk_ids} <= wanted
    # the best chunk of all is another document's, so cutting a list of two afterwards would come short
    assert found.rankings[0].chunk_ids
    assert is_stored(tools, config)
    again = tools.search("retrieve", config, passages(), QUERIES)
    assert (again.rankings, again.filtered) == (found.rankings, found.filtered)


def test_the_routes_of_a_filtered_fusion_are_filtered_and_one_route_may_be_alone(table, tools):
    words, fused = STEP_KINDS["retrieve"]["bm25"].config, STEP_KINDS["retrieve"]["rrf"].config
    whole = fused(routes=(words(), words(k1=0.5)), filter=rules(table))
    found = tools.search("retrieve", whole, passages(), QUERIES)
    assert [route.name for route in found.routes] == ["bm25", "bm25-2"]
    for route in found.routes:
        assert [ranking.query_id for ranking in route.rankings] == ["q0", "q1", "q2"]
        assert [query.query_id for query in route.asked] == ["q0", "q1", "q2"]
        assert {one.rpartition(":")[0] for one in route.rankings[0].chunk_ids} <= WANTED[0]
    one = fused(routes=(words(), words(k1=0.5, filter=rules(table))))
    found = tools.search("retrieve", one, passages(), QUERIES)
    plain, narrow = found.routes
    assert not plain.filtered
    assert len(narrow.filtered) == 3
    assert (
        set(narrow.rankings[0].chunk_ids)
        < set(plain.rankings[0].chunk_ids)
        == set(found.rankings[0].chunk_ids)
    )
    # a filter within a filter: what is left by both, every query in its place
    both = fused(routes=(words(filter=rules(table, fields=["form"])),), filter=rules(table))
    found = tools.search(
        "retrieve", both, passages(), asked("Acme's yard in its 10-Q", "yard", "yard of 2023")
    )
    (route,) = found.routes
    assert [one.query_id for one in route.filtered] == ["q0", "q1", "q2"]
    assert [one.total for one in route.filtered] == [1, 4, 1]


def test_a_boost_adds_to_every_chunk_of_what_is_named_and_not_only_to_those_found(table, tools):
    words = STEP_KINDS["retrieve"]["bm25"].config
    plain = tools.search("retrieve", words(top_k=6), passages(), QUERIES).rankings
    boost = rules(table, boost=50.0)
    found = tools.search("retrieve", words(top_k=2, filter=boost), passages(), QUERIES)
    score = dict(zip(plain[0].chunk_ids, plain[0].scores, strict=True))
    ours = [one for one in plain[0].chunk_ids if one.startswith("acme")]
    assert found.rankings[0].chunk_ids == tuple(ours[:2])
    assert found.rankings[0].scores == pytest.approx([score[one] + 50 for one in ours[:2]])
    assert not set(ours[:2]) <= set(plain[0].chunk_ids[:2])
    # nothing is named: nothing is added
    assert found.rankings[1] == Ranking("q1", plain[1].chunk_ids[:2], plain[1].scores[:2])
    assert len(found.filtered) == 3


def test_a_boosted_ranking_is_kept_and_is_another_where_what_is_named_is(table, tools):
    config = STEP_KINDS["retrieve"]["bm25"].config(top_k=2, filter=rules(table, boost=50.0))
    assert not is_stored(tools, config)
    found = tools.search("retrieve", config, passages(), QUERIES)
    assert is_stored(tools, config)
    kept = tools.search("retrieve", config, passages(), QUERIES)
    assert (kept.rankings, kept.filtered) == (found.rankings, found.filtered)
    # without the filter, with another weight, and with another table
    for other in (None, rules(table, boost=51.0)):
        assert not is_stored(tools, config.model_copy(update={"filter": other}))
    table.write_text(TABLE.replace("Acme", "Apex"), encoding="utf-8")
    assert not is_stored(tools, config)


@pytest.mark.parametrize("boost", [None, 2.0])
@pytest.mark.parametrize("inner", [False, True])
def test_a_route_of_a_filtered_fusion_may_ask_nothing_of_a_query(table, tools, with_toys, boost, inner):
    words, fused = STEP_KINDS["retrieve"]["bm25"].config, STEP_KINDS["retrieve"]["rrf"].config
    names = STEP_KINDS["rewrite"]["toy_named"].config()
    own = {"filter": rules(table)} if inner else {}
    config = fused(routes=(words(), words(rewrite=names, **own)), filter=rules(table, boost=boost))
    many = asked("what of Bolt & Sons?", "who?", "what did Acme and the AMD of 2023 say?", "what of Acme?")
    found = tools.search("retrieve", config, passages(), many)
    named = found.routes[1]
    assert [one.query_id for one in found.rankings] == [one.query_id for one in named.rankings]
    assert [one.query_id for one in named.rankings] == ["q0", "q1", "q2", "q3"]
    # the second question has no such word, so the route asks nothing
    assert named.rankings[1].chunk_ids == ()
    ids = [one.query_id for one in named.asked]
    assert ids == sorted(ids)
    assert set(ids) == {"q0", "q2", "q3"}
    assert [one.query_id for one in named.filtered] == (["q0", "q2", "q3"] if inner else [])


def test_a_filter_reads_the_question_and_not_what_a_rewriter_made_of_it(table, tmp_path):
    rewrite = STEP_KINDS["rewrite"]["template"].config(template="Bolt & Sons: {query}")
    config = STEP_KINDS["retrieve"]["bm25"].config(filter=rules(table), rewrite=rewrite)
    own = Tools(tools_at(tmp_path).session, {query.query_id: query for query in QUERIES})
    found = own.search("retrieve", config, passages(), QUERIES)
    assert found.filtered[0].named["company"] == ("Acme",)
    assert found.asked[0].text.startswith("Bolt & Sons: ")


@pytest.fixture
def facts(corpus):
    """A table of the three documents of the tests; q1, about people, names the topic of another one."""
    path = corpus / "facts.csv"
    path.write_text(
        "document,topic,year\nengines,fuel pump,2024\npeople,staff,2023\nharbour,company,2024\n",
        encoding="utf-8",
    )
    return path


def bench(lexical, facts, more=""):
    path = lexical(
        retrieve="{kind: bm25, top_k: 10, stop_words: none}",
        more=f"""
filter:
  - null
  - {{kind: rules, file: {facts}, fields: [topic], years: [year]{more}}}
measures: [ndcg_exp@3, ndcg_text@300, recall@3]""",
    )
    return run(path)


def test_what_filters_left_and_lost_is_reported_query_by_query_and_on_the_page(lexical, facts):
    results, folder = bench(lexical, facts)
    rows = {row["query_id"]: row for row in rows_of(folder / "filters.csv")}
    assert {row["setting"] for row in rows.values()} == {"rules"}
    shown = ("named", "documents", "of", "labelled", "excluded")
    assert [rows["q1"][name] for name in shown] == ["topic=company", "1", "3", "1", "people"]
    assert [rows["q2"][name] for name in shown] == ["topic=fuel pump", "1", "3", "1", ""]
    assert [rows["q3"][name] for name in shown] == ["", "3", "3", "1", ""]
    output = (
        'Caveat: Filters leave out labelled documents: "filter by rules" (1 of 4 queries); filters.csv lists'
    )
    assert any(sentence.startswith(output) for sentence in results.verdict["sentences"])
    lost = {
        (row["setting"], row["query_id"], row["part"]): float(row["loss"])
        for row in rows_of(folder / "waterfall.csv")
    }
    chunking = lost["rules", "q1", "chunking"]
    # all that cutting has left is lost to the filter, so nothing is left to lose
    assert lost["rules", "q1", "filter"] == pytest.approx(1 - chunking)
    assert lost["rules", "q1", "candidates"] == lost["rules", "q1", "order"] == 0
    assert lost["rules", "q2", "filter"] == 0
    assert not any(setting == "filter=none" and part == "filter" for setting, _, part in lost)
    (row,) = base_payload(read_tables(folder), {})["filters"]
    # of q1 the topic of another document is named, of q2 its own
    counts = {"queries": 5, "named": 2, "dropped": 0, "labelled": 4, "wrong": 1, "failed": 0, "of": 3}
    assert {key: row[key] for key in counts} == counts
    assert row["left"] == pytest.approx((3 * 3 + 1 + 1) / 5)


def test_a_boost_that_is_wrong_is_counted_and_loses_no_candidate_by_itself(lexical, facts):
    results, folder = bench(lexical, facts, ", boost: 30")
    assert [row["excluded"] for row in rows_of(folder / "filters.csv")].count("people") == 1
    assert not any(row["part"] == "filter" for row in rows_of(folder / "waterfall.csv"))
    ranked = {name: runs for (name, _), runs in results.runs.items()}
    assert ranked["rules"][0].chunk_ids[0].startswith("harbour")
    assert ranked["filter=none"][0].chunk_ids[0].startswith("people")
    assert any("(1 of 4 queries); filters.csv" in one for one in results.verdict["sentences"])


def test_a_document_whose_evidence_another_holds_is_not_missed():
    labelled = {"kept": {"e1"}, "copy": {"e1"}, "more": {"e1", "e2"}, "alone": {""}}
    assert list(_left_out(labelled, {"kept"})) == ["more", "alone"]
    assert list(_left_out(labelled, {"alone"})) == ["kept", "copy", "more"]
    assert list(_left_out(labelled, None)) == []
