"""Count the files of the harness that a query, a label, a setting, … pass through.

    python tools/walks.py            # the counts
    python tools/walks.py --files    # and the files, in the order in which each is first reached

A small benchmark is run (two documents, BM25, graded by labels, then by a judge at a local server) while
every call into the harness is traced. A file is on a walk if one of its functions is given the value or
returns it: by itself, in a sequence, set or dictionary, or in an object of the harness that holds it in a
field, such as ``BenchConfig`` and ``Searched`` with their settings. Both are counted: files that see the
value itself, and with those that see it only in such an object. Functions that Python writes for dataclasses
do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

HARNESS = Path(__file__).parent.parent / "harness"
# how many of the values of a container are looked at, and how deep containers and objects may be nested
_LOOKED_AT, _DEPTH, _OBJECTS = 3, 3, 2


def forms() -> dict[str, tuple[type, ...]]:
    """The values to follow, and the types that each has on its way."""
    from harness.data.corpus.anchoring import LabelRow
    from harness.judge.pair_grades import PairGrade
    from harness.measures.projection import ChunkTable
    from harness.measures.qrels import SpanQrels
    from harness.models.llm.client import Reply
    from harness.running.config.models import Setting
    from harness.steps.search.step import Passages
    from harness.values.types import Chunk, Judgment, LlmAnswer, Query, Ranking

    return {
        "query": (Query,),
        "chunk": (Chunk, ChunkTable, Passages),
        "ranking": (Ranking,),
        "label": (LabelRow, Judgment, SpanQrels),
        "setting": (Setting,),
        "LLM grade": (Reply, LlmAnswer, PairGrade, Judgment, SpanQrels),
    }


@dataclass(slots=True)
class Walk:
    """Files in the order in which they were first reached: by the value ``itself``, and in any form."""

    itself: dict[str, None] = field(default_factory=dict)
    all: dict[str, None] = field(default_factory=dict)


class Walks:
    """A profiler that notes, for everything that is followed, the files that it passes through."""

    def __init__(self, followed: Mapping[str, tuple[type, ...]]) -> None:
        self.found: dict[str, Walk] = {name: Walk() for name in followed}
        self._followed = followed
        self._names: dict[str, str | None] = {}

    def __call__(self, frame: FrameType, event: str, returned: Any) -> None:
        """The profile function: called at every call and return."""
        if event not in {"call", "return"}:
            return
        code = frame.f_code
        if code.co_filename not in self._names:
            path = Path(code.co_filename)
            inside = path.is_relative_to(HARNESS)
            self._names[code.co_filename] = path.relative_to(HARNESS).as_posix() if inside else None
        name = self._names[code.co_filename]
        if name is None or (code.co_name.startswith("<") and code.co_name != "<lambda>"):
            return
        count = code.co_argcount + code.co_kwonlyargcount
        given = (
            [frame.f_locals.get(one) for one in code.co_varnames[:count]] if event == "call" else [returned]
        )
        for followed, types in self._followed.items():
            walk = self.found[followed]
            if name not in walk.itself and any(_holds(one, types, _DEPTH, 0) for one in given):
                walk.itself[name] = walk.all[name] = None
            if name not in walk.all and any(_holds(one, types, _DEPTH, _OBJECTS) for one in given):
                walk.all[name] = None


def _holds(value: Any, types: tuple[type, ...], depth: int, objects: int) -> bool:
    """Whether a value is of one of the types, or a container of such values, or an object that holds any."""
    if isinstance(value, types):
        return True
    if objects and type(value).__module__.startswith("harness."):
        parts = [getattr(value, name, None) for name in _fields(type(value))]
        return any(_holds(part, types, depth, objects - 1) for part in parts)
    if (
        not depth
        or not isinstance(value, dict | Sequence | set | frozenset)
        or isinstance(value, str | bytes)
    ):
        return False
    try:
        # a copy, for another thread may change it
        parts = list(islice(value.copy().values() if isinstance(value, dict) else iter(value), _LOOKED_AT))
    except AttributeError:  # a sequence that is still being made
        return False
    return any(_holds(part, types, depth - 1, objects) for part in parts)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """What the objects of a class hold: the fields of a dataclass or of a model."""
    return tuple(getattr(kind, "__dataclass_fields__", None) or getattr(kind, "model_fields", ()))


@contextmanager
def _tracing(walks: Walks) -> Iterator[None]:
    threading.setprofile(walks)
    sys.setprofile(walks)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextmanager
def _judge() -> Iterator[str]:
    """The address of a server that gives every passage grade 2."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            message = {"role": "assistant", "content": json.dumps({"grade": 2})}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()


def _configuration(folder: Path, relevance: str) -> Path:
    """A corpus of two documents and two questions, and a benchmark of it."""
    (folder / "a.md").write_text("# Zebras\n\nZebras eat grass in the morning. They sleep at night.\n")
    (folder / "b.md").write_text("# Whales\n\nWhales eat krill. They sing in the dark of the sea.\n")
    (folder / "queries.csv").write_text("query_id,text\nq1,What do zebras eat?\nq2,What do whales eat?\n")
    (folder / "labels.csv").write_text(
        "query_id,document,quote,grade\n"
        "q1,a.md,Zebras eat grass in the morning.,3\nq2,b.md,Whales eat krill.,3\n"
    )
    config = folder / "walk.yaml"
    config.write_text(
        f"name: walk\ndocuments: {folder}/*.md\nqueries: {folder}/queries.csv\n"
        f"cache: {folder}/cache\nresults: {folder}/results\n"
        "chunk: {kind: sentence, chunk_size: [40, 80]}\nretrieve: {kind: bm25}\n"
        f"measures: [ndcg_exp@10]\n{relevance}\n"
    )
    return config


def _run(relevance: str, followed: Mapping[str, tuple[type, ...]]) -> Walks:
    from harness.running.bench.flow import run_bench
    from harness.running.config.load import load_config
    from harness.values.progress import Silent

    walks = Walks(followed)
    with tempfile.TemporaryDirectory() as folder:
        path = _configuration(Path(folder), relevance.replace("{folder}", folder))
        with _tracing(walks):
            run_bench(load_config(path), Silent())
    return walks


def walks() -> dict[str, Walk]:
    """The walk of everything that is followed."""
    followed = forms()
    grade = {"LLM grade": followed.pop("LLM grade")}
    found = _run("labels: {folder}/labels.csv", followed).found
    with _judge() as url:
        endpoint = f"{{base_url: '{url}', model: m, api_key_env: null}}"
        found |= _run(f"relevance: {{judge: llm, endpoint: {endpoint}}}", grade).found
    return found


def table(found: Mapping[str, Walk]) -> str:
    """The counts, as CONTRIBUTING.md has them."""
    rows = [f"| {name} | {len(walk.itself)} | {len(walk.all)} |" for name, walk in found.items()]
    return "\n".join(["| value | files | with what holds it |", "|---|---:|---:|", *rows])


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", action="store_true", help="name the files")
    named = parser.parse_args().files
    found = walks()
    print(table(found))
    for name, walk in found.items() if named else ():
        print(f"\n{name}:")
        for file in walk.all:
            print(f"    {file}{'' if file in walk.itself else ', in what holds it'}")


if __name__ == "__main__":
    main()
