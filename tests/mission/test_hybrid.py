"""The document on hybrid retrieval: tables, distances, words and vectors together, queries rewritten."""

import json

import pytest

from harness.running import kept_terms
from harness.steps import RETRIEVERS, Analyser
from tests.command import table
from tests.judge.fake_server import FakeServer, says
from tests.mission.helpers import flow, run_in
from tests.models import tiny

DENSE = {"kind": "exact", "model": "embedded:all-MiniLM-L6-v2", "top_k": 5}
PASSAGES = {
    "rain": "Rain fell on the harbour for nine days.",
    "yard": "The yard holds 4,200 vehicles.",
    "pump": "The fuel pump was recalled in the cold.",
}


def ranked(results, stage="retrieve", query="q1", setting=None):
    """The documents of one ranking with their scores, in their order."""
    return {
        row["document"]: float(row["score"])
        for row in table(results / "rankings.csv")
        if (row["stage"], row["query_id"]) == (stage, query) and setting in (None, row["setting"])
    }


def searched(folder, retriever, *queries, passages=PASSAGES, **sections):
    label = [("q1", next(iter(passages)), 4)]
    retriever = retriever if isinstance(retriever, str) else flow(retriever)
    return run_in(
        folder, passages, list(queries), label, retrieve=retriever, measures="[ndcg_exp@5]", **sections
    )


@pytest.mark.parametrize(
    ("table_rows", "chunk", "shown"),
    [
        (["Product,Price"], "{kind: rows, rows: 1, header_rows: 1}", ["Product,Price"]),
        # the user says by numbers which rows are the heading
        (
            ["Product,Price", "all,7", "name,euros"],
            "{kind: rows, rows: 1, heading_rows: [1, 3]}",
            ["Product,Price", "name,euros"],
        ),
    ],
)
def test_hyb_1_every_row_of_a_table_is_a_chunk_with_the_heading(tmp_path, table_rows, chunk, shown):
    """hyb-1: table rows with heading."""

    (tmp_path / "documents").mkdir(parents=True)
    text = "\n".join([*table_rows, "Tea,3", "Coffee,4", ""])
    (tmp_path / "documents" / "prices.csv").write_text(text, encoding="utf-8")
    results = run_in(
        tmp_path,
        {},
        ["What does coffee cost?"],
        retrieve="{kind: bm25, top_k: 5}",
        documents=str(tmp_path / "documents" / "*.csv"),
        chunk=chunk,
        labels=one_label(tmp_path, "prices", "Coffee,4"),
        measures="[ndcg_exp@5]",
    )
    first = next(row for row in table(results / "rankings.csv") if row["rank"] == "1")
    spans = [span.split("-") for span in first["chunk_id"].removeprefix("prices:").split("+")]
    assert [text[int(start) : int(end)].strip() for start, end in spans] == [*shown, "Coffee,4"]


