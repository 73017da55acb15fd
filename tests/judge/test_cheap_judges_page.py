"""What docs/judge.md says of judges without a language model follows from the grades that were kept."""

import json
import re
from collections import Counter

import pytest

from benchmarks.cheap_judges import FILE, JUDGES, PEOPLE, RUN, pairs_of
from harness.comparison import KAPPAS_IN_STUDIES
from harness.judge import measure_agreement
from harness.values import MAX_GRADE
from tests.command import table
from tests.docs_commands import ROOT

KEPT = json.loads(FILE.read_text(encoding="utf-8"))
MERIDIAN = ROOT / "corpora" / "meridian"


def words_of(page):
    """A page on one line."""
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


PAGE = words_of("judge.md")
KAPPAS = re.findall(r"\| `configs/recipes/judge_(\w+)\.yaml` \| (\S+) \[.*?\] \| (\S+) \[", PAGE)


@pytest.mark.parametrize("judge", JUDGES)
def test_the_agreement_of_a_judge_follows_from_its_grades(judge):
    agreement = measure_agreement(judge, pairs_of(KEPT, judge), MAX_GRADE)
    assert (agreement.pairs, agreement.queries) == (2580, 141)
    plain, quadratic = str(agreement.kappa), str(agreement.kappa_quadratic)
    if judge == RUN:
        said = (
            f"`harness bench configs/recipes/{JUDGES[judge]}` has a kappa of {plain} and a quadratic kappa of"
        )
        assert f"{said} {quadratic} over the same 2,580 passages" in PAGE
    else:
        assert f"| `configs/recipes/{JUDGES[judge]}` | {plain} | {quadratic} |" in PAGE


def test_the_grades_of_people_are_those_of_the_labels():
    labels = table(MERIDIAN / "quickstart_judged.csv")
    graded = Counter((row["query_id"], row["grade"]) for row in labels)
    assert Counter((query, digit) for query, digits in KEPT[PEOPLE].items() for digit in digits) == graded
    splits = {row["query_id"]: row["split"] for row in table(MERIDIAN / "quickstart_queries.csv")}
    train = sum(splits[row["query_id"]] == "train" for row in labels)
    said = f"by {len(labels):,} grades of people for {len(KEPT[PEOPLE])} queries, {train:,} of them of train"
    assert said in PAGE


def test_what_other_places_say_of_them_is_what_the_table_says():
    assert [judge for judge, *_ in KAPPAS] == ["cosine", "cross_encoder", "graph"]
    first, second, third = (f"{float(quadratic):.2f}" for *_, quadratic in KAPPAS)
    assert f"(a quadratic kappa of {first}, {second} and {third})" in words_of("recipes-ndcg.md")
    least, most = KAPPAS_IN_STUDIES
    assert f"Language models reach a quadratic kappa of {least:.2f} to {most:.2f}." in PAGE
