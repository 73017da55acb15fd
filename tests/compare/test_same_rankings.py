"""Settings that a verdict on rankings cannot tell apart."""

from harness.comparison.caveats import same_ranking_notes


def setting(size, answer=None, result="r"):
    return {"name": "any", "chunk": {"size": size}, "answer": answer, "result": result}


def test_settings_without_answers_or_with_other_steps_tie_by_chance_alone():
    assert same_ranking_notes({}) == ()
    assert same_ranking_notes({"a": setting(1, {"top_n": 1}), "b": setting(2, {"top_n": 2})}) == ()
    # of two results each is a run of its own, whose documents or queries may be others
    assert same_ranking_notes({"a": setting(1, None, "r"), "b": setting(1, {"top_n": 1}, "s")}) == ()


def test_groups_are_listed_up_to_a_limit():
    settings = {f"{size} {n}": setting(size, {"top_n": n}) for size in "abcd" for n in (1, 2)}
    (note,) = same_ranking_notes({**settings, "alone": setting("e", {"top_n": 1})})
    assert "so they tie here: a 1 and a 2; b 1 and b 2; c 1 and c 2; and 1 more group. " in note
    assert "alone" not in note
