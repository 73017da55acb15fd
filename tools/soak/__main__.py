"""Attack the harness for a while and print the outcome: ``make soak``.

    python -m tools.soak [--minutes M | --count N] [--seed S] [--only NAME ...] [--output FILE]

Each kind of attack has an equal share of the time. Faults are printed one a line; the same seed finds them
again. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tools.soak.attack import Attack, Outcome
from tools.soak.cache import bounded_files, full_disk, may_mount, swapped_indexes
from tools.soak.files import damaged_results, hostile_configs, mutated_pdfs, mutated_scores
from tools.soak.runs import at_once, flipped_bits, kills
from tools.soak.service import hostile_json, redirects

ATTACKS = (
    Attack("mutated PDFs", mutated_pdfs, 4.0),
    Attack("hostile configurations", hostile_configs, 1.5),
    Attack("damaged results", damaged_results, 2.0),
    Attack("mutated runs and judgments", mutated_scores, 1.0),
    Attack("kills", kills, 25.0),
    Attack("flipped bits in the cache", flipped_bits, 8.0),
    Attack("swapped indexes", swapped_indexes, 12.0),
    Attack("files that cannot grow", bounded_files, 8.0),
    *([Attack("disk almost full", full_disk, 8.0)] if may_mount() else []),
    Attack("redirects", redirects, 4.0),
    Attack("hostile JSON", hostile_json, 4.0),
    Attack("runs at once", at_once, 8.0),
)


def main() -> int:
    """Run the attacks; 0 if none found a fault."""
    arguments = _arguments()
    chosen = [attack for attack in ATTACKS if not arguments.only or attack.name in arguments.only]
    done: list[tuple[Attack, Outcome]] = []
    for attack in chosen:
        count = arguments.count or max(2, round(60 * arguments.minutes / len(chosen) / attack.seconds))
        print(f"{attack.name}: {count} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            dice = random.Random(f"{arguments.seed} {attack.name}")
            done.append((attack, attack.run(Path(folder), dice, count)))
    table = _table(done, arguments.seed)
    print(table)
    if arguments.output:
        arguments.output.write_text(table + "\n", encoding="utf-8")
    for _, outcome in done:
        for fault in outcome.faults:
            print(f"fault: {fault}", file=sys.stderr)
    return 1 if any(outcome.faults for _, outcome in done) else 0


def _table(done: list[tuple[Attack, Outcome]], seed: int) -> str:
    lines = [f"| attack (seed {seed}) | tried | faults |", "|---|---:|---:|"]
    lines += [f"| {attack.name} | {outcome.tried} | {len(outcome.faults)} |" for attack, outcome in done]
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=5.0, help="how long to attack, about (5)")
    length.add_argument("--count", type=int, help="so many attacks of each kind, however long they take")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same attacks (1)")
    parser.add_argument("--only", nargs="+", choices=[attack.name for attack in ATTACKS], metavar="NAME")
    parser.add_argument("--output", type=Path, help="write the table to this file too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
