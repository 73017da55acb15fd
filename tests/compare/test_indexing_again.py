"""What indexing again takes: said only where an existing collection would be replaced."""

import pytest

from harness.comparison import IndexingCost, glance_json, glance_lines, sentences_of, verdict_json

from .build import conclude, noisy

THERE = {"retrieve": {"kind": "qdrant", "existing": True}}
BUILT = {"retrieve": {"kind": "exact"}}
AGAIN = "Indexing again as a, in place of the existing collection, embeds"


def told(cost, configured=None):
    """The verdict over a, which is far ahead, and b; with the line on indexing again, '' without one."""
    verdict = conclude(
        noisy(60, [0.7, 0.3]),
        configured={"a": BUILT, "b": THERE} if configured is None else configured,
        indexing={"a": cost} if cost else {},
    )
    assert verdict.used == "a"
    lines = [line for line in sentences_of(verdict) if "Indexing again" in line]
    plain = verdict_json(verdict)
    assert (plain["indexing_again"] is not None) == bool(lines)
    assert [line["text"] for line in plain["lines"] if "Indexing again" in line["text"]] == [
        line.removeprefix("Caveat: ") for line in lines
    ]
    text = lines[0].removeprefix("Caveat: ") if lines else ""
    # and on the first screen, on page and terminal
    assert glance_json(verdict)["again"] == text
    assert text in " ".join(glance_lines(verdict))
    return text


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (IndexingCost(1_234_567, None, None, None, None), "1,234,567 tokens."),
        (IndexingCost(12, None, None, 2.5, None), "12 tokens and builds an index in 2.5 s."),
        (IndexingCost(12, 0.5, None, None, None), "12 tokens, at a price of 0.5."),
        # what an endpoint gives for money takes no time of this machine
        (
            IndexingCost(12, 0.5, 7.0, 2.5, 3_000_000),
            "12 tokens, at a price of 0.5, and builds an index of 3 MB in 2.5 s.",
        ),
        (IndexingCost(12, None, 7.0, None, None), "12 tokens, in about 7 s on the machine of the run."),
        (
            IndexingCost(12, None, 7.0, 2.5, 3_000_000),
            "12 tokens, in about 7 s on the machine of the run, and builds an index of 3 MB in 2.5 s.",
        ),
        # an estimate is said in two digits
        (IndexingCost(12, None, 51.926, None, None), "12 tokens, in about 52 s on the machine of the run."),
        (IndexingCost(12, None, 0.0, None, None), "nothing."),
        (IndexingCost(None, None, 0.0, 2.5, 3_000_000), "nothing and builds an index of 3 MB in 2.5 s."),
    ],
)
def test_the_sentence_has_what_is_known_of_the_cost(cost, words):
    assert told(cost) == f"{AGAIN} {words}"


@pytest.mark.parametrize(
    ("cost", "configured"),
    [
        # no collection of others; the one to use is there; nothing is configured; nothing is known of it
        (IndexingCost(12, None, None, None, None), {"a": BUILT, "b": BUILT}),
        (IndexingCost(12, None, None, None, None), {"a": THERE, "b": BUILT}),
        (IndexingCost(12, None, None, None, None), {}),
        (IndexingCost(None, None, None, 2.5, 9), None),
        (None, None),
    ],
)
def test_no_sentence_where_nothing_would_be_replaced_or_no_cost_is_known(cost, configured):
    assert told(cost, configured) == ""
