"""How well do published LLM judges agree with people? The table of docs/judge-agreement.md, of public pairs.

    python benchmarks/judge_agreement.py [FOLDER] [--csv PREFIX]

FOLDER holds llmjudge_dl23.csv (TREC Deep Learning 2023, grades 0-3, eight submissions to the LLMJudge
challenge) and rag25_umbrela.csv (TREC RAG 2025, grades 0-4). Everything follows from the data and the seed.
"""

import argparse
import os
from pathlib import Path

from harness.judge.rater_agreement import agreement_csv, measure_agreement
from harness.running.bench.agreement import read_pairs

FILES = {
    "TREC DL 2023 (0-3)": ("llmjudge_dl23.csv", 3),
    "TREC RAG 2025 (0-4)": ("rag25_umbrela.csv", 4),
}


def measure(path, max_grade):
    pairs, odd = read_pairs(path, max_grade)
    found = [
        measure_agreement(judge, rows, max_grade, out_of_scale=odd[judge]) for judge, rows in pairs.items()
    ]
    return sorted(found, key=lambda agreement: -agreement.kappa.value)


def main():
    shared = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[1] / ".." / "shared"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=shared / "corpora" / "judge-agreement")
    parser.add_argument("--csv", default="", help="write PREFIX plus the name of each file")
    options = parser.parse_args()
    print("| data | judge | pairs | out of scale | kappa | quadratic kappa | alpha (ordinal) | bias |")
    print("|---|---|---|---|---|---|---|---|")
    for data, (name, max_grade) in FILES.items():
        results = measure(options.folder / name, max_grade)
        for found in results:
            print(
                f"| {data} | {found.judge} | {found.pairs:,} | {found.out_of_scale} | {found.kappa} "
                f"| {found.kappa_quadratic} | {found.alpha_ordinal} | {found.bias:+.2f} |"
            )
        if options.csv:
            Path(f"{options.csv}{name}").write_text(agreement_csv(results), encoding="utf-8")


if __name__ == "__main__":
    main()
