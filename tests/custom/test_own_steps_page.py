"""docs/own-steps.md: its configurations can be read, its names are those that there are."""

import re
from pathlib import Path

import pytest
import yaml

from harness.running.config.load import load_config
from harness.steps.custom.sending import _PASSING
from harness.values.kinds import kind_of

PAGE = (Path(__file__).parents[2] / "docs" / "own-steps.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_configuration_shown_can_be_read(corpus, tmp_path, block):
    known = {
        "name": "shown",
        "documents": f"{corpus}/docs/*.txt",
        "queries": f"{corpus}/queries.csv",
        "labels": f"{corpus}/labels.csv",
        "retrieve": {"kind": "bm25", "top_k": 20},
    }
    path = tmp_path / "shown.yaml"
    path.write_text(yaml.safe_dump(known | yaml.safe_load(block)), encoding="utf-8")
    config = load_config(path)
    kinds = {kind_of(config.settings[0].retrieve), *map(kind_of, config.settings[0].rerank)}
    assert kinds & {"python", "http"}


def test_the_statuses_that_are_retried_are_those_shown():
    shown = re.search(r"time-outs, ([\d, ]+) and 5xx are retried", PAGE)[1]
    assert {int(status) for status in shown.split(",")} == _PASSING
