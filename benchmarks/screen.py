"""What a screen in int8 takes and changes, beside float32 and bfloat16, on chunks of the quickstart.

    python -m benchmarks.screen [--chunk-size 500]

Every way embeds the same chunks and queries in the same batches, the least CPU seconds of two rounds. The
vectors are compared with those of float32 by torch: their mean cosine, how many of the first ten chunks of a
query are the same ones, and how many stand in the same place. Calibration is timed apart: its outcome is kept
for every later run. `feed-forward out in float32` leaves the second matrix of each feed-forward block alone.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from harness.models import EmbedConfig, ways
from harness.models.encoder import SentenceEncoder
from harness.models.quantised import TEXTS, ScreenEncoder, calibration_of, check_screen_packages
from harness.running import Session, load_config
from harness.running.bench.preparing import prepare
from harness.store import Artifacts
from harness.values import Silent, available_cpus, processor_name

ROOT = Path(__file__).parent.parent
MODEL = "embedded:all-MiniLM-L6-v2"
FIRST = 10
SEED = 7
# names of operations as OpenVINO has them of a model of BERT's kind
FEED_FORWARD_OUT = r".*layer\.\d+\.output\.dense.*"

Floats = NDArray[np.float32]


def texts_of(chunk_size: int) -> tuple[list[str], list[str], list[str]]:
    """The chunks, queries and documents of the quickstart."""
    config = load_config(ROOT / "configs/quickstart.yaml")
    setting = next(setting for setting in config.settings if setting.chunk.chunk_size == chunk_size)
    config = config.model_copy(update={"settings": (setting,)})
    with TemporaryDirectory() as folder, Session.at(Path(folder), Silent()) as session:
        corpora, (point,) = prepare(config, session)
        queries = [query.text for query in corpora.united.queries.queries]
        documents = [document.text for document in corpora.united.documents]
        return [chunk.text for chunk in point.chunking.chunks], queries, documents


def encoders(documents: Sequence[str], stored: Artifacts) -> Iterator[tuple[str, SentenceEncoder]]:
    """By name, the ways that work on this machine; float32 by torch first."""
    for way in (
        ways.EXACT,
        *(way for way in ways.ways_of("SentenceTransformer", "cpu") if way != ways.EXACT),
    ):
        yield str(way), SentenceEncoder(EmbedConfig(model=MODEL, **way._asdict()))
    calibration = calibration_of(documents, SEED)
    config = EmbedConfig(model=MODEL)
    yield "int8 by openvino", ScreenEncoder(config, calibration, stored)
    yield "feed-forward out in float32", ScreenEncoder(config, calibration, stored, [FEED_FORWARD_OUT])


def embedded(encoder: SentenceEncoder, texts: Sequence[str]) -> tuple[Floats, float]:
    """Unit vectors, and the CPU seconds that they took."""
    rows: dict[int, Floats] = {}
    begun = time.process_time()
    for batch in encoder.batches(texts):
        rows |= dict(zip(batch, encoder.encode([texts[place] for place in batch]), strict=True))
    took = time.process_time() - begun
    vectors = np.array([rows[place] for place in range(len(texts))])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunk-size", type=int, default=500)
    args = parser.parse_args()
    check_screen_packages()
    chunks, queries, documents = texts_of(args.chunk_size)
    print(
        f"{len(chunks)} chunks of up to {args.chunk_size} characters, {len(queries)} queries, {MODEL}; "
        f"{TEXTS} texts to calibrate by; {processor_name()}, {available_cpus()} cores, "
        f"load {os.getloadavg()[0]:.1f}\n"
    )
    print("| way | CPU seconds | times less | cosine | same first ten | same place | to load, CPU seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    exact: tuple[Floats, Floats, float] | None = None
    with TemporaryDirectory() as folder:
        for name, encoder in encoders(documents, Artifacts(Path(folder))):
            begun = time.process_time()
            encoder.try_out()
            loading = time.process_time() - begun
            rounds = [embedded(encoder, chunks) for _ in range(2)]
            vectors, asked = rounds[0][0], embedded(encoder, queries)[0]
            took = min(seconds for _, seconds in rounds)
            exact = exact or (vectors, asked, took)
            orders = [
                np.argsort(-(q @ v.T), axis=1, kind="stable")[:, :FIRST]
                for v, q in (exact[:2], (vectors, asked))
            ]
            same = np.mean(
                [len({*a} & {*b}) / len(a) for a, b in zip(*map(np.ndarray.tolist, orders), strict=True)]
            )
            cosine = float((vectors * exact[0]).sum(axis=1).mean())
            print(
                f"| {name} | {took:.1f} | {exact[2] / took:.2f} | {cosine:.4f} | {same:.1%} | "
                f"{np.mean(orders[0] == orders[1]):.1%} | {loading:.0f} |",
                flush=True,
            )
    if not any(way.dtype == "bfloat16" for way in ways.ways_of("SentenceTransformer", "cpu")):
        print("\nbfloat16: this processor has no instructions for it.")


if __name__ == "__main__":
    main()
