"""The document on NDCG of a 10-K: a cross-encoder beside a judge, their ratio, and the prompt."""

from itertools import pairwise

import pytest
from pypdf import PdfReader

from harness.data import join_pages
from harness.models import tokenizer_named
from tests.answer.helpers import case
from tests.command import exit_code, table
from tests.corpus.conftest import pdf_bytes
from tests.mission.figures import figure
from tests.mission.helpers import FIVE, flow, measured, run_in, values
from tests.models.tiny import cross_encoder

PASSAGES = {f"d{at}": f"{word} passage of the report" for at, word in enumerate(FIVE, 1)}
# The grades of the passages in the order of retrieval, as the cross-encoder predicts them and as the judge
# gives them, and the ratio. The document prints no lists. Those of the first query fit its words: both put
# the third passage first, the cross-encoder the first passage second, the judge the last; those of the third
# print 0.95. The query on a footballer has no answer.
EXAMPLES = {
    "revenue": (figure("ndcg-3", "cases.0.predicted"), figure("ndcg-3", "cases.0.judge")),
    "footballer": (figure("ndcg-3", "cases.2.predicted"), figure("ndcg-3", "cases.2.judge")),
    "genius": (figure("ndcg-3", "cases.1.predicted"), figure("ndcg-3", "cases.1.judge")),
}
RATIOS = {
    "q1": figure("ndcg-3", "cases.0.value"),
    "q2": figure("ndcg-3", "cases.2.value"),
    "q3": figure("ndcg-3", "cases.1.value"),
}
PRINTED = {
    "q1": figure("ndcg-3", "cases.0.printed"),
    "q2": figure("ndcg-3", "cases.2.printed"),
    "q3": figure("ndcg-3", "cases.1.printed"),
}


@pytest.fixture(scope="module")
def three_examples(tmp_path_factory):
    scores = {query: dict(zip(FIVE, predicted, strict=True)) for query, (predicted, _) in EXAMPLES.items()}
    reranker = {"kind": "python", "call": "tests.mission.steps:by_table", "version": "1", "top_n": 5}
    return run_in(
        tmp_path_factory.mktemp("examples"),
        PASSAGES,
        list(EXAMPLES),
        [
            (f"q{at}", name, grade)
            for at, (_, judged) in enumerate(EXAMPLES.values(), 1)
            for name, grade in zip(PASSAGES, judged, strict=True)
        ],
        rerank=flow({**reranker, "arguments": {"table": scores}}),
        relevance="{seed_ratio: 5}",
        measures="[ndcg_exp@5]",
    )


def test_ndcg_1_a_pdf_in_chunks_of_a_length_in_chroma_five_passages_and_a_cross_encoder(tmp_path):
    """ndcg-1: pypdf; recursive 1000/0 then 256 tokens; Chroma; top 5; ms-marco shaped cross-encoder."""

    (tmp_path / "documents").mkdir()
    # 1,000 characters of figures are more than 256 tokens, so that the second cut is made too
    pages = [" ".join(f"{at}{yard},9 vehicles." for at in range(10, 99)) for yard in range(2018, 2022)]
    (tmp_path / "documents" / "report.pdf").write_bytes(pdf_bytes(*pages))
    labels = tmp_path / "labels.csv"
    labels.write_text('query_id,document,quote,grade\nq1,report,"102019,9 vehicles.",4\n')
    query, name = "How many vehicles does the yard hold?", cross_encoder(tmp_path / "model")
    results = run_in(
        tmp_path,
        {},
        [query],
        documents=str(tmp_path / "documents" / "*.pdf"),
        labels=str(labels),
        parse="{kind: pypdf}",
        chunk="{kind: recursive_token, chunk_size: 1000, chunk_overlap: 0, tokens_per_chunk: 256}",
        retrieve="{kind: chroma, model: 'embedded:all-MiniLM-L6-v2', top_k: 5}",
        rerank=flow({"kind": "cross_encoder", "model": name, "top_n": 5}),
        relevance="{seed_ratio: 5}",
        measures="[ndcg_exp@5]",
    )
    pages = PdfReader(tmp_path / "documents" / "report.pdf").pages
    text, _ = join_pages([page.extract_text() for page in pages])
    ranked = {stage: {} for stage in ("retrieve", "rerank")}
    for row in table(results / "rankings.csv"):
        start, end = map(int, row["chunk_id"].removeprefix("report:").split("-"))
        ranked[row["stage"]][text[start:end]] = float(row["score"])
    lengths = tokenizer_named("embedded:all-MiniLM-L6-v2").lengths(list(ranked["retrieve"]))
    assert len(lengths) == 5
    assert all(len(passage) < 1000 for passage in ranked["retrieve"])
    assert max(lengths) == 256
    assert list(tmp_path.rglob("chroma.sqlite3"))
    # the same five by what the model itself gives to each pair
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(name)
    pairs = [(query, passage) for passage in ranked["retrieve"]]
    scores = dict(zip(ranked["retrieve"], model.predict(pairs), strict=True))
    assert ranked["rerank"] == pytest.approx(scores, abs=1e-4)
    # scores that are nearly equal may be in any order: a batch rounds otherwise than a pair alone
    assert all(scores[first] > scores[second] - 1e-4 for first, second in pairwise(ranked["rerank"]))
    assert "q1" in values(results, "seed_ratio@5", "rerank")


