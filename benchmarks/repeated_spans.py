"""How many labelled spans of a chunking evaluation have text that occurs more than once in their document.

    python -m benchmarks.repeated_spans DIR

DIR holds corpora/*.md and spans.csv, as docs/reproduction.md describes.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path


def repeated(folder: Path) -> dict[str, tuple[int, int, int]]:
    """By document: its characters, its spans, and those whose text is in it more than once."""
    spans: dict[str, list[str]] = defaultdict(list)
    with (folder / "spans.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            spans[row["document"]].append(row["text"])
    found = {}
    for document, texts in sorted(spans.items()):
        content = (folder / "corpora" / f"{document}.md").read_bytes().decode("utf-8")
        found[document] = (len(content), len(texts), sum(content.count(text) > 1 for text in texts))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR")
    print("| document | characters | spans | repeated |")
    print("|---|--:|--:|--:|")
    for document, counts in repeated(parser.parse_args().folder).items():
        print(f"| {document} | " + " | ".join(f"{count:,}" for count in counts) + " |")


if __name__ == "__main__":
    main()
