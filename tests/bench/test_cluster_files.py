"""The files for clusters: of Ray's form, with the locked version, and with commands that exist."""

import json
import re
from pathlib import Path

import pytest
import yaml

from harness.cli.commands.usage import parser
from tests.test_help import commands

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "configs" / "clusters"
FILES = sorted(FOLDER.glob("*.yaml"))
LOCKED = re.search(
    r"^ray==([\d.]+)", (ROOT / "requirements-dev.lock").read_text(encoding="utf-8"), re.MULTILINE
)[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_its_versions_are_the_locked_one_and_its_command_exists(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"\d+\.\d+\.\d+", text)) == {LOCKED}
    ((command, option),) = set(re.findall(r"`harness (\w+) /data/my.yaml (--\w+) ray`", text))
    assert option in dict(commands(parser()))[command].format_help()


def test_the_machines_are_described_as_ray_wants_it():
    jsonschema = pytest.importorskip("jsonschema", reason="the extra ray is not installed")
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    schema = Path(ray.__file__).parent / "autoscaler" / "ray-schema.json"
    described = yaml.safe_load((FOLDER / "aws.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(described, json.loads(schema.read_text(encoding="utf-8")))
