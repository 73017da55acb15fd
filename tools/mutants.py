"""Change the code that makes numbers in small ways, and count the changes that its tests catch.

Prints a line a mutant and the sum. Those that are known to compute the same are listed with the reason and
not run. The tree is not touched: a mutant replaces its module while it is imported, by the tests and by the
processes that they start. The same seed and code give the same mutants. The test files that speak of the
module run first, and all others of the room only if those pass.

    python tools/mutants.py --count 50 --seed 1
"""

import argparse
import ast
import copy
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.warm_tests import TIMED_OUT, first_failure  # noqa: E402 - also where this file is run by its path

# room -> its modules, its share of the mutants, and the tests that guard it
ROOMS = {
    "measures": (["harness/measures"], 25, ["tests/measures", "tests/answer"]),
    "comparison": (
        ["harness/comparison"],
        15,
        [
            "tests/compare",
            "tests/stats",
            *(
                f"tests/test_{name}.py"
                for name in ("compare_answers", "compare_command", "pull_request", "score_comparison")
            ),
        ],
    ),
    "ledger": (
        ["harness/store/ledger.py"],
        10,
        [f"tests/judge/test_{name}.py" for name in ("ledger", "old_ledgers", "reuse", "run")],
    ),
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can tell from the code: of a line with ``text`` of one module, and why.

    A text that ends with a line break is the end of its line.
    """

    path: str
    text: str
    change: str
    why: str


EQUIVALENT = (
    Equivalent(
        "harness/comparison/matrix.py",
        "zip(first.query_ids, first.splits, other.splits, strict=True)",
        "True  ->  False",
        "a ScoreMatrix with as many splits as queries is all there is, and both have the same queries here",
    ),
    Equivalent(
        "harness/comparison/answer_faults.py",
        "zip(lost, rows_by_query.values(), strict=True)",
        "True  ->  False",
        "one dictionary of losses is made for each query",
    ),
    Equivalent(
        "harness/comparison/gating.py",
        "must_decide: bool = False\n",
        "False  ->  True",
        "only the gate makes checks, and it sets this one of each",
    ),
    Equivalent(
        "harness/comparison/pull_request.py",
        '"" if check.most is None or check.at_least is None else _range(check)',
        "check.most is None or check.at_least is None  ->  check.most is None and check.at_least is None",
        "a check has both bounds or, for a single query, none",
    ),
    Equivalent(
        "harness/measures/evidence_ndcg.py",
        "better = grade > earlier",
        "grade > earlier  ->  grade >= earlier",
        "a copy of the grade that was found gains 0 and chooses its stretch last: it moves nothing",
    ),
    Equivalent(
        "harness/measures/order.py",
        "if counts.min() < keep:",
        "counts.min() < keep  ->  counts.min() <= keep",
        "both ways give the columns of rows without equals; those of other rows the caller finds",
    ),
    Equivalent(
        "harness/measures/text_ndcg.py",
        "n_groups = int(trail.group.max(initial=0)) + 1",
        "1  ->  2",
        "any number above all groups keeps the numbers of pairs apart and in order",
    ),
    Equivalent(
        "harness/measures/unjudged.py",
        "np.searchsorted(row, np.arange(last - first + 1))",
        "last - first  ->  last + first",
        "rows after the last have no holes, and add nothing to the positions of holes",
    ),
)
# how many test files that speak of a module run before all others
NEAREST = 6
# put on the path of the tests: replaces one module while it is imported, and notes that it was
HOOK = """
import importlib.machinery
plain = importlib.machinery.SourceFileLoader.get_code
def get_code(self, name):
    if self.path != {path!r}:
        return plain(self, name)
    open({loaded!r}, "w").close()
    return compile({source!r}, self.path, "exec", dont_inherit=True)
importlib.machinery.SourceFileLoader.get_code = get_code
"""


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    line: int
    change: str
    source: str

    @property
    def equivalent(self):
        """Why it computes what the code computes; empty if that is not known of it."""
        line = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1]
        where = self.path.relative_to(ROOT).as_posix()
        return next(
            (
                e.why
                for e in EQUIVALENT
                if e.path == where and e.text in f"{line}\n" and e.change == self.change
            ),
            "",
        )


def changed(node):
    """The changes that can be made to one node, each a copy of it."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS and not joins_text(node):
        yield ast.BinOp(node.left, OPERATIONS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)


def joins_text(node):
    """Whether an operation joins text, or types, rather than numbers."""
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.Tuple | ast.Constant)
        and type(getattr(part, "value", None)) not in (int, float)
        for part in (node.left, node.right)
    )


def skipped(node):
    """Whether nothing below a node makes numbers."""
    return isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr)


def places(tree):
    """Every (parent, field, index, node) at which a node could be changed, in the order of the source."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST) and not skipped(node):
                yield tree, field, index if isinstance(value, list) else None, node
                yield from places(node)


def mutants(path):
    """What makes each mutant of one module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for parent, field, index, node in list(places(tree)):
        for other in changed(node):
            yield partial(mutant, path, tree, parent, field, index, node, other)


