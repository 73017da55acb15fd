"""A gate in a sentence or two: whether it passes, how sure that is, and how large a drop it leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from harness.comparison.advice import is_poor
from harness.comparison.gating import Check, GateResult, NewSetting, units_in_words
from harness.comparison.phrases import rounded_down, rounded_up
from harness.comparison.wordings import sentences_said
from harness.values import confidence


def gate_sentence(result: GateResult, called: Callable[[str], str], unit: str) -> str:
    """Whether a gate passes, how sure that is, and how large a drop it leaves open.

    ``called`` says what a setting is called, ``unit`` what a cluster of queries is.
    """
    checks, first = result.checks, result.checks[0]
    everything = result.everything
    failed = [check for check in everything if check.failed]
    untested = len(everything) - len(checks)
    best = max(check.mean for check in everything if not math.isnan(check.mean))
    values = {
        "level": confidence(result.confidence),
        "unit": unit,
        "count": str(len(checks)),
        "new": str(untested),
    }
    values |= {"tolerance": f"{first.tolerance:g}", "tolerated": f"{first.max_drop:g}"}
    after = [
        *([f"gate.untested{'.one' if untested == 1 else ''}"] if untested and not failed else []),
        *(["gate.here"] if first.units.kind == "few clusters" and first.tested else []),
        *(["gate.poor"] if is_poor(best, result.measure) else []),
        *(["gate.unread"] if any(check.unread for check in checks) else []),
    ]
    doubted = [result.doubt.code] if result.doubt else []
    values |= result.doubt.values
    every, names = [called(check.setting) for check in everything], {}
    if failed:
        code, worst, more = _failure(failed)
        names["setting"] = called(worst.setting)
        others = len(failed) - 1
        codes = [code, *(["gate.another failed" if others == 1 else "gate.others failed"] if others else [])]
        values |= {**more, "count": str(others)}
    elif not all(check.tested for check in checks):
        fewest = min(checks, key=lambda check: check.units.count)
        codes, after = ["gate.one query" if fewest.n == 1 else "gate.few queries"], []
        values["units"] = units_in_words(fewest.units)
    elif all(check.equivalent for check in checks):
        codes = ["gate.equal" + {1: ".one", 2: ".both"}.get(len(checks), "")]
    else:
        largest = max(check.most for check in checks if check.most is not None)
        tolerated = "gate.tolerated" if largest <= first.max_drop else "gate.open"
        codes = ["gate.excluded" if largest <= 0 else tolerated]
        values["bound"] = rounded_up(largest)
    # the mean of a check that is too low stands in its own sentence
    if "gate.poor" in after and codes[0] == "gate.low":
        head = sentences_said(codes, values, names, every)
        return " ".join(
            (head, sentences_said([*after, *doubted], values | {"mean": f"{best:.2f}"}, {}, every))
        )
    values.setdefault("mean", f"{best:.2f}")
    return sentences_said([*codes, *after, *doubted], values, names, every)


def _failure(failed: Sequence[Check | NewSetting]) -> tuple[str, Check | NewSetting, dict[str, str]]:
    """Of those that failed the check to name, why it did, as a code, and its values."""
    checks = [check for check in failed if isinstance(check, Check)]
    dropped = [check for check in checks if check.dropped]
    low = [check for check in failed if isinstance(check, NewSetting) or check.too_low]
    if dropped:
        worst = max(dropped, key=lambda check: check.at_least or 0.0)
        return "gate.dropped", worst, {"bound": rounded_down(worst.at_least or 0.0)}
    if low:
        lowest = min(low, key=lambda check: check.mean)
        return "gate.low", lowest, {"mean": rounded_down(lowest.mean), "least": f"{lowest.least:g}"}
    worst = max(checks, key=lambda check: 1.0 if check.most is None else check.most)
    if worst.most is None:
        return "gate.undecided.any", worst, {}
    return "gate.undecided", worst, {"bound": rounded_up(worst.most)}
