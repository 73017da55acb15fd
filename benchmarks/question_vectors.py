"""Whether vectors of questions tell a rephrasing in other words from another question on the same text.

    python -m benchmarks.question_vectors

Pairs of questions are kept where figures, words that turn a meaning and what is asked for agree, as
``near_duplicates`` demands it before it looks at words. Rephrasings and synonyms should be joined, and
questions about one table, or with a common labelled passage in corpora/, should not.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np

from harness.models import EmbedConfig
from harness.running.evaluate.same_question import Wording, wording

Pair = tuple[str, str]
SAME = [
    (
        "Who audited the annual accounts for 2022?",
        "Which firm was the auditor of the 2022 annual accounts?",
    ),
    (
        "How many employees were there at the end of 2021?",
        "What was the number of employees at year-end 2021?",
    ),
    (
        "When does the lease of the warehouse expire?",
        "What is the expiry date of the warehouse lease?",
    ),
    (
        "What is the notice period to terminate the contract?",
        "How long is the contract's termination notice?",
    ),
    (
        "Which region had the highest growth in the first quarter?",
        "In which region was growth largest in Q1?",
    ),
    (
        "Why did the gross margin fall in 2020?",
        "What was the reason for the decline of gross margin in 2020?",
    ),
    (
        "How do I reset an administrator's password?",
        "How can the password of an administrator be reset?",
    ),
    (
        "Which chemicals may be stored in hall 4?",
        "What chemicals can one store in hall 4?",
    ),
    (
        "公司2023年的总收入是多少?",
        "请问2023年公司的总收入达到多少?",
    ),
    (
        "合同的终止通知期是多长?",
        "终止合同的通知期有多长?",
    ),
    (
        "哪个地区第一季度增长最高?",
        "第一季度增长最高的是哪个地区?",
    ),
    (
        "2020年毛利率下降的原因是什么?",
        "为什么2020年毛利率下降?",
    ),
]
"""Pairs of rephrasings."""
ONE_TABLE = [
    (
        "What was the total revenue in 2023?",
        "What was the total revenue in 2022?",
        "What was the revenue growth in 2023?",
        "What was the net income in 2023?",
        "What was the operating income in 2023?",
        "What was the net income attributable to noncontrolling interests in 2023?",
        "What were total assets in 2023?",
        "What was the ratio of net income to revenue in 2023?",
    ),
    (
        "Which region had the highest growth in Q1?",
        "Which region had the lowest growth in Q1?",
        "Which region had the highest growth in Q2?",
        "Which region had the highest margin in Q1?",
    ),
    ("Who signed the lease?", "When was the lease signed?", "Where was the lease signed?"),
    (
        "What is the rated voltage of the pump?",
        "What is the rated power of the pump?",
        "What is the maximum voltage of the pump?",
    ),
    (
        "2023年公司净利润是多少?",
        "2022年公司净利润是多少?",
        "2023年公司总收入是多少?",
        "2023年公司总资产是多少?",
        "2023年公司研发费用是多少?",
        "2023年公司销售费用是多少?",
        "2023年公司净利润增长率是多少?",
    ),
    ("传感器的最高工作温度是多少?", "传感器的最低工作温度是多少?", "传感器的最高工作电压是多少?"),
]
"""Different questions about one table each."""
SYNONYMS = [
    ("How many people work for the company?", "What is the size of the workforce?"),
    ("What did the firm earn in 2023?", "How large was the profit in 2023?"),
    ("When does the rental agreement end?", "What is the expiry date of the lease?"),
    ("Who checked the books for 2022?", "Which firm audited the accounts for 2022?"),
    ("How hot may the sensor get?", "What is the highest permitted temperature of the sensor?"),
    ("What does a subscription cost per month?", "What is the monthly fee of the plan?"),
    ("How do I get my money back?", "What is the procedure for a refund?"),
    ("Where is the head office?", "In which city are the headquarters?"),
    ("公司有多少名员工?", "企业的雇员人数是多少?"),
    ("合同何时到期?", "协议的截止日期是哪一天?"),
    ("怎样申请退款?", "如何把钱要回来?"),
]
"""Pairs of rephrasings with hardly a word in common."""
CORPORA = Path(__file__).parents[1] / "corpora"


def shipped() -> list[Pair]:
    """Questions of the shipped test sets that have a labelled passage in common: all are different."""
    pairs: set[Pair] = set()
    for folder in (CORPORA / "meridian", CORPORA / "lanchuan"):
        with (folder / "queries.csv").open(encoding="utf-8", newline="") as file:
            texts = {row["query_id"]: row["text"] for row in csv.DictReader(file)}
        on_one: dict[tuple[str, str], list[str]] = defaultdict(list)
        with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["grade"] != "0":
                    on_one[row["document"], row["quote"]].append(row["query_id"])
        for names in on_one.values():
            pairs |= {(texts[first], texts[second]) for first, second in combinations(sorted(set(names)), 2)}
    return sorted(pairs)


def may_be_same(first: Wording, second: Wording) -> bool:
    """Whether figures, turning words and what is asked for leave it open that two questions are one."""
    asked = not first.asked_for or not second.asked_for or first.asked_for & second.asked_for
    return bool(asked) and (first.figures, first.turning) == (second.figures, second.turning)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="embedded:all-MiniLM-L6-v2")
    model = EmbedConfig(model=parser.parse_args().model).make()
    kinds = {
        "rephrasings": SAME,
        "synonyms": SYNONYMS,
        "about one table": [pair for texts in ONE_TABLE for pair in combinations(texts, 2)],
        "shipped, one passage": shipped(),
    }
    texts = list(dict.fromkeys(text for pairs in kinds.values() for pair in pairs for text in pair))
    vectors = np.asarray(model.encode(texts))
    units = dict(zip(texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    words = {text: wording(text) for text in texts}
    print("| pairs | language | all | left | cosine of those left: lowest, quartiles, highest |")
    print("|---|---|--:|--:|---|")
    for language in ("English", "Chinese"):
        cosines = {}
        for kind, pairs in kinds.items():
            written = [pair for pair in pairs if all(map(str.isascii, pair)) == (language == "English")]
            left = [pair for pair in written if may_be_same(words[pair[0]], words[pair[1]])]
            cosines[kind] = [float(units[first] @ units[second]) for first, second in left]
            print(f"| {kind} | {language} | {len(written)} | {len(left)} | {_range(cosines[kind])} |")
        highest = max(cosines["about one table"] + cosines["shipped, one passage"])
        above = [sum(cosine > highest for cosine in cosines[kind]) for kind in ("rephrasings", "synonyms")]
        print(
            f"| above all different ones ({highest:.2f}) | {language} | | "
            f"| {above[0]} rephrasings, {above[1]} synonyms |"
        )


def _range(cosines: Iterable[float]) -> str:
    values = list(cosines)
    if not values:
        return "none"
    shown = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    return ", ".join(f"{value:.2f}" for value in shown)


if __name__ == "__main__":
    main()
