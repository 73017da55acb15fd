"""The whole pipeline on a tiny corpus with the embedded model."""

import json
import math
import random

import pytest

from harness.report import AnswerabilityRow, outcome_of, read_summary
from harness.running import BootstrapConfig, load_config, make_plan
from harness.running.evaluate.scoring import answerability
from harness.values import CorpusError, LabelError, Query, Ranking, Silent
from tests.bench.conftest import DENSE, SENTENCES
from tests.command import bench, table, told
from tests.corpus.attacks import LINE, SCAN, pages_of


def unchanging(folder):
    """The content of every file but the record."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != "record.json")
    return {str(p): outcome_of(p) for p in files}


def test_a_plan_a_run_and_a_second_one_agree_and_nothing_is_computed_twice(write_config, corpus):
    path = write_config(cache="fresh", retrieve=DENSE % "chroma")
    plan = make_plan(load_config(path), Silent())
    assert [s.setting for s in plan.settings] == ["chunk=90/0", "chunk=180/0"]
    assert all(s.to_embed > 0 and s.pairs == 5 * 10 for s in plan.settings)
    assert not (corpus / "fresh" / "harness-v2" / "vectors").exists()
    first, folder, _ = told(path)
    check_tables(first, folder)
    check_answerability(first, folder)
    before = unchanging(folder)
    # and the five queries
    assert first.record.counts["vectors_computed"] == sum(s.to_embed for s in plan.settings) + 5
    assert all(s.to_embed == 0 for s in make_plan(load_config(path), Silent()).settings)
    second, _, _ = told(path)
    assert second.record.counts.get("vectors_computed", 0) == 0
    assert second.record.counts["pairs_computed"] == 0
    assert second.record.counts["documents_parsed"] == 0
    assert unchanging(folder) == before
    check_damage_of_the_cache(path, corpus, before)


def check_tables(results, folder):
    """The tables of a run agree with each other."""
    per_query, summary, ranked = (table(folder / f"{n}.csv") for n in ("per_query", "summary", "rankings"))
    assert {row["setting"] for row in summary} == {"chunk=90/0", "chunk=180/0"}
    assert {row["stage"] for row in summary} == {"retrieve", "rerank"}
    per_query_columns = {(q["setting"], q["stage"], q["measure"]) for q in per_query}
    for row in summary:
        values = [
            float(q["value"])
            for q in per_query
            if all(q[key] == row[key] for key in ("setting", "stage", "measure"))
            and row["split"] in (q["split"], "all")
            and q["value"]
        ]
        assert int(row["n_queries"]) == len(values)
        # q1 to q4 and q5, which is in train; whoever is not in the mean was left out of it
        in_split = sum(row["split"] in (q["split"], "all") for q in per_query) // len(per_query_columns)
        left_out = sum(int(row[f"n_{why}"]) for why in ("unanswerable", "ungraded", "irrelevant"))
        assert len(values) + left_out == in_split
        assert math.isclose(float(row["mean"]), sum(values) / len(values))
        assert float(row["ci_low"] or "0") <= float(row["mean"]) <= float(row["ci_high"] or "1")
    # q5 is unanswerable: it has no NDCG, and it is counted apart in train and all
    counted = {(r["split"], r["n_unanswerable"]) for r in summary if r["measure"] == "ndcg_exp@10"}
    assert counted == {("train", "1"), ("validation", "0"), ("all", "1")}
    of_q5 = [r["value"] for r in per_query if (r["query_id"], r["measure"]) == ("q5", "ndcg_exp@10")]
    assert of_q5 == [""] * 4
    # ranks are 1, 2, … and the score never rises
    for key in {(r["setting"], r["stage"], r["query_id"]) for r in ranked}:
        own = [r for r in ranked if (r["setting"], r["stage"], r["query_id"]) == key]
        assert [int(r["rank"]) for r in own] == list(range(1, len(own) + 1))
        scores = [float(r["score"]) for r in own]
        assert scores == sorted(scores, reverse=True)
    for setting in ("chunk=90-0", "chunk=180-0"):
        assert (folder / "qrels" / f"{setting}.trec").read_text()
        for stage in ("retrieve", "rerank"):
            assert (folder / "runs" / f"{setting}.{stage}.trec").read_text()
    record = json.loads((folder / "record.json").read_text())
    model = record["models"]["embedded:all-MiniLM-L6-v2"]
    assert model["fingerprint"]
    assert (model["dtype"], model["backend"]) == ("float32", "torch")
    steps = ("parse", "labels", "chunk", "embed", "retrieve", "rerank", "score", "total")
    assert set(record["timings"]) >= set(steps)
    assert read_summary(folder)[0] == results.summary


def check_answerability(results, folder):
    """Top scores of unanswerable queries are set against those of the others."""
    for row in table(folder / "answerability.csv"):
        tops = {
            r["query_id"]: float(r["score"])
            for r in table(folder / "rankings.csv")
            if r["rank"] == "1" and (r["setting"], r["stage"]) == (row["setting"], row["stage"])
        }
        # one unanswerable query, q5: the AUROC is the share of the four others that score higher
        higher = [tops[q] > tops["q5"] for q in ("q1", "q2", "q3", "q4")]
        assert float(row["auroc"]) == sum(higher) / 4
        assert (row["n_answerable"], row["n_unanswerable"], row["ci_low"]) == ("4", "1", "")
    found = table(folder / "thresholds.csv")
    assert len(results.of(AnswerabilityRow)) == 4
    first, last = found[0], found[len(found) // 4 - 1]
    assert (first["answerable_kept"], first["unanswerable_refused"]) == ("1.0", "0.0")
    assert (last["threshold"], last["answerable_kept"]) == ("inf", "0.0")


def check_damage_of_the_cache(path, corpus, expected):
    """Flipped bits in it change no figure and are reported once."""
    rnd = random.Random(4)
    for file in (corpus / "fresh").rglob("*"):
        if file.is_file() and file.name != "CACHEDIR.TAG" and file.stat().st_size:
            content = bytearray(file.read_bytes())
            for _ in range(20):
                content[rnd.randrange(len(content) // 2, len(content))] ^= 1 << rnd.randrange(8)
            file.write_bytes(bytes(content))
    _, folder, reporter = told(path)
    assert unchanging(folder) == expected
    (message,) = [text for text in reporter.warnings if "damaged" in text]
    for what in ("document", "outlines", "chunks", "chunk_health", "ranking", "vectors", "indexes", "pairs"):
        assert f" of {what} (" in message
    _, folder, reporter = told(path)
    assert unchanging(folder) == expected
    assert not [text for text in reporter.warnings if "damaged" in text]


def test_exported_runs_give_our_figures_in_trec_eval(write_config):
    """Every judged chunk here stands for its own evidence, so trec_eval's definition is ours."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = write_config(chunk="{kind: recursive, chunk_size: 70}", more="measures: [ndcg_lin@5, mrr, map]")
    _, folder, _ = told(path)
    with (folder / "qrels" / "base.trec").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    for stage in ("retrieve", "rerank"):
        with (folder / "runs" / f"base.{stage}.trec").open() as file:
            run_ = pytrec_eval.parse_run(file)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5", "recip_rank"}).evaluate(run_)
        names = {"ndcg_lin@5": "ndcg_cut_5", "mrr": "recip_rank"}
        counted = {r["query_id"] for r in table(folder / "per_query.csv") if r["value"]}
        assert set(theirs) == counted == {"q1", "q2", "q3", "q4"}
        for row in table(folder / "per_query.csv"):
            if row["stage"] == stage and row["measure"] in names and row["value"]:
                assert float(row["value"]) == pytest.approx(
                    theirs[row["query_id"]][names[row["measure"]]], abs=1e-9
                )


