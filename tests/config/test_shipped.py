"""The configurations in configs/ can be read."""

from pathlib import Path

import pytest

from harness.running import load_config

FOLDER = Path(__file__).parent.parent.parent / "configs"
CONFIGS = sorted(
    {*FOLDER.glob("*.yaml"), *FOLDER.glob("recipes/*.yaml")} - {FOLDER / "recipes" / "testset.yaml"}
)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_shipped_config_loads_and_is_named_after_its_file(path):
    assert load_config(path).name == path.stem
