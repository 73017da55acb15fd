"""Where the fault of answers lies: by the losses where evidence is labelled, else by what explains them."""

import pytest

from harness.comparison import explained_alone, fault_sentence
from harness.comparison.answer_faults import Fault, fault_of
from tests.command import save_table

SECOND = {"faithfulness": ("faithfulness", 0.9), "context_recall": ("context_recall", 0.4)}


def summary(folder, **means):
    """The means of two settings by measure, as results have them."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"setting": setting, "split": "all", "measure": measure, "mean": mean, "ci_low": "", "ci_high": ""}
        | {"n_queries": 2, "n_not_scored": 0, "reasons": ""}
        for measure, both in means.items()
        for setting, mean in zip("ab", both, strict=True)
    ]
    save_table(folder / "answer_summary.csv", rows)


def losses(folder, *rows):
    """Rows of losses: (setting, query, part, loss, left)."""
    names = ("setting", "query_id", "part", "loss", "left")
    shared = {"split": "train", "measure": "token_f1"}
    save_table(folder / "answer_losses.csv", [dict(zip(names, row, strict=True)) | shared for row in rows])


def test_the_fault_is_that_of_the_setting_that_answers_best(tmp_path):
    summary(tmp_path, token_f1=(0.2, 0.4), faithfulness=(1, 0.9))
    losses(
        tmp_path,
        ("a", "q1", "not found", 1, 0),
        ("b", "q1", "ranked too low", 0.5, 0.5),
        ("b", "q1", "left out", 0.2, 0.3),
        ("b", "q1", "adds", 0.1, 0.2),
        ("b", "q2", "left out", 0.5, 0.5),
        ("b", "q2", "without evidence", -0.1, 0.6),
    )
    fault = fault_of(tmp_path, "token_f1", {"token_f1": "token_f1", "faithfulness": "faithfulness"})
    # answering: (0.2 + 0.1) and 0.5, ranking: 0.5 and 0, each over 2 queries
    assert [(stage, pytest.approx(loss)) for stage, loss in (("answering", 0.4), ("ranking", 0.25))] == list(
        fault.losses[:2]
    )
    # of the first query most is lost in ranking
    assert (fault.setting, fault.blamed, fault.queries) == ("b", 1, 2)
    assert (fault.left, fault.without) == (pytest.approx(0.4), pytest.approx(0.05))
    assert fault_sentence(fault, str.upper) == (
        "B loses most in answering, 0.40 of 1 in token_f1, the largest loss in 1 of 2 queries. The evidence "
        "was read; another prompt or model may make more of it. Also lost: ranking 0.25. Earned without the "
        "evidence: 0.05. token_f1 is explained by faithfulness 0.90."
    )


@pytest.mark.parametrize(
    ("faithfulness", "recall", "short"), [(0.9, 0.4, "context_recall"), (1, 1, "context_precision")]
)
def test_passages_that_do_not_help_are_at_fault_only_where_nothing_else_is(faithfulness, recall, short):
    means = {"faithfulness": faithfulness, "context_precision": 0.2, "context_recall": recall}
    fault = explained_alone("b", "token_f1", 0.4, {kind: (kind, mean) for kind, mean in means.items()})
    assert f"What falls short is {short}:" in fault_sentence(fault)


def test_without_labelled_evidence_the_lowest_of_the_second_tier_says_where(tmp_path):
    summary(tmp_path, token_f1=(0.2, 0.4), faithfulness=(1, 0.9), context_recall=(0.1, 0.4))
    kinds = {kind: kind for kind in ("token_f1", *SECOND)}
    fault = fault_of(tmp_path, "token_f1", kinds)
    assert fault == Fault("b", "token_f1", (), 0, 0, 0.4, 0.0, SECOND)
    assert fault_sentence(fault) == (
        "b has token_f1 0.40. token_f1 is explained by faithfulness 0.90 and context_recall 0.40. What "
        "falls short is context_recall: what is read lacks parts of the golden answer, which retrieval or "
        "chunking may change."
    )
    # a single measure of the second tier says nothing of the others
    assert fault_of(tmp_path, "token_f1", {"token_f1": "token_f1", "faithfulness": "faithfulness"}) is None


def test_no_fault_is_named_where_there_is_none(tmp_path):
    good = {kind: (name, 0.97) for kind, (name, _) in SECOND.items()}
    assert "None of these is low" in fault_sentence(Fault("b", "token_f1", (), 0, 0, 0.4, 0.0, good))
    perfect = Fault("b", "token_f1", (("answering", 0.0),), 0, 3, 1.0, 0.0, {})
    assert fault_sentence(perfect) == "b loses nothing in token_f1."
    assert fault_of(tmp_path, "token_f1", {}) is None