def test_chunks_longer_than_the_encoder_reads_are_warned_of(write_config, corpus):
    (corpus / "docs" / "people.txt").write_text(
        "At the end of the year 39,717 people worked for the company. " * 60
    )
    _, _, reporter = told(write_config(chunk="{kind: page}", rerank="null"))
    assert any("longer than the 256 tokens" in text and "1 of 3" in text for text in reporter.warnings)


def test_a_document_that_cannot_be_read_fails_or_is_listed(lexical, corpus):
    (corpus / "docs" / "bad.txt").write_bytes(b"\xff\xfe\xfa broken")
    with pytest.raises(CorpusError, match=r"bad\.txt"):
        told(lexical())
    path = lexical(more="on_bad_document: skip")
    _, folder, reporter = told(path)
    (message,) = [text for text in reporter.warnings if text.startswith("Skipped ")]
    assert message.count("bad.txt") == 1
    listed = {row["document"]: row["status"] for row in table(folder / "documents.csv")}
    assert listed == dict.fromkeys(SENTENCES, "read") | {"bad": "skipped"}
    # what is asked of a skipped document has labels, so nobody is told to write some
    (corpus / "docs" / "people.txt").replace(corpus / "docs" / "bad.txt")
    rows = (corpus / "labels.csv").read_text().replace("people", "bad")
    (corpus / "labels.csv").write_text(rows)
    (corpus / "docs" / "bad.txt").write_bytes(b"\xff\xfe\xfa broken")
    said = " ".join(told(path)[2].warnings)
    skipped = "1 query has labels only in documents that were skipped, and is left out of NDCG and recall"
    assert f"{skipped}; replace these documents by whole ones (q1)." in said
    assert "label the passages that answer" not in said
    for name in ("engines", "harbour"):
        (corpus / "docs" / f"{name}.txt").unlink()
    with pytest.raises(CorpusError, match="Of 1 document none can be used"):
        told(path)


