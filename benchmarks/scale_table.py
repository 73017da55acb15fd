"""The tables of docs/scale.md, from what the benchmarks have measured.

python -m benchmarks.scale_table            # write them into docs/scale.md
python -m benchmarks.scale_table --check    # change nothing; fail if the page is out of date

benchmarks/scale.json holds the constants that `python -m benchmarks.scale` has measured, and
benchmarks/scale_sample.json the samples of `python -m benchmarks.scale_sample`. A value beyond the largest
measured corpus goes on as from the second largest to the largest, and is marked with ~.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.scale_sample_table import sample_tables, table

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scale.md"
CONSTANTS = Path(__file__).parent / "scale.json"
COLD = Path(__file__).parent / "cold_speed.json"
# done by a thread or a process per core; all else is done by one core
SHARED_OUT = ("forward passes", "tokenising", "parser")
SIZES = (10**6, 10**7, 10**8, 10**9)
MEMORIES = (16, 64, 256, 1024)
# a machine that one can rent, in GB
LARGE = 1024
WITH_PEAK = {
    "chunk": "documents and chunks alone",
    "exact": "`exact` (vectors read from the disk)",
    "bm25": "`bm25`",
    "faiss": "`faiss` (HNSW)",
    "chroma": "`chroma`",
    "run": "a whole run of three settings",
}
WORK = {
    "chunk": "cut, count tokens",
    "vectors": "store and look up vectors",
    "bm25": "`bm25`: index and search",
    "exact": "`exact`: search",
    "faiss": "`faiss`: index and search",
    "chroma": "`chroma`: index and search",
    "run": "scores, tables and page",
}
ON_DISK = ("chunk", "vectors", "faiss", "chroma")


@dataclass(frozen=True)
class Constants:
    """What was measured: by stage the corpora with their values, and the CPU seconds of a real chunk."""

    machine: str
    queries: int
    real: Mapping[str, float]
    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, path: Path = CONSTANTS) -> Constants:
        """The constants of a file."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def of(self, stage: str, value: str) -> list[tuple[int, float]]:
        """The chunks of each corpus and the value there, by falling size of corpus first."""
        return sorted((row["chunks"], row[value]) for row in self.rows if row["stage"] == stage)

    def at(self, stage: str, value: str, chunks: float) -> float:
        """The value for so many chunks, on the line through the two nearest corpora, the largest beyond."""
        known = self.of(stage, value)
        place = next(
            (i for i, (size, _) in enumerate(known[1:-1], start=1) if chunks <= size), len(known) - 1
        )
        (low, below), (high, above) = known[place - 1], known[place]
        return max(0.0, above + (chunks - high) * (above - below) / (high - low))

    def largest(self, stage: str) -> int:
        """The chunks of the largest corpus measured."""
        return self.of(stage, "cpu")[-1][0]

    def fits(self, stage: str, megabytes: float) -> float:
        """How many chunks take that much memory."""
        (low, below), (high, above) = self.of(stage, "peak")[-2:]
        return high + (megabytes - above) * (high - low) / (above - below)


