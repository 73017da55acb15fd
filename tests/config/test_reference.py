"""docs/configuration.md is written from the models; it must hold every key and be up to date."""

import re
from pathlib import Path

from harness.judge import JUDGES
from harness.running import STEP_KINDS, BenchConfig
from tools.reference.configuration import reference

PAGE = (Path(__file__).parent.parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
SECTIONS = {
    title.strip("`").lower().replace(" ", "-"): body
    for title, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
STEPS = {**STEP_KINDS, "judges": JUDGES}


def with_what_it_links_to(section):
    body = SECTIONS[section]
    return body + "".join(SECTIONS[other] for other in re.findall(r"\]\(#([\w-]+)\)", body))


def test_the_committed_page_is_fresh():
    assert reference() == PAGE


def test_every_key_of_the_file_and_of_every_kind_is_on_the_page_and_described():
    configs = [(step, kind.config) for step, table in STEPS.items() for kind in table.values()]
    for section, config in [("top-level", BenchConfig), *configs]:
        page = with_what_it_links_to(section)
        for key, field in config.model_fields.items():
            if key != "kind":
                assert f"`{key}`" in page, (config.__name__, key)
                assert field.description or config is BenchConfig, (config.__name__, key)
