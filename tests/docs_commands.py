"""The commands that README, CONTRIBUTING and docs/ print, and a folder with small inputs to run them in."""

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.command import save_table
from tests.command import table as read
from tests.warmed import run_warm

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^(?: {4,}.*)\n)+", re.MULTILINE)
COMMAND = re.compile(r"(?:\w+=\S* )*(?:\.venv/bin/)?(?:harness|python|make) ")
INLINE = re.compile(r"`((?:\w+=\S* )?(?:\.venv/bin/)?(?:harness|python|make) [^`|]+)")
# whether the extra `fast` is there
FAST = find_spec("openvino") is not None
SHELL = {"sh", "bash", "shell", "console"}


@dataclass(frozen=True)
class Shown:
    """A command as a page prints it; ``whole`` if it is in a block to paste, not in a sentence."""

    page: str
    line: str
    whole: bool

    @property
    def words(self) -> list[str]:
        """Without comment, variables in front, and the folder of the environment."""
        words = shlex.split(self.line, comments=True)
        while words and re.fullmatch(r"\w+=.*", words[0]):
            del words[0]
        return [words[0].removeprefix(".venv/bin/"), *words[1:]] if words else []


def shown(page):
    """Every command of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    found, prose = [], text
    for block in BLOCK.finditer(text):
        prose = prose.replace(block[0], "\n")
        # all that is in a block for the shell is a command; elsewhere, what begins like one
        for line in block[3].splitlines():
            if line.strip() and (block[2] in SHELL or COMMAND.match(line.strip().removeprefix("run: "))):
                found.append((text.index(block[0]), line.strip().removeprefix("run: "), True))
    for block in INDENTED.finditer(prose):
        for line in block[0].splitlines():
            if COMMAND.match(line.strip()):
                found.append((text.index(line), line.strip(), True))
    for inline in INLINE.finditer(prose):
        found.append((len(text), " ".join(inline[1].split()), False))
    found.sort(key=lambda one: one[0])
    parts = [(part.strip(), whole) for _, line, whole in found for part in line.split(" && ")]
    return [one for one in (Shown(page.name, line, whole) for line, whole in parts) if one.words]


def small_folder(folder):
    """What a clone has, with fewer documents and questions."""
    for name in ("configs", "benchmarks", "docs", "corpora/lanchuan", "corpora/rgb_sample"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "configs").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        text = text.replace("latency: {queries: 30, seconds: 20}", "latency: {queries: 2, seconds: 1}")
        # without the extra, as the configurations say
        path.write_text(text if FAST else text.replace(", backend: openvino", ""), encoding="utf-8")
    target = folder / "corpora" / "meridian"
    (target / "documents").mkdir(parents=True)
    documents = ROOT / "corpora" / "meridian" / "documents"
    for path in documents.iterdir():
        if path.name != "meridian-10k-2025.pdf":
            shutil.copy(path, target / "documents")
    first_pages(documents / "meridian-10k-2025.pdf", target / "documents" / "meridian-10k-2025.pdf")
    shutil.copytree(documents.parent / "more", target / "more")
    few_questions(target, "queries.csv", ("labels.csv", "judged.csv"))
    few_questions(target, "quickstart_queries.csv", ("quickstart_judged.csv",))
    return folder


def few_questions(target, queries, labels):
    """Thirty of Meridian's questions with their labels; the first file of labels says what has evidence."""
    with_evidence = {row["query_id"] for row in table(labels[0]) if kept(row) and row["grade"] == "4"}
    chosen = [row for row in table(queries) if row["query_id"] in with_evidence][:30]
    asked = {row["query_id"] for row in chosen}
    save_table(target / queries, chosen)
    for name in labels:
        save_table(target / name, [row for row in table(name) if row["query_id"] in asked and kept(row)])


PAGE_COUNT = 4


def first_pages(source, target, count=PAGE_COUNT):
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    for page in PdfReader(source).pages[:count]:
        writer.add_page(page)
    writer.write(target)


def kept(row):
    """Whether a row of Meridian's labels is in what the small folder has of it."""
    if not row["document"].startswith("meridian-10k"):
        return True
    return not row["start"] and 0 < int(row["page"] or 0) <= PAGE_COUNT


def table(name):
    return read(ROOT / "corpora" / "meridian" / name)


def filings(folder):
    """Four filings and their questions as FinanceBench has them, made of Meridian's."""
    names = [f"{company}_{year}_10Q" for company in ("3M", "AMCOR") for year in (2024, 2025)]
    (folder / "pdfs").mkdir(parents=True)
    for name in names:
        shutil.copy(ROOT / "corpora/meridian/documents/meridian-q3-2025.pdf", folder / "pdfs" / f"{name}.pdf")
    texts = {row["query_id"]: row for row in table("queries.csv")}
    labels = [row for row in table("labels.csv") if "q3" in row["document"] and row["grade"] == "4"][:30]
    asked = {row["query_id"]: row for row in labels if row["page"]}
    questions, evidence = [], []
    for at, (query_id, row) in enumerate(asked.items()):
        name = names[at % len(names)]
        company, year, _ = name.split("_")
        question = f"{company} in {year}: {texts[query_id]['text']}"
        own = {"query_id": query_id, "document": name}
        kind = "metrics-generated" if at % 2 else "novel-generated"
        told = {"question": question, "answer": texts[query_id]["answer"], "question_type": kind}
        questions.append(own | told | {"question_reasoning": "", "justification": ""})
        evidence.append(own | {"evidence_no": "1", "page": row["page"], "evidence_text": row["quote"]})
    save_table(folder / "questions.csv", questions)
    save_table(folder / "evidence.csv", evidence)
    described = (
        {"document": name, "company": name.split("_")[0], "sector": "", "doc_type": "10q"} for name in names
    )
    save_table(
        folder / "documents.csv", [row | {"period": row["document"].split("_")[1]} for row in described]
    )
    return folder


def texts_with_spans(folder):
    """A text and its questions as "Evaluating Chunking" has them, made of Meridian's."""
    (folder / "corpora").mkdir(parents=True)
    text = (ROOT / "corpora/meridian/documents/meridian-faq.md").read_text(encoding="utf-8")
    (folder / "corpora" / "faq.md").write_text(text, encoding="utf-8")
    lines = [line for line in text.splitlines() if len(line) > 60][:20]
    save_table(
        folder / "spans.csv",
        [
            {"query_id": f"q{at}", "document": "faq", "question": " ".join(line.split()[:8]), "start": start}
            | {"end": start + len(line), "text": line}
            for at, line in enumerate(lines)
            for start in (text.index(line),)
        ],
    )
    return folder


# what stands for DIR, by the word before it
SOURCES = {"financebench": filings, "chunking_eval": texts_with_spans}


def ran(words, folder, **variables):
    """Run a command in a folder; returns what it printed, or fails with it."""
    program = {"harness": ["-m", "harness"], "python": []}[words[0]]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}", "HF_HUB_OFFLINE": "1", **variables}
    done = run_warm([*program, *words[1:]], folder, env)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout
