"""Hits of another pipeline are scored as our own search is."""

import json
from dataclasses import replace

import pytest

from harness.comparison import Holes, read_stored, scores_of, sentence, verdict_json, verdict_on
from harness.report import read_result
from tests.command import bench, one_line, table
from tests.command import run as command
from tests.compare.build import conclude, noisy

from .conftest import SENTENCES

MEASURES = (
    "[ndcg_exp@10, ndcg_evidence@5000, ndcg_text@300, ndcg_text_tokens@60, recall@3, map, judged@10, "
    "ndcg_exp_upper@10, tokens@3]"
)

NAMES = MEASURES.strip("[]").replace(" ", "")


def write(path, hits):
    path.write_text("".join(json.dumps(hit) + "\n" for hit in hits), encoding="utf-8")
    return path


@pytest.fixture
def score(corpus, shared_cache, capsys):
    """Score files of hits on the tiny corpus; returns the folder and what was said."""

    def run(*files, more=()):
        words = ["score", "--hits", *files, "--queries", f"{corpus}/queries.csv"]
        words += ["--labels", f"{corpus}/labels.csv", "--documents", f"{corpus}/docs/*.txt"]
        words += ["--results", f"{corpus}/results", "--cache", shared_cache, *more]
        words += [] if "--name" in more else ["--name", "mine"]
        code, out, err = command(capsys, *words)
        assert code == 0, err
        return corpus / "results" / "mine", one_line(out + err)

    return run


@pytest.fixture
def run(write_config, corpus):
    """A tiny lexical benchmark: two chunkings, two ranks a query, and evidence that no query finds."""
    with (corpus / "labels.csv").open("a", encoding="utf-8") as file:
        file.write(f'q1,engines,"{SENTENCES["engines"][3]}",2\n')
    path = write_config(
        chunk="{kind: recursive, chunk_size: [90, 180]}",
        retrieve="{kind: bm25, top_k: 2}",
        rerank="null",
        more=f"measures: {MEASURES}",
    )
    return bench(path)


def exported(folder, setting):
    """The rankings of a setting as another pipeline would write them."""
    for row in table(folder / "rankings.csv"):
        if row["setting"] == setting:
            start, end = row["chunk_id"].rpartition(":")[2].split("-")
            hit = {"query_id": row["query_id"], "rank": int(row["rank"]), "score": float(row["score"])}
            yield hit | {"document": row["document"], "start": int(start), "end": int(end)}


def values(folder, setting):
    return {
        (row["query_id"], row["measure"]): row["value"]
        for row in table(folder / "per_query.csv")
        if row["setting"] == setting
    }


def test_the_hits_of_a_run_get_the_scores_of_the_run(run, score, tmp_path):
    results, folder = run
    names = {row.setting for row in results.summary}
    settings = dict(zip(("small", "large"), sorted(names, key=lambda n: "180" in n), strict=True))
    files = [write(tmp_path / f"{own}.jsonl", exported(folder, name)) for own, name in settings.items()]
    mine, _ = score(*files, more=["--measures", NAMES])
    for own, name in settings.items():
        assert values(mine, own) == values(folder, name)
    # some evidence was not returned, so the ideal could not be had from the returned chunks alone
    counts = json.loads((mine / "record.json").read_text())["counts"]["settings"]
    assert any(counts[own]["evidence_not_returned"] for own in settings)
    # and the two results can be compared: the same queries on the same text
    stored = {name: read_stored(path) for name, path in {"run": folder, "mine": mine}.items()}
    assert len(scores_of(stored).matrices["ndcg_text@300"].settings) == 4
    # the text alone gets the same scores
    name = results.summary[0].setting
    text = {d: (tmp_path / "docs" / f"{d}.txt").read_text() for d in SENTENCES}
    hits = []
    for hit in exported(folder, name):
        own = text[hit["document"]][hit["start"] : hit["end"]]
        hits.append({"query_id": hit["query_id"], "rank": hit["rank"], "text": " ".join(own.split())})
    more = ["--measures", NAMES, "--name", "texts"]
    _, output = score(write(tmp_path / "texts.jsonl", hits), more=more)
    assert values(mine.with_name("texts"), "texts") == values(folder, name)
    assert f"{len(hits)} of {len(hits)} hits placed" in output


