"""docs/configuration.md is written from the models; it must hold every key and be up to date."""

from pathlib import Path

from harness.judge import JUDGES, PoolConfig
from harness.models.llm.endpoint import AzureOptions, Endpoint
from harness.models.llm.money import Price
from harness.running.config.models import BenchConfig, RelevanceConfig
from harness.running.config.sweep import TABLES
from tools.reference.configuration import reference

ROOT = Path(__file__).parent.parent.parent


def test_every_key_of_every_stage_is_described():
    page = reference()
    models = [BenchConfig, RelevanceConfig, Endpoint, PoolConfig, AzureOptions, Price]
    models += [kind.config for table in (*TABLES.values(), JUDGES) for kind in table.values()]
    for model in models:
        for name in model.model_fields:
            if name not in {"kind", "settings"}:
                assert f"| `{name}` |" in page


def test_every_key_of_a_stage_says_what_it_means():
    for table in (*TABLES.values(), JUDGES):
        for kind in table.values():
            for name, field in kind.config.model_fields.items():
                assert name == "kind" or field.description, f"{kind.config.__name__}.{name}"


def test_the_committed_page_is_fresh():
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == reference()
