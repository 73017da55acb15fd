"""Attacks by files: mutated PDFs, damaged results, hostile configurations, mutated runs and judgments."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tools.soak.attack import Outcome, harness, mutate
from tools.soak.corpus import write_benchmark

_PDF = Path(__file__).resolve().parents[2] / "corpora" / "meridian" / "documents" / "meridian-q3-2025.pdf"
_READERS = ("pypdf", "pypdfium2")
_HOSTILE = (
    "a: &a [*a]",
    "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
    "d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]",
    "name: " + "[" * 3000,
    "retrieve: {top_k: " + "9" * 5000 + "}",
    "retrieve: {top_k: " + "9" * 30 + "}",
    'documents: "a\\0b"',
    "name: " + "n" * 5000,
    "!!python/object/apply:os.system ['true']",
    "name: \x1b[31mred",
    "? {a: b}\n: c",
    "documents: {}",
    "chunk: 2001-01-01",
    "- a\n- b",
    "\ufeffname: x\nname: y",
)


def mutated_pdfs(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Damage a PDF in several places and validate: it is read, or skipped with a reason."""
    outcome = Outcome()
    original = _PDF.read_bytes()
    for number in range(count):
        data = original
        for _ in range(dice.randrange(1, 12)):
            data = mutate(data, dice)
        reader = _READERS[number % len(_READERS)]
        config = write_benchmark(folder, document=data)
        config.write_text(config.read_text() + f"parse: {{kind: {reader}}}\n", encoding="utf-8")
        outcome.tried += 1
        outcome.check(harness("validate", config), f"PDF {number} by {reader}")
    return outcome


def hostile_configs(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Known bad YAML, and a good configuration with random damage, to ``validate``."""
    outcome = Outcome()
    good = write_benchmark(folder)
    text = good.read_text(encoding="utf-8")
    attacked = folder / "attacked.yaml"
    for number in range(count):
        if number < 2 * len(_HOSTILE):
            hostile = _HOSTILE[number // 2]
            data = (f"{text}{hostile}\n" if number % 2 else hostile).encode("utf-8", "surrogatepass")
        else:
            data = mutate(text.encode(), dice)
        attacked.write_bytes(data)
        outcome.tried += 1
        outcome.check(harness("validate", attacked), f"configuration {number}")
    return outcome


def damaged_results(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Damage a file of finished results: every command that reads them works or explains."""
    outcome = Outcome()
    config = write_benchmark(folder)
    harness("bench", config, "--quiet")
    whole = folder / "results" / "soak"
    kept = folder / "kept"
    shutil.copytree(whole, kept)
    commands = (("show",), ("show", "--worst", "3"), ("compare",), ("report",))
    while outcome.tried < count:
        shutil.rmtree(whole)
        shutil.copytree(kept, whole)
        path = dice.choice([path for path in sorted(whole.rglob("*")) if path.is_file()])
        if dice.random() < 0.15:
            path.unlink()
        else:
            path.write_bytes(mutate(path.read_bytes(), dice))
        command, *options = dice.choice([*commands, ("gate",)])
        if command == "gate":
            options = ["--baseline", str(kept), "--measure", "ndcg_exp@5", "--max-drop", "0.02"]
        ended = harness(command, whole, *options)
        outcome.tried += 1
        outcome.check(ended, f"{command} with a damaged {path.relative_to(whole)}")
    return outcome


def mutated_scores(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Damage a TREC run or its judgments and score them."""
    outcome = Outcome()
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    run_bytes = "".join(f"q{q} Q0 d{d} {d + 1} {9.5 - d} tag\n" for q in range(5) for d in range(8)).encode()
    qrels_bytes = "".join(f"q{q} 0 d{d} {d % 4}\n" for q in range(5) for d in range(8)).encode()
    for number in range(count):
        run.write_bytes(mutate(run_bytes, dice) if number % 2 else run_bytes)
        qrels.write_bytes(qrels_bytes if number % 2 else mutate(qrels_bytes, dice))
        outcome.tried += 1
        ended = harness("score", "--run", run, "--qrels", qrels, "--measures", "ndcg_lin@10,ap")
        outcome.check(ended, f"{'run' if number % 2 else 'judgments'} {number}")
    return outcome