def test_what_is_not_found_keeps_its_rank_and_is_counted(score, corpus):
    people = SENTENCES["people"][0]
    hits = [
        {"query_id": "q1", "rank": 1, "text": "Nobody wrote this. " * 5},
        {"query_id": "q1", "rank": 2, "text": people},
        {"query_id": "q1", "rank": 3, "text": people},
        {"query_id": "q1", "rank": 4, "text": "Nobody wrote this. " * 5},
    ]
    mine, output = score(write(corpus / "hits.jsonl", hits))
    assert "2 of 4 hits not found in the documents; each keeps its rank as unjudged text (line 1," in output
    assert "1 of 4 hits returned twice for one query" in output
    assert "4 of 5 queries have no hits (q2, q3, q4 and 1 more)" in output
    ranked = table(mine / "rankings.csv")
    assert [(r["document"], r["grade"], r["earned"]) for r in ranked] == [
        ("not-found", "", "0"),
        ("people", "4", "4"),
        ("people", "4", "0"),
        ("not-found", "", "0"),
    ]
    found = values(mine, "hits")
    # gain 15 at rank 2: 15 / log2(3) of 15; q2 has no hits and scores 0, q5 cannot be answered
    assert float(found["q1", "ndcg_exp@10"]) == pytest.approx(0.6309297535714575, abs=1e-12)
    assert float(found["q1", "judged@10"]) == 0.5
    assert found["q2", "ndcg_exp@10"] == "0.0"
    assert found["q5", "ndcg_exp@10"] == ""
    # ranks without scores say nothing of what can be answered
    assert not (mine / "answerability.csv").exists() or not table(mine / "answerability.csv")
    assert [row["document"] for row in table(mine / "hits.csv")] == ["", "people", "people", ""]
    assert {row["document"] for row in table(mine / "documents.csv")} == set(SENTENCES)
    # how the documents were cut is not known, and no row says that it cost nothing
    assert {row["part"] for row in table(mine / "waterfall.csv")} == {"candidates", "order"}
    assert {row["index_tokens"] for row in table(mine / "prices.csv")} == {""}
    assert (mine / "report.html").stat().st_size > 10_000


def test_evidence_that_was_not_returned_stays_in_the_ideal(score, corpus):
    with (corpus / "labels.csv").open("a", encoding="utf-8") as file:
        file.write(f'q1,people,"{SENTENCES["people"][1]}",3\n')
    hits = [{"query_id": "q1", "rank": 1, "text": SENTENCES["people"][1]}]
    mine, _ = score(write(corpus / "hits.jsonl", hits))
    # gain 7 of an ideal of 15 + 7 / log2(3); the answer of grade 4 was never returned
    ideal = 15 + 7 * 0.6309297535714575
    assert float(values(mine, "hits")["q1", "ndcg_exp@10"]) == pytest.approx(7 / ideal, abs=1e-12)
    counts = json.loads((mine / "record.json").read_text())["counts"]["settings"]["hits"]
    # q1's first label, and those of q2 to q4
    assert counts["evidence_not_returned"] == 4
    assert len(read_result(mine).texts) == 3


def test_two_files_are_two_settings_that_are_compared(score, corpus):
    found = {
        q: SENTENCES[d][i] for q, d, i in (("q1", "people", 0), ("q2", "engines", 1), ("q3", "harbour", 0))
    }
    good = [{"query_id": q, "score": 1.0, "text": text} for q, text in found.items()]
    poor = [{"query_id": q, "score": 1.0, "text": SENTENCES["people"][3]} for q in found]
    (corpus / "b").mkdir()
    one, other = write(corpus / "hits.jsonl", good), write(corpus / "b" / "hits.jsonl", poor)
    mine, output = score(one, more=("--hits", other))
    names = {row["setting"] for row in table(mine / "summary.csv")}
    assert names == {f"{corpus.name}/hits", "b/hits"}
    verdict = json.loads((mine / "verdict.json").read_text())
    # cut in ways that nobody knows, they are compared by a measure that does not depend on it
    assert verdict["measure"] == "ndcg_evidence@5000"
    assert verdict["leader"] == f"{corpus.name}/hits"
    assert "too few to choose by" in output


def test_an_unknown_document_may_be_kept_as_unjudged_text(score, corpus):
    hits = [{"query_id": "q1", "rank": 1, "document": "letters", "text": SENTENCES["people"][0]}]
    mine, _ = score(write(corpus / "hits.jsonl", hits), more=["--other-documents", "keep"])
    assert table(mine / "rankings.csv")[0]["grade"] == ""


def test_scores_that_look_like_distances_are_warned_of(score, corpus):
    hits = [{"query_id": "q1", "score": s, "text": SENTENCES["people"][i]} for i, s in enumerate((0.1, 0.7))]
    assert "write a column rank instead" in score(write(corpus / "hits.jsonl", hits))[1]


