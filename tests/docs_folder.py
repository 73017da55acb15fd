"""The folder in which the commands of all pages run, and what a reader does there between two of them."""

import csv
import hashlib
import json
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.command import save_table
from tests.docs_commands import SOURCES, ran, small_folder


@dataclass(frozen=True)
class Folder:
    """A folder that the workers of a run of the tests share.

    Each command runs in it once, for the page that comes to it first, and is awaited by the others.
    """

    path: Path

    @classmethod
    def made(cls, path, configs, cache):
        """The folder, filled by the first worker that asks for it; its runs compute into ``cache``."""
        with FileLock(f"{path}.lock"):
            if not path.exists():
                part = path.with_name(f"{path.name}.part")
                part.mkdir()
                of_a_reader(small_folder(part), configs)
                (part / ".cache").mkdir()
                (part / ".cache" / "harness").symlink_to(cache)
                part.rename(path)
        return cls(path)

    def source(self, name):
        """The folder of public data that stands for DIR behind a command."""
        place = self.path / f"source-{name}"
        with FileLock(f"{place}.lock"):
            return place if place.exists() else SOURCES[name](place)

    def run(self, words, **variables):
        """Run a command, unless that has been done; raises AssertionError with what it printed."""
        line = shlex.join(words)
        place = self.path.with_name(f"{self.path.name}-{hashlib.sha256(line.encode()).hexdigest()[:16]}")
        outcome = place.with_suffix(".json")
        with FileLock(place.with_suffix(".lock")):
            if not outcome.exists():
                fault = self._fault(words, variables)
                outcome.write_text(json.dumps(fault), encoding="utf-8")
        fault = json.loads(outcome.read_text(encoding="utf-8"))
        assert fault is None, fault

    def _fault(self, words, variables):
        """What a command that fails has printed; None if it succeeds."""
        try:
            ran(words, self.path, **variables)
        except AssertionError as error:
            return str(error)
        if words[-2:] == ["--sheet", "sheet.xlsx"]:
            fill_in(self.path / "sheet.xlsx")
        return None


def of_a_reader(folder, configs):
    """The folder with the files of a reader's own that the pages speak of."""
    meridian = folder / "corpora" / "meridian"
    shutil.copytree(meridian / "documents", folder / "contracts")
    for name, text in configs.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("queries.csv", "labels.csv"):
        shutil.copy(meridian / name, folder / name)
    shutil.copy(meridian / "queries.csv", folder / "questions.csv")
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        quoted = {row["query_id"]: row for row in csv.DictReader(file) if row["quote"]}
    faq = [row for row in quoted.values() if row["document"] == "meridian-faq.md"]
    save_table(folder / "faq_labels.csv", faq)
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as file:
        ids = {row["query_id"] for row in faq}
        save_table(
            folder / "faq_queries.csv", [row for row in csv.DictReader(file) if row["query_id"] in ids]
        )
    with (folder / "mine.jsonl").open("w", encoding="utf-8") as file:
        for query_id, row in quoted.items():
            hit = {"query_id": query_id, "rank": 1, "document": row["document"], "text": row["quote"]}
            file.write(f"{json.dumps(hit)}\n")
    (folder / "run.txt").write_text("q1 Q0 d1 1 0.9 mine\nq1 Q0 d2 2 0.4 mine\n", encoding="utf-8")
    (folder / "qrels.txt").write_text("q1 0 d2 3\n", encoding="utf-8")
    shutil.copy(folder / "run.txt", folder / "before.txt")
    (folder / "after.txt").write_text("q1 Q0 d2 1 0.9 mine\n", encoding="utf-8")


def fill_in(path):
    """Grade a sheet of passages: the first of every question answers it, the others do not."""
    book = pytest.importorskip("openpyxl").load_workbook(path)
    head, *rows = book.worksheets[0].iter_rows()
    columns, seen = [cell.value for cell in head], set()
    for row in rows:
        question = row[columns.index("query_id")].value
        row[columns.index("grade")].value = 0 if question in seen else 4
        seen.add(question)
    book.save(path)
