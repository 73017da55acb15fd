"""The share of a cold run's CPU time that is neither a forward pass nor the parser.

python benchmarks/cold_speed.py [--config configs/quickstart.yaml]

One run with an empty cache in this process. CPU seconds of all threads, those of parsing processes included,
are those of the innermost part that is at work: `forward passes` of models with their tokenising and padding,
`parser`, `loading` of models with the import of their libraries, `latency`, which the configuration asks to
measure, and the rest: imports of the harness, cutting, search, scores, tests, tables and page.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        self._parts, self._since = [REST], 0.0

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
        now = cpu()
        self.taken[self._parts[-1]] += now - self._since
        self._since = now

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


def watched() -> Clock:
    """A clock that counts the parts of the harness."""
    from harness.models import load
    from harness.running import corpus, latency, passes

    clock = Clock()
    clock.watch(load, "_load", "loading")
    clock.watch(corpus, "parse_documents", "parser")
    clock.watch(latency, "latency_rows", "latency")

    compute = passes.compute_new

    def compute_new(
        name: str, items: Any, path: Path, batches: Any, run: Any, *rest: Any, **named: Any
    ) -> Any:
        def counted(batch: Any) -> list[Any]:
            with clock.part("forward passes"):
                return list(run(batch))

        return compute(name, items, path, batches, counted, *rest, **named)

    passes.compute_new = compute_new
    return clock


def main() -> None:
    """Measure, and print a row for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path("configs/quickstart.yaml"))
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
    print("| part | CPU seconds | share |\n|---|--:|--:|")
    for part, seconds in sorted(clock.taken.items(), key=lambda item: -item[1]):
        print(f"| {part} | {seconds:.1f} | {seconds / whole:.1%} |")


if __name__ == "__main__":
    main()