def test_a_label_that_cannot_be_anchored_fails_before_any_model_is_used(write_config, lexical, corpus):
    with (corpus / "labels.csv").open("a") as file:
        file.write("q1,people,nothing like this stands anywhere,4\n")
    with pytest.raises(LabelError):
        told(write_config(cache="fresh"))
    assert not (corpus / "fresh" / "harness-v2" / "vectors").exists()
    results, folder, _ = told(lexical(more="anchor: {on_unanchored: list}"))
    assert results.record.counts["labels_not_anchored"] == 1
    assert [r["accepted"] for r in table(folder / "anchoring.csv")].count("no") == 1


def test_doubtful_labels_are_warned_of(lexical, corpus):
    def warned(more=""):
        return " ".join(told(lexical(more=more))[2].warnings)

    with (corpus / "labels.csv").open("a") as file:
        file.write("q5,engines,is cast from an aluminium alloy with eight per cent silicon.,4\n")
        file.write('q3,people,"At the end of the year 38,717 people worked for the company.",3\n')
    with (corpus / "queries.csv").open("a") as file:
        file.write("q6,Where is the foundry?,train,yes\n")
    with (corpus / "docs" / "harbour.txt").open("a") as file:
        file.write(" A crane failure stopped loading for nine days in March.")
    said = warned()
    assert "found by similarity, but figures in quote and text differ" in said
    # both places count, so there is nothing to warn of
    assert "found more than once" not in said
    assert "marked unanswerable, has a label of the highest grade, and is left out of NDCG (q5)" in said
    assert "1 query has no label" in said
    # the label has 55 characters, 46 of them no white space
    for anchor in ("duplicates: false", "duplicate_length: 47"):
        assert "1 quote was found more than once" in warned(f"anchor: {{{anchor}}}")
    said = warned("relevance: {unanswerable: zero}")
    assert "is counted as 0 in NDCG (q5)" in said
    assert "1 query has no label and is counted as 0 in NDCG and recall; label" in said
    assert "left out" not in said


