"""The Ray engine on a cluster of three nodes: same numbers, and nothing lost when something dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from harness import running
from harness.running import EngineConfig
from harness.running.engines import make_engine
from harness.steps import RETRIEVERS
from harness.steps.search.retrieve.store_queries import StoreQueries, searched
from harness.values import Hidden, ModelError, RecordingReporter, Silent
from tests.bench.ray_jobs import Deadly, Doubled, Greedy, SeenByAll, Slow
from tests.external.filled import Chroma

ChromaConfig = RETRIEVERS["chroma"].config

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def as_urgent():
    """Workers of Ray give way to all else, and would hardly run beside tests that fill the cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        yield


@pytest.fixture(scope="module")
def cluster(as_urgent):
    """Three nodes with a CPU each; one cluster for all tests, as starting one takes seconds."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        # the workers import jobs of these tests
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        for _ in range(2):
            made.add_node(num_cpus=1)
        made.wait_for_nodes()
        yield made
        made.shutdown()


@contextmanager
def three_workers(cluster):
    """An engine with three workers, which are started by its first job."""
    made = make_engine(EngineConfig(kind="ray", address=cluster.address, workers=3), Silent())
    with pytest.MonkeyPatch.context() as patch:
        # on a busy machine no part is to be taken for late
        patch.setattr("harness.running.ray_engine._LATE_SECONDS", 300)
        yield made
    made.close()


@pytest.fixture
def engine(cluster):
    """An engine with workers of its own."""
    with three_workers(cluster) as made:
        yield made


@pytest.fixture(scope="class")
def shared(cluster):
    """An engine for tests that leave its workers as they are; they take all CPUs of the cluster."""
    with three_workers(cluster) as made:
        yield made


def done(engine, job, parts=range(20)):
    return {one.index: one.value for one in engine.map(job, list(parts), job, Hidden())}


class TestOnePool:
    """What leaves the workers as they are is tried on one pool of them."""

    def test_every_part_is_done_once_and_keeps_its_place(self, shared, tmp_path):
        found = done(shared, Doubled(str(tmp_path)))
        assert found == {part: 2 * part for part in range(20)}
        assert len(list(tmp_path.iterdir())) == 20
        assert sum(one["workers"] for one in shared.describe()["machines"]) <= 3

    def test_a_worker_without_memory_ends_the_run_with_a_remedy(self, shared):
        with pytest.raises(ModelError, match=r"MemoryError.*lower batch_tokens or the number of workers"):
            done(shared, Greedy())

    def test_an_error_of_a_job_is_the_error_of_the_run(self, shared):
        with pytest.raises(ModelError, match="ZeroDivisionError"):
            done(shared, Fraction, ["1/0"])

    def test_a_store_with_an_address_is_searched_by_all_workers(self, shared, tmp_path):
        pytest.importorskip("chromadb", reason="the extra chroma is not installed")
        random = np.random.default_rng(4)
        vectors = random.normal(size=(90, 24)).astype(np.float32)
        rows = [
            {"vector": vector, "text": f"text {place}", "document": "a"}
            for place, vector in enumerate(vectors)
        ]
        (tmp_path / "workers").mkdir()
        config = ChromaConfig(**Chroma(tmp_path).fill(rows), exact=False)

        def here(part):
            raise AssertionError("not searched by a worker")

        def spread(job, parts):
            seen = SeenByAll(str(tmp_path / "workers"), job, 3)
            return [done.value for done in shared.map(seen, parts, here, Hidden())]

        # sixteen queries a part; the store that is open here is not asked
        asked = vectors[:80]
        hits = searched(config, "contracts", None, StoreQueries([""] * len(asked), asked), 3, spread)
        assert len(list((tmp_path / "workers").iterdir())) == 3
        with config.reading("contracts") as store:
            alone = store.near(asked, 3)
        assert [[row.key for row in found] for found in hits] == [
            [row.key for row in found] for found in alone
        ]
        assert [found[0].key for found in hits] == [f"row-{place}" for place in range(80)]


def test_what_a_killed_worker_had_is_done_again(engine, tmp_path):
    assert done(engine, Deadly(str(tmp_path), 1)) == {part: 2 * part for part in range(20)}
    assert engine.describe()["workers_lost"] == 1


def test_what_a_slow_worker_has_is_done_by_an_idle_one(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.running.ray_engine._LATE_SECONDS", 0.5)
    assert done(engine, Slow(str(tmp_path), 900)) == {part: 2 * part for part in range(20)}
    # the results are there before the slow worker has ended its first part
    assert not list(tmp_path.glob("*-slow"))
    # each at least once: on a busy machine another part may be late too
    assert {path.name.split("-")[0] for path in tmp_path.glob("*-done")} == set(map(str, range(20)))
    # another job of the run uses the workers that are left
    assert done(engine, Doubled(str(tmp_path))) == {part: 2 * part for part in range(20)}


# a cluster of its own, as its nodes have to watch memory closely
HOARDING = """
import json, sys
import ray
from harness.running import ray_engine
from harness.running.engine import EngineConfig
from harness.running.engines import make_engine
from harness.values import Hidden, Silent
from tests.bench.ray_jobs import Hoarder
ray_engine._LATE_SECONDS = 300
folder, most, threshold = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
watch = {"memory_usage_threshold": threshold, "memory_monitor_refresh_ms": 100}
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, _system_config=watch)
engine = make_engine(EngineConfig(kind="ray", threads=1), Silent())
job = Hoarder(folder, most)
found = {one.index: one.value for one in engine.map(job, list(range(20)), job, Hidden())}
print(json.dumps([sorted(found.items()), engine.describe()["workers_lost"]]))
"""


def test_what_a_worker_had_that_ray_killed_for_its_memory_is_done_again(tmp_path):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    lines = Path("/proc/meminfo").read_text().splitlines() if sys.platform == "linux" else []
    has = {name: int(size.split()[0]) * 1024 for name, _, size in (line.partition(":") for line in lines)}
    # Ray itself takes one gigabyte, and other tests may take some meanwhile
    room = 5 << 30
    if has.get("MemAvailable", 0) < 2 * room:
        pytest.skip("10 GB of free memory, told by /proc/meminfo, are needed")
    threshold = (has["MemTotal"] - has["MemAvailable"] + room) / has["MemTotal"]
    done = subprocess.run(
        [sys.executable, "-c", HOARDING, str(tmp_path), str(2 * room), str(threshold)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found, lost = json.loads(done.stdout.splitlines()[-1])
    assert found == [[part, 2 * part] for part in range(20)]
    assert lost


def test_a_part_that_kills_every_worker_ends_the_run(engine, tmp_path):
    with pytest.raises(ModelError, match=r"loses its workers.*run again to go on"):
        done(engine, Deadly(str(tmp_path), 99))
    # three times, and never more
    assert len(list(tmp_path.glob("dead-*"))) == 3


def test_a_killed_node_loses_nothing(cluster, engine, tmp_path):
    node = cluster.add_node(num_cpus=1)
    job, found = Doubled(str(tmp_path), 0.3), {}
    for place, one in enumerate(engine.map(job, list(range(40)), job, Hidden())):
        found[one.index] = one.value
        if place == 5:
            cluster.remove_node(node, allow_graceful=False)
    assert found == {part: 2 * part for part in range(40)}
    times = Counter(path.name.split("-")[0] for path in tmp_path.iterdir())
    # only what was on its way to the dead node: at most two parts
    assert sum(times.values()) <= 40 + 2


def test_no_cluster_is_an_error_that_says_how_to_start_one():
    engine = make_engine(EngineConfig(kind="ray", address="127.0.0.1:1"), Silent())
    with pytest.raises(ModelError, match=r"No Ray cluster answers at 127.0.0.1:1.*ray start --head"):
        done(engine, str)


def run(config):
    return running.run_or_reuse(running.load_config(config), RecordingReporter(Silent()), again=True).folder


def tables(folder):
    return {name: (folder / name).read_bytes() for name in ("rankings.csv", "per_query.csv")}


def test_a_cluster_gives_the_bytes_of_a_run_in_this_process(cluster, write_config, real_models):
    more = f"engine: {{kind: ray, address: '{cluster.address}', workers: 3}}"
    routes = '{kind: bm25, top_k: 10}, {kind: exact, model: "embedded:all-MiniLM-L6-v2", top_k: 10}'
    retrieve = f"{{kind: rrf, top_k: 10, routes: [{routes}]}}"
    folder = run(write_config(cache="cluster", more=more, retrieve=retrieve))
    apart = tables(folder)
    engine = json.loads((folder / "record.json").read_text())["engine"]
    assert engine["threads"] == 1
    assert sum(one["workers"] for one in engine["machines"]) >= 1
    # not above: every run of the tests would load it, to find that these are slow
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            assert tables(run(write_config(cache="here", retrieve=retrieve))) == apart
    finally:
        torch.set_num_threads(threads)


def test_a_driver_that_is_killed_goes_on_with_the_same_numbers(cluster, write_config):
    """Killed in the middle of its vectors and run again, it gives the bytes of a run that was left alone."""
    more = f"engine: {{kind: ray, address: '{cluster.address}', workers: 2}}"
    path = write_config(cache="left-alone", more=more)
    expected = tables(run(path))
    path = write_config(cache="killed", more=more)
    command = [sys.executable, "-c", f"from harness.cli import main; main(['bench', {str(path)!r}])"]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = path.parent / "killed"
    end = time.monotonic() + 900
    while driver.poll() is None and time.monotonic() < end and not list(store.rglob("plan/*")):
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert tables(run(path)) == expected