def one_label(folder, document, quote):
    path = folder / "one.csv"
    path.write_text(f'query_id,document,quote,grade\nq1,{document},"{quote}",4\n', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("distance", ["ip", "cosine", "l2"])
def test_hyb_2_vectors_by_dot_product_angle_and_euclidean_distance(tmp_path, distance):
    """hyb-2: dot; cosine; Euclid; HNSW; IVF-PQ."""

    results = searched(tmp_path, {**DENSE, "distance": distance}, "How many vehicles does the yard hold?")
    assert next(iter(ranked(results))) == "yard"


@pytest.mark.parametrize("index", [{"index": "hnsw"}, {"index": "ivf_pq", "m": 48, "nbits": 8}])
def test_hyb_2_indexes_of_approximate_search(index):
    config = RETRIEVERS.find("faiss").config(model="embedded:all-MiniLM-L6-v2", **index)
    assert config.index == index["index"]


def test_hyb_3_a_rare_term_counts_more_than_one_in_every_document(tmp_path):
    """hyb-3: BM25: rare over frequent (莎士比亚 over 李白); the 哈利波特 example."""

    passages = {f"d{at:03}": f"李白 第{at}篇" for at in range(99)} | {"only": "李白 莎士比亚 第九九篇"}
    label = [("q1", "only", 4)]
    results = run_in(
        tmp_path,
        passages,
        ["莎士比亚", "李白"],
        label,
        retrieve="{kind: bm25, top_k: 100}",
        measures="[ndcg_exp@5]",
    )
    rare, common = ranked(results), ranked(results, query="q2")
    assert next(iter(rare)) == "only"
    # what is in every document adds next to nothing
    assert rare["only"] > 10 * max(common.values())


def test_hyb_3_a_name_in_a_long_report_is_found_by_its_words(tmp_path):
    passages = {
        "other": "某车企将要发售新车型。",
        "report": "本季度收入为201亿元。公司手游营收增长。公司积极应用新技术。年内《哈利波特》将于海外上线。",
    }
    results = searched(
        tmp_path, {"kind": "bm25", "top_k": 5}, "哪一家公司计划发售哈利波特？", passages=passages
    )
    assert next(iter(ranked(results))) == "report"


@pytest.mark.parametrize("kind", ["bm25", "concatenated"])
def test_hyb_4_added_documents_are_read_alone_and_what_is_kept_stays(tmp_path, monkeypatch, kind):
    """hyb-4: TF kept in the store and IDF apart: documents added without rewriting old vectors."""

    retriever = {**DENSE, "kind": kind} if kind == "concatenated" else {"kind": kind, "top_k": 5}
    texts, terms = [], Analyser.terms
    monkeypatch.setattr(Analyser, "terms", lambda self, text: texts.append(text) or terms(self, text))
    query = "How many vehicles does the yard hold?"

    def run(folder, passages):
        """The scores, the passages whose terms were computed, and how many vectors were."""
        texts.clear()
        # as another process, which has nothing in memory
        monkeypatch.setattr(kept_terms, "_kept", {})
        results = searched(folder, retriever, query, passages=passages)
        counts = json.loads((results / "record.json").read_text("utf-8"))["counts"]
        read = [text for text in texts if text in passages.values()]
        return ranked(results), read, counts.get("vectors_computed", 0)

    def kept():
        return {path: path.read_bytes() for path in (tmp_path / "both").rglob("terms.npy")}

    before, read, vectors = run(tmp_path / "both", PASSAGES)
    assert sorted(read) == sorted(PASSAGES.values())
    assert vectors == (len(PASSAGES) + 1 if kind == "concatenated" else 0)
    files = kept()
    assert len(files) == 1
    # a name that sorts before the others: what is kept does not go by places
    more = {"barn": "The barn holds no vehicles.", **PASSAGES}
    scores, read, vectors = run(tmp_path / "both", more)
    assert read == [more["barn"]]
    assert vectors == (1 if kind == "concatenated" else 0)
    assert kept().items() > files.items()
    # the rarity of terms is that of all four, as in an index that was built at once
    assert scores["yard"] != before["yard"]
    assert scores == run(tmp_path / "once", more)[0]


def test_hyb_5_dense_and_sparse_in_one_vector_add_their_products(tmp_path):
    """hyb-5: dense and sparse concatenated: a·b."""

    query = "How many vehicles does the yard hold?"
    dense = ranked(searched(tmp_path / "dense", DENSE, query))
    sparse = ranked(searched(tmp_path / "sparse", {"kind": "bm25", "top_k": 5}, query))
    both = ranked(searched(tmp_path / "both", {**DENSE, "kind": "concatenated", "weight": 0.5}, query))
    assert both == pytest.approx({name: dense[name] + 0.5 * sparse.get(name, 0.0) for name in both}, abs=1e-5)
    assert list(both) == sorted(both, key=lambda name: -both[name])


def test_hyb_6_synonyms_find_another_name(tmp_path):
    """hyb-6: synonyms 杜工部 and 杜牧; RRF with weights; ELSER-like."""

    (tmp_path / "names.txt").write_text("杜工部, 杜牧\n", encoding="utf-8")
    passages = {"poem": "杜牧写了这首诗。", "other": "李白写了那首诗。"}
    retriever = {"kind": "bm25", "top_k": 5}
    without = ranked(searched(tmp_path / "without", retriever, "杜工部", passages=passages))
    named = {**retriever, "synonyms": str(tmp_path / "names.txt")}
    found = ranked(searched(tmp_path / "with", named, "杜工部", passages=passages))
    assert next(iter(found)) == "poem"
    assert found["poem"] > without.get("poem", 0.0)


def test_hyb_6_rankings_are_fused_by_weighted_reciprocal_ranks(tmp_path):
    routes = [DENSE, {"kind": "bm25", "top_k": 5}]
    retriever = {"kind": "rrf", "k": 60, "weights": [3, 1], "routes": routes, "top_k": 5}
    results = searched(tmp_path, retriever, "How many vehicles does the yard hold?")
    stages = {row["stage"] for row in table(results / "rankings.csv")}
    dense, sparse = (list(ranked(results, stage)) for stage in sorted(stages - {"retrieve"}, reverse=True))
    fused = ranked(results)
    expected = {
        name: sum(
            weight / (60 + order.index(name) + 1)
            for weight, order in ((3, dense), (1, sparse))
            if name in order
        )
        for name in fused
    }
    assert fused == pytest.approx(expected, abs=1e-6)


def rewriter(url, prompt):
    endpoint = {"model": "fake-1", "base_url": url, "api_key_env": None}
    return {"kind": "llm", "prompt": prompt, "endpoint": endpoint}


def test_hyb_7_entities_of_the_question_by_a_language_model_are_a_route(tmp_path):
    """hyb-7: entities of the question by a language model as a route."""

    prompt = tmp_path / "entities.yaml"
    prompt.write_text("user: 'List the names in this question, and nothing else: {{ query }}'\n")
    with FakeServer(lambda request, number: says("vehicles yard")) as server:
        words = {"kind": "bm25", "top_k": 5}
        routes = [words, {**words, "rewrite": rewriter(server.url, str(prompt))}]
        results = searched(tmp_path, {"kind": "rrf", "top_k": 5, "routes": routes}, "What about the harbour?")
        assert "List the names" in json.dumps(server.requests[0]["body"])
    stages = {row["stage"] for row in table(results / "rankings.csv")} - {"retrieve"}
    firsts = {next(iter(ranked(results, stage))) for stage in stages}
    # the question finds the rain, its names the yard, and the fusion has both
    assert firsts == {"rain", "yard"}
    assert set(ranked(results)) >= firsts


# the document's report and question, in the language of the model that the tests have
ANNOUNCED = {
    "other": "Tesla is going to release a new car model.",
    "report": "NetEase results: Eggy Party stayed popular in the first quarter. Revenue from games and "
    "related services was 20.1 billion yuan, 7.6 % more than a year before, of which mobile games earned "
    "13.45 billion yuan, 16.3 % more; games for computers earned 5.16 billion yuan, 9.8 % less. Downloads of "
    "Eggy Party led the list of free games. Zero Task, All-Star Street Ball Party, Racing Master and "
    "Extraordinary Ones will go online. In June Justice Mobile gets characters that speak. Abroad, Harry "
    "Potter follows within the year, and Eggy Party is to go there too.",
}
WHO_RELEASES_IT = "Which company plans to release Harry Potter?"


def test_hyb_8_entities_of_documents_are_embedded_and_matched_again(tmp_path):
    """hyb-8: entities of documents embedded and matched again: multi-route recall."""

    def first(name, retriever, stage="retrieve", **more):
        results = searched(tmp_path / name, retriever, WHO_RELEASES_IT, passages=ANNOUNCED, **more)
        return next(iter(ranked(results, stage)))

    # one vector of a long report says little of one game, so that any announcement is nearer
    assert first("plain", DENSE) == "other"
    names = {**DENSE, "field": "entities"}
    assert first("names", names) == "report"
    routes = {"kind": "rrf", "top_k": 5, "weights": [1, 2], "routes": [DENSE, names]}
    assert first("routes", routes) == "report"
    match = "{kind: entities, model: 'embedded:all-MiniLM-L6-v2', weight: 2}"
    assert first("again", DENSE, "rerank", rerank=match) == "report"


def test_hyb_8_the_question_of_the_document_names_what_a_report_marks_as_a_title(tmp_path):
    report = (
        "本季度游戏收入为201亿元。未来将上线《零号任务》《巅峰极速》等游戏。年内《哈利波特》将于海外上线。"
    )
    passages = {"other": "特斯拉将要发售新车型。", "report": report}
    question = "哪一家公司计划发售哈利波特?"
    results = searched(tmp_path, {**DENSE, "field": "entities"}, question, passages=passages)
    assert "哈利波特" in table(results / "asked.csv")[0]["text"]
    assert list(ranked(results)) == ["report"]


def test_hyb_8_a_language_model_names_passages_and_queries_at_prices_of_their_own(tmp_path):
    def reply(request, number):
        text = request["body"]["messages"][-1]["content"]
        return says("Harry Potter\nrelease of a game" if "Harry" in text else "Tesla\na new car")

    with FakeServer(reply) as server:
        endpoint = {"model": "fake-1", "base_url": server.url, "api_key_env": None}
        field = {
            "kind": "llm_entities",
            "endpoint": endpoint,
            "prices": {"fake-1": {"input": 1, "output": 1}},
        }
        results = searched(tmp_path, {**DENSE, "field": field}, WHO_RELEASES_IT, passages=ANNOUNCED)
    assert next(iter(ranked(results))) == "report"
    record = json.loads((results / "record.json").read_text("utf-8"))
    spent = {facts["purpose"]: facts for facts in record["counts"]["rewriting"].values()}
    assert {purpose: facts["calls"] for purpose, facts in spent.items()} == {"naming": 2, "rewriting": 1}
    (price, *_) = [row for row in table(results / "prices.csv") if row["stage"] == "retrieve"]
    # what queries cost is that of the query alone
    assert float(price["rewrite_cost"]) == pytest.approx(spent["rewriting"]["cost"])
    assert spent["naming"]["cost"] > 0


def test_hyb_9_a_trained_bert_finds_the_entities(tmp_path):
    """hyb-9: entities by a trained BERT."""

    games = ["zelda", "tetris", "doom", "quake"]
    sentences = [
        [(who, "O"), (verb, "O"), (game, "B-GAME"), (when, "O")]
        for who, verb in [("acme", "releases"), ("globex", "sells"), ("we", "play")]
        for game in games
        for when in ["today", "soon", "abroad"]
    ]
    model = tiny.tagger(tmp_path / "bert", sentences)
    passages = {
        "other": "acme releases soon we play today abroad",
        "report": "globex sells doom today globex sells tetris soon acme sells quake abroad",
    }
    retriever = {**DENSE, "field": {"kind": "model_entities", "model": model, "labels": ["GAME"]}}
    results = searched(tmp_path / "run", retriever, "acme releases tetris soon", passages=passages)
    assert list(ranked(results)) == ["report"]
    assert [row["text"] for row in table(results / "asked.csv")] == ["tetris"]


def test_hyb_10_a_language_model_makes_a_statement_of_a_question(tmp_path):
    """hyb-10: question to statement by a language model."""

    with FakeServer(lambda request, number: says("李白的朋友是谁。")) as server:
        passages = {"friends": "李白的朋友是高适。", "other": "杜甫写诗。"}
        results = searched(
            tmp_path,
            {"kind": "bm25", "top_k": 5},
            "谁是李白的朋友",
            passages=passages,
            rewrite=flow(rewriter(server.url, "declarative_zh")),
        )
    assert [row["text"] for row in table(results / "asked.csv")] == ["李白的朋友是谁。"]
    assert next(iter(ranked(results))) == "friends"


def test_hyb_11_rules_make_a_statement_of_a_question(tmp_path):
    """hyb-11: question to statement without one."""

    passages = {"friends": "李白的朋友是高适。", "other": "杜甫写诗。"}
    results = searched(
        tmp_path,
        {"kind": "bm25", "top_k": 5},
        "谁是李白的朋友",
        "Who is the chief executive of Ford?",
        passages=passages,
        rewrite="{kind: statement}",
    )
    # the document's own example, and an English one
    statements = ["李白的朋友是谁。", "The chief executive of Ford is"]
    assert [row["text"] for row in table(results / "asked.csv")] == statements
    assert next(iter(ranked(results))) == "friends"


def test_hyb_12_the_scores_before_and_after_rewriting_stand_beside_each_other(tmp_path):
    """hyb-12: similarity before and after rewriting."""

    with FakeServer(lambda request, number: says("The yard holds vehicles.")) as server:
        results = searched(
            tmp_path,
            DENSE,
            "How many vehicles does the yard hold?",
            rewrite=flow([None, rewriter(server.url, "declarative")]),
        )
    settings = list(dict.fromkeys(row["setting"] for row in table(results / "rankings.csv")))
    before, after = (ranked(results, setting=name)["yard"] for name in settings)
    # the statement shares more of its words with the passage
    assert after > before
    assert {row["setting"] for row in table(results / "asked.csv")} == {settings[1]}