def test_a_query_that_nobody_graded_is_neither_answerable_nor_unanswerable(write_config, corpus, no_workers):
    with (corpus / "queries.csv").open("a") as file:
        file.write("q6,Where is the foundry?,train,yes\nq7,Who paints the cars in the shop?,train,yes\n")
    with (corpus / "labels.csv").open("a") as file:
        file.write("q7,people,The pension plan was closed to new members in 2011.,0\n")
    results, _, _ = told(write_config(chunk="{kind: recursive, chunk_size: 90}", rerank="null"))
    # q5 is marked, q7 is graded with nothing relevant
    assert [(row.n_answerable, row.n_unanswerable) for row in results.of(AnswerabilityRow)] == [(4, 2)]


def test_an_auroc_from_few_queries_always_has_a_remark():
    def remark(answerable, unanswerable):
        queries = [Query(f"q{i}", "", "train", i < answerable) for i in range(answerable + unanswerable)]
        rankings = [Ranking(query.query_id, ("d:0-1",), (0.5,)) for query in queries]
        head, *_ = answerability("a", "retrieve", rankings, queries, BootstrapConfig())
        return head.remark

    assert remark(9, 4) == "from only 4 unanswerable queries"
    assert remark(1, 5) == "from only 1 answerable query"
    assert remark(5, 5) == ""


def test_lost_text_is_reported_in_one_line_and_above_a_share_an_error(lexical, corpus, no_workers):
    (corpus / "docs" / "scan.pdf").write_bytes(pages_of(LINE, SCAN, SCAN, LINE))
    (corpus / "docs" / "odd.txt").write_text("A text with a private \ue000 symbol.")
    sound = pages_of(LINE)
    (corpus / "docs" / "mended.pdf").write_bytes(sound.replace(b"startxref\n", b"startxref\n1"))
    path = lexical()
    # in this process warnings of files that are read side by side would mix
    path.write_text(path.read_text().replace("docs/*.txt", "docs/*") + "parsing: {workers: 1}\n")
    results, folder, reporter = told(path)
    message = " ".join(reporter.warnings)
    assert "Text of 6 documents: 2 of 5 (40.00%) pages and 1 of " in message
    assert "1 document has pages without text although something is drawn on them" in message
    assert "scan (pages 2-3)" in message
    counts = results.record.counts
    assert (counts["pages_suspect"], counts["characters_suspect"]) == (2, 1)
    rows = {row["document"]: row for row in table(folder / "documents.csv")}
    row = rows["scan"]
    assert (row["suspect_pages"], row["suspect_characters"], row["missing_characters"]) == ("2 3", "0", "0")
    assert counts["characters"] == sum(int(row["characters"]) for row in rows.values())
    reason = rows["mended"]["reason"].split("; ")[0]
    assert f"1 document could be read, but only after repairing errors (mended: {reason})" in message

    (corpus / "docs" / "mended.pdf").unlink()
    path.write_text(path.read_text().replace("workers: 1", "max_suspect_pages: 0.4"))
    with pytest.raises(CorpusError, match=r"scan\.pdf: 2 of 4 pages may have lost text.*on_bad_document"):
        told(path)
    path.write_text(path.read_text() + "on_bad_document: fail_at_end\n")
    _, folder, reporter = told(path)
    listed = {row["document"]: row["status"] for row in table(folder / "documents.csv")}
    assert listed["scan"] == "skipped"
    assert any("scan.pdf: 2 of 4 pages" in text for text in reporter.warnings)
    assert any("are suspect" in text and "pages" not in text for text in reporter.notes)


def test_sentences_are_embedded_once_for_all_chunkings_by_meaning(lexical):
    path = lexical(chunk="{kind: semantic, percentile: [50, 80], chunk_size: 300, min_size: 20}", cache="own")
    first, _ = bench(path)
    # three documents of eight sentences; both chunkings read the same ones
    assert first.record.counts["vectors_computed"] == 24
    assert "embedded:all-MiniLM-L6-v2" in first.record.models
    again, _ = bench(path)
    assert again.record.counts.get("vectors_computed", 0) == 0
    assert again.summary == first.summary
    assert make_plan(load_config(path), Silent()).models == ("embedded:all-MiniLM-L6-v2",)
