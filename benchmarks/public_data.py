"""Turn the two collections of the studies into corpus folders, which git ignores.

    python -m benchmarks.public_data financebench DIR     # → corpora/financebench
    python -m benchmarks.public_data chunking_eval DIR    # → corpora/chunking_eval

docs/corpora.md says what DIR holds.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pandas as pd

# as people write them in questions
FORMS = {"10k": "10-K", "10q": "10-Q", "8k": "8-K", "earnings": "earnings release"}


def financebench(source: Path, target: Path) -> None:
    """FinanceBench (Islam et al. 2023, arXiv 2311.11944), CC BY-NC 4.0: filings, questions, evidence.

    A passage that answers its question alone gets grade 4. Where a question has several, each is needed and
    none answers alone, so each gets grade 3; they are different facts, hence no evidence name.
    """
    filings, questions, evidence = (
        _table(source / f"{name}.csv") for name in ("documents", "questions", "evidence")
    )
    target.mkdir(parents=True)
    shutil.copytree(source / "pdfs", target / "pdfs")
    filings["form"] = filings["doc_type"].map(lambda form: FORMS.get(form.lower(), form))
    questions = questions.merge(filings[["document", "doc_type"]], on="document", validate="many_to_one")
    named = {"question": "text", "question_type": "type", "question_reasoning": "reasoning"}
    passages = evidence.groupby("query_id")["query_id"].transform("size")
    evidence["grade"] = passages.map(lambda count: 4 if count == 1 else 3)
    evidence["note"] = passages.map(lambda count: "" if count == 1 else f"one of {count} passages")
    for name, table, columns in (
        ("documents", filings, "document company sector form period"),
        (
            "queries",
            questions.rename(columns={**named, "justification": "note"}),
            "query_id text answer type reasoning document doc_type note",
        ),
        (
            "labels",
            evidence.rename(columns={"evidence_text": "quote"}),
            "query_id document page quote grade note",
        ),
    ):
        _write(table.reindex(columns=columns.split(), fill_value=""), target / f"{name}.csv")


def chunking_eval(source: Path, target: Path) -> None:
    """Questions with exact spans of "Evaluating Chunking" (Smith and Troynikov 2024), each of grade 4.

    All spans of a question together are its answer, so they carry no evidence name. Raises ValueError for a
    span whose text is not at its offsets.
    """
    spans = _table(source / "spans.csv")
    texts = {
        name: (source / "corpora" / f"{name}.md").read_bytes().decode("utf-8") for name in spans["document"]
    }
    for row in spans.itertuples():
        found = texts[row.document][int(row.start) : int(row.end)]
        if found != row.text:
            raise ValueError(
                f"{source / 'spans.csv'}, row {row.Index + 1}: the text at {row.start}-{row.end} of "
                f"{row.document} is {found[:80]!r}. Offsets count characters, not bytes."
            )
    (target / "documents").mkdir(parents=True)
    for name in texts:
        shutil.copy(source / "corpora" / f"{name}.md", target / "documents")
    asked = spans.rename(columns={"question": "text", "text": "quote"})
    _write(
        asked.drop_duplicates("query_id")[["query_id", "text", "document"]],
        target / "queries.csv",
    )
    columns = ["query_id", "document", "start", "end", "quote", "grade"]
    _write(asked.assign(grade=4)[columns], target / "labels.csv")


def _table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _write(table: pd.DataFrame, path: Path) -> None:
    table.to_csv(path, index=False, lineterminator="\n")


COLLECTIONS = {"financebench": financebench, "chunking_eval": chunking_eval}


def main() -> None:
    """Write the collection that is named into corpora/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("collection", choices=COLLECTIONS)
    parser.add_argument("source", type=Path, metavar="DIR")
    parser.add_argument("--to", type=Path, help="the folder to write, by default corpora/<collection>")
    args = parser.parse_args()
    target = args.to or Path("corpora") / args.collection
    if target.exists():
        raise SystemExit(f"{target} exists already. Remove it, or name another folder with --to.")
    COLLECTIONS[args.collection](args.source, target)
    print(f"{target} is written.")


if __name__ == "__main__":
    main()