def short(value: float) -> str:
    """Two digits that count, and no more."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    return f"{round(value, digits):,.{max(0, min(digits, 3))}f}"


def measured(c: Constants) -> str:
    """CPU seconds and memory of each stage and corpus, as measured."""
    asked = sorted({row["asked"] for row in c.rows})
    stages = list(dict.fromkeys(row["stage"] for row in c.rows))
    cells = {(row["stage"], row["asked"]): row for row in c.rows}
    parts = []
    for value, title in (
        ("cpu", "CPU seconds"),
        ("peak", "Peak memory in MB"),
        ("disk", "MB added to the cache"),
    ):
        rows = [
            [stage, *(shown(cells.get((stage, size)), value) for size in asked)]
            for stage in stages
            if value != "disk" or stage in ON_DISK
        ]
        parts.append(f"{title}:\n\n{table(['stage', *(f'{size:,}' for size in asked)], rows)}")
    return "\n\n".join([f"Machine: {c.machine}, shared; {c.queries:,} questions.", *parts])


def shown(row: Mapping[str, Any] | None, value: str) -> str:
    """A measured value, or what says that there is none."""
    return "not measured" if row is None else f"{row[value]:,.{0 if row[value] >= 100 else 1}f}"


def summary(c: Constants) -> str:
    """What the largest corpus took."""
    asked = max(row["asked"] for row in c.rows if row["stage"] == "run")
    own = {row["stage"]: row for row in c.rows if row["asked"] == asked}
    run = [own[stage] for stage in ("chunk", "vectors", "bm25", "exact", "fusion", "run")]
    chunks, cpu = own["run"]["chunks"], sum(row["cpu"] for row in run)
    peak = max(row["peak"] for row in run) / 1000
    embed, read = c.real["embed"], c.real["parse"]
    return (
        f"A benchmark of {chunks:,} chunks, {c.queries:,} questions and three settings (words, vectors, both)"
        f"\ntakes {cpu / 60:.0f} CPU minutes besides parser and model, and at most {peak:.1f} GB of memory "
        "in any stage, scores, tables\nand page included. The model takes most of a cold run: "
        f"{embed * 1000:.0f} CPU milliseconds for a chunk of a shipped report,\nso "
        f"{short(embed * chunks / 3600)} CPU hours for as many chunks; reading a chunk's PDF takes "
        f"{read * 1000:.1f} milliseconds."
    )


def marked(c: Constants, stage: str, size: float, text: str) -> str:
    """The text, with ~ where the corpus is larger than what was measured."""
    return f"~ {text}" if size > c.largest(stage) * 1.01 else text


def large(c: Constants) -> str:
    """Hours, memory and disk from a million to a billion chunks."""
    head = ["", *(f"10^{round(math.log10(size))}" for size in SIZES)]
    hours = [
        ["read PDFs", *(f"~ {short(c.real['parse'] * size / 3600)}" for size in SIZES)],
        ["embed (MiniLM)", *(f"~ {short(c.real['embed'] * size / 3600)}" for size in SIZES)],
    ]
    hours += [
        [title, *(marked(c, s, n, short(c.at(s, "cpu", n) / 3600)) for n in SIZES)]
        for s, title in WORK.items()
    ]
    memory = [
        [title, *(marked(c, s, n, short(c.at(s, "peak", n) / 1000)) for n in SIZES)]
        for s, title in WITH_PEAK.items()
    ]
    disk = [[WORK[s], *(marked(c, s, n, short(c.at(s, "disk", n) / 1000)) for n in SIZES)] for s in ON_DISK]
    choice = [[name, *(say(c, size) for size in SIZES)] for name, say in CHOICES.items()]
    return "\n\n".join(
        [
            f"CPU hours, with {c.queries:,} questions:\n\n{table(head, hours)}",
            f"Memory in GB:\n\n{table(head, memory)}",
            f"Disk in GB:\n\n{table(head, disk)}",
            f"What that means:\n\n{table(head, choice)}",
        ]
    )


def needed(c: Constants, size: float) -> float:
    """The megabytes of the stage that takes the most, with vectors on the disk."""
    return max(c.at(stage, "peak", size) for stage in ("chunk", "exact", "bm25", "run"))


def first_limit(c: Constants, size: float) -> str:
    """What stops such a corpus first."""
    if needed(c, size) > LARGE * 1000:
        return "memory: the text of all chunks is held by one machine"
    if c.real["embed"] * size > 7 * 86_400:
        return "time: more than a CPU week for the model"
    return "nothing on one machine"


def store(c: Constants, size: float) -> str:
    """The store with the least memory; an index where a scan takes longer than a day."""
    if needed(c, size) > LARGE * 1000:
        return "none: take a sample"
    scan = c.at("exact", "cpu", size) / 3600
    return (
        "`exact`"
        if scan <= 24
        else "`exact` by Ray"
        if c.at("faiss", "peak", size) > LARGE * 1000
        else "`faiss`"
    )


def engine(c: Constants, size: float) -> str:
    """One machine where the model is done in a day, else a cluster with CPUs for that."""
    cpus = math.ceil(c.real["embed"] * size / 86_400)
    return f"one machine, {cpus} CPU{'s' * (cpus > 1)}" if cpus <= 16 else f"Ray, ~ {short(cpus)} CPUs"


CHOICES: Mapping[str, Callable[[Constants, float], str]] = {
    "breaks first": first_limit,
    "memory a machine needs": lambda c, n: f"~ {short(needed(c, n) / 1000)} GB",
    "store": store,
    "engine, to embed in a day": engine,
}


def choices(c: Constants) -> str:
    """What a scan and the two indexes took at every size at which the indexes were measured."""
    stages = ("exact", "faiss", "chroma")
    at = {(row["stage"], row["asked"]): row for row in c.rows}
    sizes = sorted(asked for stage, asked in at if stage == "chroma")
    rows = [
        [
            f"{size:,}",
            *(f"{at[stage, size][value]:,.0f}" for value in ("cpu", "peak") for stage in stages),
            *(f"{at[stage, size]['disk']:,.1f}" for stage in stages[1:]),
        ]
        for size in sizes
    ]
    named = [f"`{stage}`, {unit}" for unit in ("CPU s", "MB at its peak") for stage in stages]
    return table(["chunks", *named, *(f"`{stage}`, MB kept" for stage in stages[1:])], rows)


def checked(c: Constants) -> str:
    """What the smaller corpora say of the largest one in the same way, beside what was measured there."""
    largest = max(row["asked"] for row in c.rows)
    smaller = replace(c, rows=[row for row in c.rows if row["asked"] < largest])
    rows = []
    for row in (row for row in c.rows if row["asked"] == largest):
        cells = [
            f"{said:,.0f} | {row[value]:,.0f} | {row[value] / said:.2f}"
            for value in ("cpu", "peak")
            for said in [smaller.at(row["stage"], value, row["chunks"])]
        ]
        rows.append([row["stage"], *cells])
    head = ["CPU s, by the line", "measured", "ratio", "MB, by the line", "measured", "ratio"]
    return table([f"{largest:,} chunks", *head], rows)


def fits(c: Constants) -> str:
    """The largest corpora by memory."""
    rows = [
        [title, *(f"~ {short(c.fits(stage, gigabytes * 1000) / 1e6)}" for gigabytes in MEMORIES)]
        for stage, title in WITH_PEAK.items()
    ]
    return table(["million chunks in", *(f"{gigabytes:,} GB" for gigabytes in MEMORIES)], rows)


def cores(path: Path = COLD) -> str:
    """The parts of a cold run, and what two cores could gain by doing some at the same time."""
    taken = {part: own[0] for part, own in json.loads(path.read_text(encoding="utf-8")).items()}
    whole = sum(taken.values())
    rows = [
        [part, f"{own:.1f}", f"{own / whole:.1%}"] for part, own in sorted(taken.items(), key=lambda i: -i[1])
    ]
    alone = sum(own for part, own in taken.items() if part not in SHARED_OUT)
    two = alone + (whole - alone) / 2
    return "\n\n".join(
        [
            table(["part", "CPU seconds", "share"], rows),
            f"If the parts that are shared out kept two cores busy, such a run would take {two:.0f} seconds "
            f"and use {whole / 2 / two:.0%} of\nboth cores. Reading all documents while the model computes "
            f"could save {taken['parser'] / 2 / two:.1%} of that at most;\ndoing all that one core does "
            f"alone beside the model, {(two - whole / 2) / two:.0%}.",
        ]
    )


def tables(path: Path = CONSTANTS) -> dict[str, str]:
    """The parts of the page that constants decide, by name."""
    c = Constants.read(path)
    made = {"summary": summary(c), "measured": measured(c), "large": large(c), "fits": fits(c)}
    made["checked"], made["choices"] = checked(c), choices(c)
    return {**made, "cores": cores()}


def written(text: str) -> str:
    """The page with every part made anew; raises ValueError for a part that the page has no place for."""
    for name, content in {**tables(), **sample_tables()}.items():
        begin, end = f"<!-- {name}: made by python -m benchmarks.scale_table -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE} has no part {name!r}")
        text = f"{before}{begin}\n{content}\n{end}{after}"
    return text


def main() -> None:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if the page is out of date"
    )
    args = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = written(before)
    if args.check and before != after:
        sys.exit(f"{PAGE} is out of date; run python -m benchmarks.scale_table and commit")
    if not args.check:
        PAGE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
