"""The table that fills while a sweep runs."""

from contextlib import contextmanager

from harness.values import Silent
from tests.command import bench


class Watching(Silent):
    """Keeps what is put on the board, in order."""

    def __init__(self):
        super().__init__()
        self.live = True
        self.puts = []

    @contextmanager
    def board(self, columns):
        self.columns = columns
        yield self

    def put(self, row, cells):
        self.puts.append((row, dict(cells)))


def test_where_people_judge_a_setting_has_its_scores_after_every_step(write_config):
    reporter = Watching()
    results, _ = bench(write_config(more="measures: [ndcg_text_tokens@60, tokens@3]"), reporter)
    rows = [r for r in results.summary if (r.split, r.measure) == ("all", results.verdict["measure"])]
    means = {(row.setting, row.stage): f"{row.mean:.3f}" for row in rows}
    settings = ["chunk=90/0", "chunk=180/0"]
    assert [row for row, _ in reporter.puts[:4]] == settings * 2
    for at, (setting, cells) in enumerate(reporter.puts[:4]):
        stages = ("retrieve", "rerank")[: 1 + at // 2]
        assert set(cells) == {"chunks", "seconds", *stages} <= set(reporter.columns)
        assert cells[stages[-1]] == means[setting, stages[-1]]
