"""The order of a run of all tests: fast ones first, then those that take longest, then what fills the gaps.

With ``--dist worksteal`` every worker begins at the start of a share of its own, and one that has nothing
left takes from the end of another's. So each share has all phases, and its longest tests are not its last.
"""

import os
from collections import defaultdict

import pytest
from _pytest.runner import runtestprotocol

# CPU seconds of the tests whose names begin so, and about those of the others that take long
PAGE = "tests/test_docs_commands.py::test_the_commands_of_a_page_run_on_small_inputs"
LONG = {
    f"{PAGE}[study-retrieval.md]": 170,
    f"{PAGE}[study-chunking.md]": 110,
    f"{PAGE}[README.md]": 75,
    f"{PAGE}[calibration.md]": 50,
    f"{PAGE}[meridian.md]": 45,
    f"{PAGE}[tune.md]": 30,
    f"{PAGE}[testset.md]": 25,
    f"{PAGE}[scale.md]": 20,
    f"{PAGE}[speed.md]": 20,
    f"{PAGE}[report.md]": 15,
    f"{PAGE}[judge.md]": 15,
    f"{PAGE}[study-measure.md]": 15,
    PAGE: 5,
    "tests/bench/test_kill.py": 10,
    "tests/bench/test_ray.py": 10,
    "tests/bench/test_toy_steps.py": 60,
    "tests/compare/test_calibration.py": 2,
    "tests/config/test_secrets.py": 0.3,
    "tests/external/test_opensearch.py": 20,
    "tests/external/test_screen.py": 25,
    "tests/external/test_stores.py": 20,
    "tests/judge/test_memory.py": 40,
    "tests/llm/test_openai.py": 50,
    "tests/report/test_damaged_results.py": 17,
    "tests/report/test_page_glance.py": 8,
    "tests/search/test_retrieval_page.py": 25,
    "tests/test_chunking_eval.py": 50,
    "tests/test_core_install.py": 20,
    "tests/test_demo.py": 30,
    "tests/test_linear_readers.py": 1,
    "tests/test_portability.py::test_rooms_pass": 40,
    "tests/test_program.py::test_sessions_at_once": 100,
    "tests/test_recipes.py": 20,
    "tests/test_tesla_recipe.py": 25,
}
OTHERS = 5.0
# files whose tests are apart: no fixture of theirs takes long to make
APART = (
    "tests/compare/test_calibration.py",
    "tests/judge/test_corrected.py",
    "tests/report/test_damaged_results.py",
    "tests/test_docs_commands.py",
)


def takes_long(item):
    """Whether a test is marked as one that takes minutes."""
    return any(item.get_closest_marker(name) for name in ("slow", "docs"))


def cost(item):
    """About how many CPU seconds a test takes that takes long."""
    return next((seconds for name, seconds in LONG.items() if item.nodeid.startswith(name)), OTHERS)


def shares(items, count):
    """Tests that take long, in as many lists of about equal cost, the dearest files first."""
    files = defaultdict(list)
    for item in items:
        path = item.nodeid.partition("::")[0]
        files[item.nodeid if path in APART else path].append(item)
    costs = {name: sum(map(cost, tests)) for name, tests in files.items()}
    lists, filled = [[] for _ in range(count)], [0.0] * count
    for name in sorted(files, key=lambda name: (-costs[name], name)):
        least = filled.index(min(filled))
        lists[least] += files[name]
        filled[least] += costs[name]
    return lists


def ordered(items, count):
    """The tests in the order of a run by ``count`` workers, of whom each is given as many of them."""
    fast = [item for item in items if not takes_long(item)]
    order = []
    for worker, share in enumerate(shares([item for item in items if takes_long(item)], count)):
        room = (len(items) - len(order)) // (count - worker) - len(share)
        order += fast[: max(0, room)] + share
        del fast[: max(0, room)]
    return order + fast


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put the tests of a run in order, unless all are fast: ``make test`` keeps those of a file together."""
    if any(map(takes_long, items)):
        items[:] = ordered(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Let no fixture pass from fast tests, whose models are hashed words, to others, or back."""
    if nextitem is None or takes_long(item) == takes_long(nextitem):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=None)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