def test_a_usual_name_of_the_column_document_is_warned_of(score, corpus):
    hits = [{"query_id": "q1", "rank": 1, "doc": "people", "text": SENTENCES["people"][0]}]
    told = "the column 'doc' is not read, and every text is sought in all documents"
    assert told in score(write(corpus / "hits.jsonl", hits))[1]
    named = [{"document" if key == "doc" else key: value for key, value in row.items()} for row in hits]
    assert "is not read" not in score(write(corpus / "hits.jsonl", named))[1]


def test_hits_in_no_document_are_told_and_not_taken_for_missing_labels(score, tmp_path):
    """A stranger's retriever that has searched other text: nobody should label for it."""
    hits = [
        {
            "query_id": query,
            "rank": rank,
            "text": f"Not in any document: {query} {rank}.",
        }
        for query in ("q1", "q2", "q3")
        for rank in (1, 2, 3)
    ]
    folder, told = score(write(tmp_path / "strange.jsonl", hits))
    verdict = verdict_on(folder)
    assert verdict.elsewhere == {"strange": 1.0}
    said = "Nothing was found: 100% of the hits are in no document"
    assert said in sentence(verdict)
    assert said in told
    assert "labels may be missing" not in told.lower()
    assert "correct the text of its hits" in verdict_json(verdict)["next"][0]["text"]
    # where little is judged for it, and where all hits are in documents
    shown = replace(conclude(noisy(60, (0.6, 0.5))), holes=Holes("judged@10", {"a": 0.02, "b": 0.04}))
    assert "labels may be missing" in sentence(shown)
    strange = replace(shown, elsewhere={"a": 0.75, "b": 0.2})
    assert sentence(strange).startswith("Hardly anything can be scored: 75% of the hits are in no document.")
    assert "Label what is unjudged" not in verdict_json(strange)["next"][0]["text"]


def test_a_name_that_two_files_share_needs_its_ending_where_offsets_are_meant(score, corpus):
    offsets = [{"query_id": "q1", "rank": 1, "document": "engines", "start": 0, "end": 40}]
    text = (corpus / "docs" / "engines.txt").read_text(encoding="utf-8")
    mine, _ = score(write(corpus / "offsets.jsonl", offsets))
    assert table(mine / "hits.csv")[0]["document"] == "engines"
    # a second file of that name, which comes first, would be taken for it
    (corpus / "docs" / "engines.md").write_text("# Another text\n\n" + text, encoding="utf-8")
    both = ["--documents", f"{corpus}/docs/*"]
    with pytest.raises(AssertionError, match=r"there are several files 'engines'.*Write the name with its"):
        score(corpus / "offsets.jsonl", more=both)
    named = [{**offsets[0], "document": f"engines.{ending}"} for ending in ("md",)]
    mine, _ = score(write(corpus / "named.jsonl", named), more=both)
    assert table(mine / "hits.csv")[0]["document"].startswith("engines")
    # with its text it is found
    hit = {"query_id": "q1", "rank": 1, "document": "engines", "text": text[:40]}
    score(write(corpus / "text.jsonl", [hit]), more=both)


def test_results_and_settings_are_called_by_names_of_any_script(score, corpus, capsys):
    """A name of 66 Chinese letters, the most, from the configuration to the page and the gate."""
    most = "混合检索" * 16 + "报告"
    hits = [{"query_id": "q1", "document": "engines", "text": SENTENCES["engines"][0], "rank": 1}]
    for name in (most, "关键词"):
        write(corpus / f"{name}.jsonl", hits)
    score(corpus / f"{most}.jsonl", corpus / "关键词.jsonl", more=["--name", most])
    folder = corpus / "results" / most
    assert {row["setting"] for row in table(folder / "summary.csv")} == {most, "关键词"}
    # what an ending is put to is shorter
    runs = {path.name.removesuffix(".retrieve.trec") for path in (folder / "runs").iterdir()}
    assert sorted(name[:12] for name in runs) == ["关键词", most[:12]]
    assert most in (folder / "report.html").read_text(encoding="utf-8")
    assert command(capsys, "gate", folder, "--baseline", folder)[0] == 0
    assert command(capsys, "report", folder, "--output", corpus / "page.html")[0] == 0
    # without --name they are called after the file
    words = ["--queries", corpus / "queries.csv", "--labels", corpus / "labels.csv"]
    words += ["--documents", f"{corpus}/docs/*.txt", "--results", corpus / "results"]
    assert command(capsys, "score", "--hits", corpus / "关键词.jsonl", *words)[0] == 0
    assert (corpus / "results" / "关键词" / "report.html").exists()
