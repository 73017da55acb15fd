"""The files of a new benchmark: configuration, questions, labels, and what their columns mean."""

from __future__ import annotations

from pathlib import Path

from harness.labels.scaffold.config_text import Paths, bench_text, name_of, steps_text
from harness.labels.scaffold.folder_summary import FolderSummary
from harness.store import write_text
from harness.values import ConfigError

QUERY_COLUMNS = ("query_id", "text", "type", "answerable", "answer", "note")
LABEL_COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade", "evidence", "note")
FILES = ("bench.yaml", "testset.yaml", "queries.csv", "labels.csv", "README.md")


def refuse_existing(folder: Path) -> None:
    """Raise ConfigError where one of the files is there already."""
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise ConfigError(
            f"{folder}: {', '.join(there)} {'exists' if len(there) == 1 else 'exist'} already and "
            "nothing is overwritten. Name another folder with --out."
        )


def write_start(summary: FolderSummary, folder: Path, download: bool = True) -> list[Path]:
    """Write all files into ``folder``; raises ConfigError if one of them is there already."""
    refuse_existing(folder)
    paths = Paths(name_of(summary.folder), summary.patterns, folder)
    content = {
        "bench.yaml": bench_text(summary.text, paths, download),
        "testset.yaml": steps_text(summary.text, paths, download),
        "queries.csv": ",".join(QUERY_COLUMNS) + "\n",
        "labels.csv": ",".join(LABEL_COLUMNS) + "\n",
        "README.md": _README.replace("FOLDER", str(folder)),
    }
    for name, text in content.items():
        write_text(folder / name, text)
    return [folder / name for name in content]


_README = """# A benchmark of your own

Run every command from the folder in which `harness init` was run.

    harness validate FOLDER/bench.yaml    reads the documents, checks questions and labels
    harness bench FOLDER/bench.yaml       runs the comparison

Two ways to questions and labels:

- **Step by step**, with a language model or by hand: `harness testset FOLDER status` says what comes next.
- **By yourself**: fill `queries.csv` and `labels.csv` in a spreadsheet (save as CSV UTF-8).

## queries.csv, one row per question

| column | meaning |
|---|---|
| `query_id` | a short name without blanks, such as `q1`; each once |
| `text` | the question, as a user would ask it |
| `type` | optional: the kind of question, such as `fact` or `table`; results are also shown by kind |
| `answerable` | optional: `no` if the documents do not answer it; such questions are counted separately |
| `answer` | optional: the right answer |
| `note` | optional: anything |

## labels.csv, one row per passage

| column | meaning |
|---|---|
| `query_id` | of the question |
| `document` | the name of the file, with or without its ending |
| `page` | the page of the file, counted from 1; empty for text without pages |
| `start`, `end` | optional: offsets of characters into the extracted text, the end excluded |
| `quote` | the passage, as you copied it; it is looked for on the page, or in the whole document |
| `grade` | 4 answers by itself, 3 answers most of it, 2 gives a part, 1 is on the topic, 0 misses it |
| `evidence` | optional: rows of a question with the same name state one fact in several places |
| `note` | optional |

`harness find "words of the passage" --in FOLDER/bench.yaml --query q1 --format csv` writes rows for it.
"""
