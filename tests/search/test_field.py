"""Fields: what a text names is searched in place of the text, by rules, by a model or by a language model."""

import json

import pytest

from harness.models import Tagged, Tagger, TaggerConfig, spans_of, tagged
from harness.running import load_config
from harness.steps import FIELDS, RETRIEVERS
from harness.steps.search.field import mentions
from harness.steps.search.field.entities import names_in
from harness.steps.search.field.llm_entities import names_of
from harness.values import ConfigError, ModelError, Query
from tests.models import tiny

from .helpers import passages_of

MODEL = "embedded:all-MiniLM-L6-v2"
CASES = {
    "What was the FY2018 capital expenditure of 3M?": ["FY2018", "3M"],
    "Why did Bank of America buy Merrill Lynch & Co.?": ["Bank of America", "Merrill Lynch & Co"],
    "We look at AMD. What are its segments? Use the filing.": ["AMD"],
    "Is Johnson & Johnson's U.S. GAAP loss above 12 %?": ["Johnson & Johnson", "U.S. GAAP", "12 %"],
    "How much did revenue grow, from $1.2 million to 4,200?": ["$1.2 million", "4,200"],
    'Who said "never again" in Berlin?': ["never again", "Berlin"],
    "what happens if workers stop turning up": [],
    "《静夜思》的作者是谁？": ["静夜思"],
    "2023年腾讯控股有限公司的净利润是多少亿元？": ["2023年", "腾讯控股有限公司"],
    "比亚迪在深圳市的工厂有多少台GPU？": ["深圳市", "GPU"],
    "李白的朋友是谁？": [],
    "北京冬奥会美国分别获得多少金牌？": ["北京冬奥会", "美国"],
    "小米MIX2的iPhone SE 3": ["MIX2", "iPhone SE 3"],
    "世界杯的举办国有多少个成员国？": ["世界杯"],
    "": [],
}


@pytest.mark.parametrize(("text", "names"), CASES.items())
def test_names_by_rules(text, names):
    assert list(names_in(text)) == names


def test_a_query_names_what_a_passage_names_and_it_has_letter_by_letter():
    known = ["哈利波特", "哈利", "Eggy Party", "Party", "3M", "A"]
    texts = ["哪一家公司计划发售哈利波特?", "is eggy party out, Party?", "33M and Partying", ""]
    # of two that overlap the longer one; words are not cut
    assert mentions(texts, known) == [("哈利波特",), ("Eggy Party", "Party"), (), ()]


def test_an_answer_of_a_language_model_has_a_name_a_line():
    assert names_of("- Harry Potter\n- release of a game") == ("Harry Potter", "release of a game")
    assert (names_of("none"), names_of("无"), names_of("")) == ((), (), None)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        # words: New York hosts ACME twice
        (["B-LOC", "I-LOC", "O", "B-ORG", "O"], [("New York", "LOC"), ("ACME", "ORG")]),
        (["B-LOC", "B-LOC", "O", "O", "O"], [("New", "LOC"), ("York", "LOC")]),
        (["S-LOC", "O", "O", "B-ORG", "E-ORG"], [("New", "LOC"), ("ACME twice", "ORG")]),
        # without B-, as some models label, and plain
        (["I-LOC", "I-LOC", "I-ORG", "O", "O"], [("New York", "LOC"), ("hosts", "ORG")]),
        (["LOC", "LOC", "O", "ORG", "O"], [("New York", "LOC"), ("ACME", "ORG")]),
        (["O"] * 5, []),
    ],
)
def test_labels_of_tokens_become_spans(labels, spans):
    text = "New York hosts ACME twice"
    offsets = [(0, 3), (4, 8), (9, 14), (15, 19), (20, 25)]
    tokens = [(None, (0, 0), "B-ORG"), *zip(range(5), offsets, labels, strict=True)]
    assert [(text[span.start : span.end], span.label) for span in spans_of(iter(tokens))] == spans


def test_the_first_token_of_a_word_decides():
    tokens = [(0, (0, 2), "B-ORG"), (0, (2, 4), "O"), (1, (5, 6), "O"), (1, (6, 8), "B-ORG")]
    assert list(spans_of(iter(tokens))) == [Tagged(0, 4, "ORG")]


GAMES = ("zelda", "tetris", "doom", "quake")
SHORT = [
    f"{who} {game} {when}"
    for who in ("acme releases", "globex sells", "we play")
    for when in ("today", "soon", "abroad")
    for game in (*GAMES, "")
]
# texts of one sentence and of several, as a window of a long text has
SENTENCES = [
    [(word, "B-GAME" if word in GAMES else "O") for word in sentence.split()]
    for sentence in [*SHORT, *(" ".join(SHORT[start : start + 7]) for start in range(0, len(SHORT), 2))]
]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    return tiny.tagger(tmp_path_factory.mktemp("tagger") / "model", SENTENCES)


def test_a_trained_model_names_what_it_was_trained_for_in_long_texts_too(tagger):
    model = Tagger(TaggerConfig(model=tagger))
    # its window has 32 tokens
    long = " ".join(SHORT)
    texts = ["acme releases tetris soon", long, "we play today", ""]
    names = [
        [text[span.start : span.end] for span in tagged(value)]
        for text, value in zip(texts, model.encode(texts), strict=True)
    ]
    assert names == [["tetris"], [word for word in long.split() if word in GAMES], [], []]


