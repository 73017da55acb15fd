"""The share of a cold run's CPU time that is neither a forward pass nor the parser.

python benchmarks/cold_speed.py [--config configs/quickstart.yaml] [--write benchmarks/cold_speed.json]

One run with an empty cache in this process. CPU seconds of all threads, those of parsing processes included,
are those of the innermost part that is at work: `forward passes` of models, their `tokenising` and padding,
`parser`, `loading` of models with the import of their libraries, `latency`, which the configuration asks to
measure, and the rest: imports of the harness, cutting, search, scores, tests, tables and page. Beside them
are the seconds of the main thread. Where it does the work alone, both are equal, and one core is busy;
parsing is done by processes, and the main thread waits for them.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
REST = "the rest"


def cpu() -> float:
    """CPU seconds of this process and those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Clock:
    """CPU seconds by part; time within an inner part is not that of the outer one."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = defaultdict(float)
        self.main: dict[str, float] = defaultdict(float)
        self._parts, self._since, self._main = [REST], 0.0, 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """The part at work during the with block."""
        self._turn()
        self._parts.append(name)
        try:
            yield
        finally:
            self._turn()
            self._parts.pop()

    def _turn(self) -> None:
        now, main = cpu(), time.thread_time()
        self.taken[self._parts[-1]] += now - self._since
        self.main[self._parts[-1]] += main - self._main
        self._since, self._main = now, main

    def end(self) -> None:
        """Count what has been taken until now."""
        self._turn()

    def watch(self, module: Any, name: str, part: str) -> None:
        """Count a function, which is looked up in its module at each call, as a part."""
        inner: Callable[..., Any] = getattr(module, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            with self.part(part):
                return inner(*args, **kwargs)

        setattr(module, name, counted)


def watch_models(clock: Clock, weights: Any) -> None:
    """Count the loading of models, and the tokenising of those that have been loaded."""
    clock.watch(weights, "_load", "loading")
    inner, known = weights._load, set()

    def loaded(*args: Any) -> Any:
        model = inner(*args)
        if type(model) not in known:
            known.add(type(model))
            clock.watch(type(model), "preprocess", "tokenising")
        return model

    weights._load, weights._last = loaded, lru_cache(maxsize=1)(loaded)


def watched() -> Clock:
    """A clock that counts the parts of the harness."""
    from harness import data
    from harness.models import weights
    from harness.running import compute, latency

    clock = Clock()
    watch_models(clock, weights)
    clock.watch(data, "parse_documents", "parser")
    clock.watch(latency, "latency_rows", "latency")

    inner = compute.run_of

    def run_of(model: Any) -> Any:
        def counted(batch: Any) -> list[Any]:
            with clock.part("forward passes"):
                return list(inner(model)(batch))

        return counted

    compute.run_of = run_of
    return clock


def main() -> None:
    """Measure, and print a row for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path("configs/quickstart.yaml"))
    parser.add_argument("--write", type=Path, help="keep the seconds in this file, for docs/scale.md")
    args = parser.parse_args()
    clock = watched()
    from harness.running.bench.job import run_or_reuse
    from harness.running.config.load import load_config
    from harness.values import Silent

    with tempfile.TemporaryDirectory() as name:
        places = {"cache": Path(name) / "cache", "results": Path(name) / "results"}
        run_or_reuse(load_config(args.config).model_copy(update=places), Silent(), again=True)
    clock.end()
    whole = sum(clock.taken.values())
    if args.write:
        rows = {part: [round(taken, 2), round(clock.main[part], 2)] for part, taken in clock.taken.items()}
        args.write.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("| part | CPU seconds | share | of the main thread |\n|---|--:|--:|--:|")
    for part, seconds in sorted(clock.taken.items(), key=lambda item: -item[1]):
        print(f"| {part} | {seconds:.1f} | {seconds / whole:.1%} | {clock.main[part]:.1f} |")


if __name__ == "__main__":
    main()