def test_ndcg_2_grades_are_predicted_by_the_cross_encoder_in_the_order_of_retrieval(three_examples):
    """ndcg-2: relevance predicted by the cross-encoder: 4..0 in the order of retrieval."""

    # DCG with gain 2^g - 1 of 3 1 4 0 2 as they stand: 7 + 1 / log2(3) + 15 / 2 + 3 / log2(6) = 16.291;
    # of 4 3 2 1 0, as if they were in the order of rank: 21.347
    assert values(three_examples, "seed_ratio@5", "rerank")["q1"] == pytest.approx(16.291488 / 21.347184)


def test_ndcg_3_the_ratio_of_two_dcgs_has_the_three_values_of_the_document(three_examples):
    """ndcg-3: ratio of DCG(predicted in order of retrieval) to the sorted DCG of the judge's scores."""

    ratios = values(three_examples, "seed_ratio@5", "rerank")
    assert {query: round(value, 4) for query, value in ratios.items()} == RATIOS
    assert {query: round(value, 2) for query, value in ratios.items()} == PRINTED
    assert {row["reason"] for row in table(three_examples / "seed_ratio.csv")} == {""}
    # NDCG of the same grades in the reranker's order: 4 2 3 1 0, nothing relevant, 4 3 1 2 0
    reranked = values(three_examples, "ndcg_exp@5", "rerank")
    assert [value and round(value, 4) for value in reranked.values()] == [0.9755, None, 0.9935]


def test_ndcg_3_the_ratio_stands_at_one_stage_and_is_shown_with_its_averages(three_examples, capsys):
    assert exit_code("show", three_examples) == 0
    # (0.7632 + 0 + 0.9505) / 3; no query is in validation
    words = "seed_ratio@5, which is not NDCG: 0.571 for train, – for validation, 0.571 over 3 queries."
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "answer",
    [
        "The information provided does not specify what he contributed.\nIt seems to be about leasing.",
        "Based on the information provided from the report, there is no\nspecific mention of genius.",
    ],
)
def test_ndcg_9_answers_that_say_what_was_not_said_are_refusals(answer):
    """ndcg-9: its two printed refusals are refusals."""

    assert measured("refusal", case(answer, answerable=False))[0].value == 1
    assert measured("refusal", case(answer))[0].value == 0


@pytest.mark.parametrize("answerable", [True, False])
def test_ndcg_9_an_answer_with_a_figure_is_none(answerable):
    answer = "Based on the information provided, total revenue was $96.8 billion in that year."
    assert measured("refusal", case(answer, answerable=answerable))[0].value == answerable
