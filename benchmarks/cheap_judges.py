"""What judges without a language model are worth: the grades behind the table of docs/judge.md.

    python -m benchmarks.cheap_judges [cosine cross_encoder graph run]

The judge of each configs/recipes/judge_*.yaml grades the passages of Meridian that people have graded, as
`harness judge agreement` has it do; `run` is judge_graph.yaml once more with the pool of `harness bench` in
its graph. cheap_judges.json, beside this file, holds a digit a passage, of all judges in the same order.
tests/judge/test_cheap_judges_page.py computes the table of it. Some 20 minutes on two cores.
"""

import argparse
import json
from itertools import groupby
from pathlib import Path

from harness.judge import GradedPair, match_judgments
from harness.running import (
    Running,
    Session,
    grade_all,
    label_pairs,
    load_config,
    make_judge,
    make_pool,
    pool_judge_config,
    search_all,
)
from harness.store import Ledger
from harness.values import Silent

FILE = Path(__file__).with_suffix(".json")
RECIPES = Path("configs/recipes")
RUN = "run"
"""The graph as a run has it, of all that its settings have found."""
JUDGES = {
    "cosine": "judge_cosine.yaml",
    "cross_encoder": "judge_cross_encoder.yaml",
    "graph": "judge_graph.yaml",
    RUN: "judge_graph.yaml",
}
PEOPLE = "people"


def graded_pairs(recipe: Path, with_pool: bool) -> list[GradedPair]:
    """What people and the judge of a recipe have given to each passage that people have graded."""
    config = load_config(recipe)
    grader = pool_judge_config(config)
    assert grader is not None
    with Session.at(config.cache, Silent()) as session, Ledger(session.cache.ledger) as ledger:
        corpus, searched = search_all(config, session)
        pairs = {pair.key: pair for pair in label_pairs(corpus)}
        if with_pool:
            pairs |= {pair.key: pair for pair in make_pool(searched, corpus, grader.pool).pairs}
        judgments = []
        judge = make_judge(grader, ledger, corpus, Running(session))
        grade_all(
            judge, pairs.values(), len(pairs), lambda grade: judgments.append(grade.judgment), session.notes
        )
    return match_judgments(corpus.anchored.judgments, judgments)


def by_query(pairs: list[GradedPair], name: str) -> dict[str, str]:
    """The grades of people or of the judge as digits, by query."""
    digits = [(pair.query_id, str(getattr(pair, name))) for pair in sorted(pairs, key=lambda p: p.query_id)]
    return {query: "".join(digit for _, digit in of) for query, of in groupby(digits, lambda row: row[0])}


def pairs_of(kept: dict[str, dict[str, str]], judge: str) -> list[GradedPair]:
    """The pairs that the file holds of a judge."""
    return [
        GradedPair(query, int(human), int(grade))
        for query, digits in kept[PEOPLE].items()
        for human, grade in zip(digits, kept[judge][query], strict=True)
    ]


def main() -> None:
    """Grade by the judges that are named, and keep the others as they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("judges", nargs="*", default=[*JUDGES])
    kept = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}
    for judge in parser.parse_args().judges:
        pairs = graded_pairs(RECIPES / JUDGES[judge], judge == RUN)
        people = by_query(pairs, "human_grade")
        assert kept.setdefault(PEOPLE, people) == people
        kept[judge] = by_query(pairs, "judge_grade")
        FILE.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
