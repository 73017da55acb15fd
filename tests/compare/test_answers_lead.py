"""Where rankings tie by construction, answers decide; and what tests answers is nobody's choice."""

from harness.comparison import chunkings_of, sentence, verdict_json
from harness.comparison.what_ranks import alters, ranked_alike, spans_read

from .build import conclude, noisy

NOISE = {"kind": "noise", "ratio": 0.4}
PARENT = {"kind": "parent", "chunk": {"kind": "recursive"}}


def setting(name="a", read=None, answer=None, kind="bm25"):
    return {
        "name": name,
        "chunk": {"kind": "page"},
        "retrieve": {"kind": kind},
        "read": read,
        "answer": answer,
    }


def test_noise_and_false_facts_leave_rankings_as_they_are_and_larger_text_does_not():
    assert spans_read(None) is None
    assert spans_read(NOISE) is None
    assert spans_read(PARENT) == PARENT
    assert spans_read({**NOISE, "read": {"kind": "counterfactual", "read": PARENT}}) == PARENT
    # of a package that is not installed here nobody knows
    assert spans_read({"kind": "elsewhere"}) == {"kind": "elsewhere"}
    assert [alters(setting(read=read)) for read in (None, PARENT, NOISE)] == [False, False, True]


def test_settings_that_rank_alike_are_one_group():
    settings = {
        "plain": setting(),
        "noisy": setting(read=NOISE),
        "other prompt": setting(answer={"prompt": "b"}),
        "larger": setting(read=PARENT),
        "larger, noisy": setting(read={**NOISE, "read": PARENT}),
        "vectors": setting(kind="exact"),
    }
    groups = [["plain", "noisy", "other prompt"], ["larger", "larger, noisy"], ["vectors"]]
    assert ranked_alike(settings) == groups
    # nor is a text cut differently because noise is put into it
    cut = chunkings_of({**one, "name": name} for name, one in settings.items())
    assert [len({cut[name] for name in names}) for names in groups] == [1, 1, 1]
    assert cut["plain"] != cut["larger"]


def test_a_test_of_answers_has_a_best_setting_and_none_to_use():
    clear, close = noisy(60, (0.9, 0.5)), noisy(60, (0.5, 0.49))
    found = conclude(clear, altered=True)
    assert sentence(found) == f"Best by ndcg_exp@10: a, {found.margin.difference:.2f} above the next (95%)."
    assert (found.used, found.advice, found.tone) == ("", None, "good")
    assert {one.group for one in found.standings} == {"may", "out"}
    assert verdict_json(found)["advice"] is None
    told = sentence(conclude(close, altered=True))
    assert told == "Best by ndcg_exp@10: a, not shown to be better than the next (95%)."
    # too few queries are still too few
    few = conclude(noisy(12, (0.9, 0.5)), altered=True)
    assert few.tone == "caution"
    assert "too few to choose by" in sentence(few)
