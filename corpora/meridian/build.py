"""Builds the documents, ``queries.csv`` and ``labels.csv`` from ``source/``.

``python corpora/meridian/build.py`` rebuilds what is committed; ``--check`` rebuilds elsewhere, compares
byte for byte and verifies that the figures tie.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import check
import figures
import judgments
import layout
import markup
import model

HERE = Path(__file__).parent
SOURCE = HERE / "source"
REPORTS = {
    "10k": (
        "meridian-10k-2025.pdf",
        layout.Head("Meridian Motors, Inc. Form 10-K 2025", "Meridian Motors, Inc.", "Form 10-K 2025"),
    ),
    "q3": (
        "meridian-q3-2025.pdf",
        layout.Head("Third Quarter 2025 Results", "Meridian Motors, Inc.", "Third Quarter 2025 Results"),
    ),
}
MORE = {
    "hybrid": ("meridian-hybrid-release.pdf", "Tamarack Hybrid"),
    "call": ("meridian-call-q4-2025.pdf", "Fourth Quarter 2025 Earnings Call"),
    "supply": ("meridian-storage-agreement.pdf", "Storage Supply and Service Agreement"),
    "warranty": ("meridian-warranty-2026.pdf", "New Vehicle Limited Warranty"),
    "charging": ("meridian-vireo-charging.pdf", "Vireo Owner's Manual"),
    "recall": ("meridian-recall-24v-m07.pdf", "Recall 24V-M07"),
    "bulletin": ("meridian-bulletin-sb-24-133.pdf", "Service Bulletin SB-24-133"),
    "sustainability": ("meridian-sustainability-2025.pdf", "Sustainability Data Supplement 2025"),
    "lease": ("meridian-reno-lease.pdf", "Lease Agreement"),
}
"""The shorter documents that the quickstart searches too."""
LOCATIONS = {
    "dayton": "Ohio",
    "paducah": "Kentucky",
    "durango": "Mexico",
    "pueblo": "Colorado",
    "miskolc": "Hungary",
    "zwolle": "Netherlands",
}


def source_text(folder: str) -> str:
    """The source of a document, its files in order of name, with every figure filled in."""
    names = figures.environment()
    files = sorted((SOURCE / folder).glob("*.md"))
    parts = [figures.fill(f.read_text(encoding="utf-8"), names, str(f.relative_to(HERE))) for f in files]
    return "\n\n".join(parts)


def build(target: Path) -> None:
    """Write every built file of the collection below ``target``."""
    documents = target / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    hyphens = markup.load_hyphens(SOURCE / "hyphenation.txt")
    more = target / "more"
    more.mkdir(exist_ok=True)
    printed = {folder: (documents / name, head) for folder, (name, head) in REPORTS.items()}
    for folder, (name, title) in MORE.items():
        printed[folder] = (more / name, layout.Head(title, "Meridian Motors, Inc.", title))
    for folder, (path, head) in printed.items():
        story = markup.flowables(source_text(folder), hyphens)
        layout.Report(path, head).multiBuild(story)
    (more / "meridian-travel-policy.md").write_bytes((SOURCE / "travel-policy.md").read_bytes())
    (documents / "meridian-production.csv").write_text(production(), encoding="utf-8", newline="")
    (documents / "meridian-faq.md").write_bytes((SOURCE / "faq.md").read_bytes())
    judgments.write(SOURCE, [documents, more], target)


def production() -> str:
    """Production by plant and quarter as CSV, the years 2024 and 2025."""
    lines = ["plant,location,year,quarter,units"]
    for plant, row in model.build()["plants"].items():
        for year in (2024, 2025):
            for quarter, units in enumerate(row[year], 1):
                lines.append(f"{plant.title()},{LOCATIONS[plant]},{year},Q{quarter},{units}")
    return "\n".join(lines) + "\n"


def compare(built: Path) -> list[str]:
    """Name the committed files that differ from a fresh build."""
    stale = []
    for path in sorted(built.rglob("*.*")):
        committed = HERE / path.relative_to(built)
        if not committed.exists() or committed.read_bytes() != path.read_bytes():
            stale.append(f"{committed.relative_to(HERE)} differs from what its source builds; run build.py")
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    if not parser.parse_args().check:
        build(HERE)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        problems = compare(Path(folder)) + check.problems()
    print("\n".join(problems) or "meridian: every file is what its source builds, every figure ties")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
