"""Answers made by hand, for the folders of results that report.html and the figures are tested with."""

import json

MEASURES = ("faithfulness", "token_f1")
# From 1 down to the 0.5 of token_f1.
LOSSES = {
    "not extracted": 0.0,
    "cut apart": 0.0,
    "not found": 0.2,
    "ranked too low": 0.0,
    "left out": 0.2,
    "contradicts": 0.05,
    "adds": 0.1,
    "something else": 0.0,
    "without evidence": -0.05,
}
_KEY = ("setting", "query_id")
_SAID = ("split", "answered_by", "answer", "reason", "golden", "passages", "bad_citations")
_MEANS = ("split", "measure", "mean", "ci_low", "ci_high", "n_queries", "n_not_scored", "reasons")
_SPENT = ("prompt_tokens", "completion_tokens", "price", "seconds")


def tables(names, ids, split, document, size_of, say):
    """The tables about answers, as columns and rows by name; every third question has no answer."""
    replies, read, scores, summary, losses = [], [], [], [], []
    for i, setting in enumerate(names):
        for k, query in enumerate(ids):
            silent = k % 3 == 2
            text = "" if silent else f"It is {k} [1][3], not [9]. {say}"
            reason = "refusal" if silent else ""
            said = [setting, query, split[query], "cited v1 by m", text, reason, f"{k} {say}"]
            replies.append([*said, 3, 1, 9, 9, "", 0.5])
            for place in (1, 2, 3):
                chunk = f"{document}:{place * size_of(i)}-{(place + 1) * size_of(i)}"
                cited = "yes" if place != 2 and not silent else "no"
                read.append([setting, query, place, place, chunk, cited])
            left = 1.0
            for part, loss in LOSSES.items() if not silent else ():
                left = round(left - loss, 6)
                losses.append([setting, query, split[query], "token_f1", part, loss, left])
            claims = [
                {"statement": f"It is {k}. {say}", "verdict": 1},
                {"statement": "Rain.", "verdict": 0, "contradicts": 1},
            ]
            for measure in MEASURES:
                details = json.dumps({"statements": claims} if measure == "faithfulness" else {})
                value = "" if silent else 0.5
                scores.append([setting, query, split[query], "", measure, value, reason, details])
        summary += [[setting, "all", m, 0.5, 0.4, 0.6, len(ids), 4, "refusal x4"] for m in MEASURES]
    return {
        "replies": ((*_KEY, *_SAID, *_SPENT), replies),
        "reply_passages": ((*_KEY, "place", "rank", "chunk_id", "cited"), read),
        "answer_scores": ((*_KEY, "split", "cluster", "measure", "value", "reason", "details"), scores),
        "answer_summary": (("setting", *_MEANS), summary),
        "answer_losses": ((*_KEY, "split", "measure", "part", "loss", "left"), losses),
    }