def mutant(path, tree, parent, field, index, node, other):
    """The mutant that has another node in place of one."""
    change = f"{ast.unparse(node)}  ->  {ast.unparse(other)}"
    place(parent, field, index, other)
    source = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))
    place(parent, field, index, node)
    return Mutant(path, node.lineno, change, source)


def place(parent, field, index, node):
    """Put a node where another is."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def drawn(room, count, seed):
    """The mutants of one room: modules in turn, so that a long one does not take all."""
    draw = random.Random(f"{room} {seed}")
    files = [Path(name) for name in ROOMS[room][0]]
    paths = sorted(path for file in files for path in ([file] if file.suffix else file.rglob("*.py")))
    left = {path: list(mutants(ROOT / path)) for path in paths}
    left = {path: found for path, found in left.items() if found}
    chosen = []
    while left and len(chosen) < count:
        for path in draw.sample(sorted(left), len(left)):
            chosen.append(left[path].pop(draw.randrange(len(left[path])))())
        left = {path: found for path, found in left.items() if found}
    return chosen[:count]


def words_of(path):
    """The words of a file."""
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def stages(module, tests):
    """The test files of a room in two lists: those that speak of a module, the nearest first, and the others.

    A file is near if its name has the module's, or if it has names that the module defines: the fewer other
    files have such a name, the more it counts.
    """
    paths = [ROOT / name for name in tests]
    files = sorted(file for path in paths for file in ([path] if path.suffix else path.rglob("test_*.py")))
    defined = {
        node.name
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    named = {file: words_of(file) & defined for file in files}
    counts = Counter(name for names in named.values() for name in names)
    nearness = {
        file: sum(1 / counts[name] for name in named[file])
        + len(counts) * (module.stem.strip("_") in file.stem)
        for file in files
    }
    nearest = sorted((file for file in files if nearness[file]), key=lambda file: -nearness[file])[:NEAREST]
    return [nearest, [file for file in files if file not in nearest]]


def caught(mutant, tests, seconds, *, way=None):
    """The first test that fails with a mutant, or with the code as it is.

    '' if all pass, and None if that is because no test loads the module. ``way`` is how processes start, if
    not the fastest that the system has.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        loaded, hook = Path(folder, "loaded"), ""
        if mutant:
            hook = HOOK.format(path=str(mutant.path), source=mutant.source, loaded=str(loaded))
        for files in stages(mutant.path, tests) if mutant else [tests]:
            if files and (killer := first_failure(files, folder, seconds, hook=hook, way=way)):
                return killer
        return "" if loaded.exists() or not mutant else None


def without_mutant(room):
    """The first test of a room that fails with the code as it is, and the seconds that its tests took."""
    begin = time.monotonic()
    return caught(None, ROOMS[room][2], None), time.monotonic() - begin


def main():
    """Run the tests on each mutant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50, help="mutants in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn (default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=int,
        default=150,
        help="the longest run of tests, which counts as caught; never less than three times what the room "
        "takes without a mutant (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (default: %(default)s)")
    parser.add_argument("--room", choices=ROOMS, help="only the mutants of this room")
    given = parser.parse_args()
    parts = sum(share for _, share, _ in ROOMS.values())
    rooms = [given.room] if given.room else list(ROOMS)
    work = [
        (room, mutant)
        for room in rooms
        for mutant in drawn(room, given.count * ROOMS[room][1] // parts, given.seed)
    ]
    for _, mutant in work:
        if mutant.equivalent:
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"EQUIVALENT {place} {mutant.change}  {mutant.equivalent}")
    work = [(room, mutant) for room, mutant in work if not mutant.equivalent]
    # read when numpy is loaded, once for all processes
    os.environ["OMP_NUM_THREADS"] = "1"
    with ThreadPoolExecutor(given.jobs) as pool:
        plain = dict(zip(rooms, pool.map(without_mutant, rooms), strict=True))
        if any(killer for killer, _ in plain.values()):
            sys.exit(f"the tests fail without a mutant: {[killer for killer, _ in plain.values()]}")
        limits = {room: max(given.seconds, 3 * taken) for room, (_, taken) in plain.items()}
        runs = pool.map(lambda item: caught(item[1], ROOMS[item[0]][2], limits[item[0]]), work)
        killers = []
        for (_, mutant), killer in zip(work, runs, strict=True):
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            said = "no test loads it" if killer is None else killer
            print(f"{'caught  ' if killer else 'SURVIVED'} {where} {mutant.change}  {said}", flush=True)
            killers.append(killer)
    for room in rooms:
        of = [bool(killer) for (name, _), killer in zip(work, killers, strict=True) if name == room]
        print(f"{room}: {sum(of)} of {len(of)} caught")
    ended = f", {killers.count(TIMED_OUT)} of them as the tests did not end" if TIMED_OUT in killers else ""
    print(f"{sum(map(bool, killers))} of {len(killers)} caught{ended}")


if __name__ == "__main__":
    main()