def test_a_model_that_labels_no_tokens_is_refused(tmp_path):
    with pytest.raises(ModelError, match="lack classifier"):
        Tagger(TaggerConfig(model=tiny.bi_encoder(tmp_path / "one"))).try_out()
    labels = [[(word, label.replace("O", "none")) for word, label in sentence] for sentence in SENTENCES]
    with pytest.raises(ModelError, match="none of its labels is `O`"):
        Tagger(TaggerConfig(model=tiny.tagger(tmp_path / "two", labels, steps=1))).try_out()


QUERIES = [Query("q1", "Who sells Tetris?", "train"), Query("q2", "who sells?", "train")]
TEXTS = ["Globex sells Tetris abroad and Doom at home, while Acme rests.", "Acme sells cars.", "nothing"]


@pytest.mark.parametrize("kind", ["exact", "bm25", "chroma", "concatenated"])
def test_any_retriever_searches_names_and_finds_passages(tools, kind):
    config = RETRIEVERS.find(kind).config
    fields = {"model": MODEL} if "model" in config.model_fields else {}
    entities = FIELDS.find("entities").config()
    found = tools.search("", config(**fields, top_k=1, field=entities), passages_of(TEXTS), QUERIES)
    assert found.rankings[0].chunk_ids == ("d:0-1",)
    # one that names nothing finds nothing
    assert found.rankings[1].chunk_ids == ()
    assert [query.text for query in found.asked] == ["Tetris"]
    # again from the cache
    again = tools.search("", config(**fields, top_k=1, field=entities), passages_of(TEXTS), QUERIES)
    assert again.rankings == found.rankings


def test_the_ranking_of_a_field_is_kept_apart_from_that_of_the_text(tools):
    config = RETRIEVERS.find("exact").config
    query = [Query("q1", "Who sells Tetris?", "train")]
    plain = config(model=MODEL, top_k=3)
    names = config(model=MODEL, top_k=3, field=FIELDS.find("entities").config())
    first, second = (tools.search("", one, passages_of(TEXTS), query).rankings for one in (plain, names))
    assert first != second
    assert len(first[0].chunk_ids) == 3
    assert tools.identity(plain) != tools.identity(names)


def test_the_score_is_the_mean_over_the_names_of_the_query_of_the_best_match(tools):
    config = RETRIEVERS.find("exact").config
    search = config(model=MODEL, top_k=3, field=FIELDS.find("entities").config())
    query = [Query("q1", "What of Acme and Tetris?", "train")]
    ranking = tools.search("", search, passages_of(TEXTS), query).rankings[0]
    plain = config(model=MODEL, top_k=9)
    names = passages_of(["Globex", "Tetris", "Doom", "Acme"])
    pairs = tools.search("", plain, names, [Query("a", "Acme", "train"), Query("b", "Tetris", "train")])
    acme, tetris = (dict(zip(one.chunk_ids, one.scores, strict=True)) for one in pairs.rankings)
    assert ranking.chunk_ids == ("d:0-1", "d:1-2")
    # both names are in the first passage; the second names Acme alone
    assert ranking.scores == pytest.approx([1.0, (1 + tetris["d:3-4"]) / 2], abs=1e-5)
    assert acme["d:3-4"] == pytest.approx(1.0, abs=1e-5)


def test_names_of_passages_and_of_queries_are_priced_apart_before_anything_is_paid(tools):
    endpoint = {"model": "m", "base_url": "http://localhost:9", "api_key_env": None}
    field = FIELDS.find("llm_entities").config(endpoint=endpoint, prices={"m": {"input": 1, "output": 1}})
    retriever = RETRIEVERS.find("bm25").config(field=field)
    tools.session.may_ask = False
    calls = tools.calls(retriever, passages_of(TEXTS), QUERIES)
    assert [(call.purpose, call.estimate.calls) for call in calls] == [("naming", 3), ("rewriting", 2)]


def test_field_is_a_word_or_a_section_of_a_route(write_config):
    section = "{kind: model_entities, model: some/model, labels: [PER]}"
    path = write_config(
        retrieve=f"""
  kind: rrf
  routes:
    - {{kind: bm25}}
    - {{kind: bm25, field: entities}}
    - {{kind: bm25, field: {section}}}""",
        rerank="null",
    )
    routes = load_config(path).settings[0].retrieve.routes
    assert [route.field and route.field.kind for route in routes] == [None, "entities", "model_entities"]
    path = write_config(retrieve="{kind: rrf, field: entities, routes: [{kind: bm25}]}", rerank="null")
    with pytest.raises(ConfigError, match="give each route its own"):
        load_config(path)
    path = write_config(retrieve="{kind: bm25, field: entity}", rerank="null")
    with pytest.raises(ConfigError, match="entities"):
        load_config(path)


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "llm_entities"])
def test_every_kind_keeps_the_contract(name, tools, request):
    more = {"model": request.getfixturevalue("tagger")} if name == "model_entities" else {}
    field = FIELDS.make(FIELDS.find(name).config(**more))
    texts = ["acme releases tetris soon", "", "we play 3M"]
    found = tools.run(field.of_passages(texts))
    assert len(found) == len(texts)
    assert all(name in text for names, text in zip(found, texts, strict=True) for name in names)
    assert found[1] == ()
    queries = tools.run(field.of_queries(texts, ["tetris"]))
    assert queries.cost == 0.0
    assert "tetris" in queries.names[0]
    json.dumps(field.identity(tools.fingerprint))
