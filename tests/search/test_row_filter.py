"""Filters of rows as each store is asked for them: hostile names and values stay names and values."""

from datetime import date

import pytest

from harness.running.stored_passages import only_in_words
from harness.steps import RETRIEVERS
from harness.steps.search.retrieve.row_filter import chroma_where, lance_where, sql_conditions, terms_filters
from harness.values import HarnessError

OpensearchConfig = RETRIEVERS["opensearch"].config

HOSTILE = "x' OR '1'='1'; DROP TABLE t; --"


def config(**more):
    return OpensearchConfig(url="http://localhost:1", collection="c", existing=True, **more)


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ({}, "name a field"),
        ({"year": []}, "the list is empty"),
        ({"year": [2023, "2024"]}, "several types"),
        ({"year": [1, True]}, "several types"),
        ({" ": 1}, "no name of a field"),
        ({"a\nb": 1}, "no name of a field"),
        ({"a": "b\0"}, "null character"),
        ({"a": {"b": 1}}, "only"),
        ({"day": [date(2023, 1, 1)]}, "in quotes, such as '2023-01-01'"),
        ({"a": float("nan")}, "finite"),
    ],
)
def test_what_no_store_can_be_asked_for_is_refused(only, words):
    with pytest.raises(ValueError, match=words):
        config(only=only)


def test_whole_numbers_and_fractions_are_both_numbers():
    section = config(only={"year": [2023, 2024.5], "lang": "en"})
    assert section.only == {"year": (2023, 2024.5), "lang": "en"}
    assert only_in_words(section) == "year: 2023 or 2024.5, lang: 'en'"


def test_a_filter_is_for_existing_collections_alone():
    with pytest.raises(ValueError, match="only: only with existing: true"):
        OpensearchConfig(url="http://localhost:1", only={"year": 2023})


def test_values_are_bound_in_postgresql_and_names_are_those_of_the_table():
    columns = {
        "year": "integer",
        'odd" OR 1=1 --': "bigint",
        "100% %s": "numeric",
        "meta": "jsonb",
        "a.b": "text",
    }
    statement, bound = sql_conditions({"year": (2023, 2024), "meta.lang": HOSTILE, "a.b": "c"}, columns)
    assert statement == (
        ' AND "year" IN (%s, %s) AND to_jsonb("meta") #> %s::text[] IN (%s::jsonb) AND "a.b" IN (%s)'
    )
    assert bound == [2023, 2024, ["lang"], f'"{HOSTILE}"', "c"]
    assert sql_conditions({'odd" OR 1=1 --': 1}, columns)[0] == ' AND "odd"" OR 1=1 --" IN (%s)'
    assert sql_conditions({"100% %s": 1}, columns)[0] == ' AND "100%% %%s" IN (%s)'
    with pytest.raises(HarnessError, match="has no field yea; it has year"):
        sql_conditions({"yea": 1}, columns)
    more = {"tags": "text[]", "price": "real", "year": "integer"}
    assert sql_conditions({"tags": ("a", HOSTILE), "price": 1.1}, more) == (
        ' AND "tags" && ARRAY[%s, %s]::text[] AND "price" IN (%s::real)',
        ["a", HOSTILE, 1.1],
    )
    # no whole number is a fraction
    assert sql_conditions({"year": 2024.5}, more) == (" AND false", [])


def test_lancedb_gets_names_of_its_columns_and_quoted_values():
    names = {"file": "string", "meta": "struct<lang: string>", "meta.lang": "string", "a`b": "string"}
    names |= {"old": "bool", "year": "int64", "tags": "list<item: string>", "day": "date32[day]"}
    assert lance_where({"file": HOSTILE}, names) == "`file` IN ('x'' OR ''1''=''1''; DROP TABLE t; --')"
    assert lance_where({"meta.lang": ("en", "de"), "old": True}, names) == (
        "`meta`.`lang` IN ('en', 'de') AND `old` IN (true)"
    )
    assert lance_where({"year": (1, 2.0, 2.5)}, names) == "`year` IN (1, 2)"
    assert lance_where({"year": 2.5}, names) == "false"
    assert lance_where({"tags": ("a", "b'c")}, names) == "array_has_any(`tags`, ['a', 'b''c'])"
    assert lance_where({"day": "2023-01-01"}, names) == "`day` IN (date'2023-01-01')"
    for only in ({"old": 1}, {"year": "2023"}, {"year": True}, {"tags": 1}, {"file": 2.5}):
        with pytest.raises(HarnessError, match="of another type"):
            lance_where(only, names)
    for name in ("a`b", "file` = `file", "fil"):
        with pytest.raises(HarnessError, match=r"retrieve\.only"):
            lance_where({name: "x"}, names)


def test_operators_of_chroma_are_no_fields():
    assert chroma_where({"metadata.year": 2023}) == {"year": {"$in": [2023]}}
    assert chroma_where({"year": 2023, "file": HOSTILE}) == {
        "$and": [{"year": {"$in": [2023]}}, {"file": {"$in": [HOSTILE]}}]
    }
    # of one type in each list; a fraction is no whole number that it is cut to
    assert chroma_where({"year": (2023.0, 2024)}) == {"year": {"$in": [2023, 2024]}}
    fraction = {"$and": [{"year": {"$in": [-1.5]}}, {"year": {"$gt": -2}}, {"year": {"$lt": -1}}]}
    assert chroma_where({"year": -1.5}) == fraction
    assert chroma_where({"year": (2, -1.5)}) == {"$or": [{"year": {"$in": [2]}}, fraction]}
    for name in ("$or", "metadata.$and", "#document"):
        with pytest.raises(HarnessError, match="no field of metadata"):
            chroma_where({name: "x"})


def test_opensearch_filters_by_fields_with_whole_values():
    mapping = {
        "lang": {"type": "keyword"},
        "body": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "words": {"type": "text"},
    }
    filters = terms_filters({"lang": HOSTILE, "body.raw": ("a", "b")}, mapping)
    assert filters == [{"terms": {"lang": [HOSTILE]}}, {"terms": {"body.raw": ["a", "b"]}}]
    with pytest.raises(HarnessError, match="lang holds text"):
        terms_filters({"lang": 1}, mapping)
    with pytest.raises(HarnessError, match=r"such as body\.raw"):
        terms_filters({"body": "a"}, mapping)
    with pytest.raises(HarnessError, match="Name a keyword field"):
        terms_filters({"words": "a"}, mapping)
    with pytest.raises(HarnessError, match="has no field langs"):
        terms_filters({"langs": "a"}, mapping)
