"""docs/configuration.md is written from the models; it must hold every key and be up to date."""

import re
from pathlib import Path

from harness.judge import JUDGES
from harness.running.config.load import TABLES
from harness.running.config.models import BenchConfig
from tools.reference.configuration import reference

ROOT = Path(__file__).parent.parent.parent
PAGE = reference()
SECTIONS = {
    title.strip("`").lower().replace(" ", "-"): body
    for title, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
KINDS = [(stage, name, kind.config) for stage, table in TABLES.items() for name, kind in table.items()]
KINDS += [("judges", name, kind.config) for name, kind in JUDGES.items()]


def explained(section):
    """The keys that a section of the page has a row for, with the kinds that the row is for; empty: all."""
    rows = re.findall(r"^\| `([\w.]+)`(?: of (.+?))? \|.*\|.*\|.+\|$", SECTIONS[section], re.MULTILINE)
    return [(key, tuple(re.findall(r"[\w. :]+", kinds.replace("`", "")))) for key, kinds in rows]


def linked(text):
    return {key for section in re.findall(r"\]\(#([\w-]+)\)", text) for key, _ in explained(section)}


def test_the_row_of_a_kind_leads_to_every_key_and_says_what_it_means():
    for section, name, config in KINDS:
        body = SECTIONS[section]
        row = re.search(rf"^\| `{name}`(?: \(default\))? \|.*\| (.*) \|$", body, re.MULTILINE)[1]
        every = re.search(r"^\| every kind \|.*\| (.*) \|$", body, re.MULTILINE)
        own = set(re.findall(r"`([\w.]+)`", row + (every[1] if every else "")))
        of_kind = {
            key for key, kinds in explained(section) if not kinds or name in [k.strip() for k in kinds]
        }
        assert own <= of_kind, name
        assert own | linked(row) >= set(config.model_fields) - {"kind"}, name
        for key, field in config.model_fields.items():
            assert key == "kind" or field.description, f"{config.__name__}.{key}"


def test_every_key_of_the_file_is_described():
    rows = re.findall(r"^\| (.+?) \|", SECTIONS["top-level"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) >= set(BenchConfig.model_fields) - {"kind"}
    for name, field in BenchConfig.model_fields.items():
        if name in SECTIONS and name not in TABLES:
            body, keys = SECTIONS[name], {key for key, _ in explained(name)}
            assert keys | linked(body) >= set(field.annotation.model_fields) - {"kind"}


def test_no_key_is_explained_twice_in_a_section():
    for section in SECTIONS:
        rows = [(key, kind) for key, kinds in explained(section) for kind in kinds or ("",)]
        assert len(rows) == len(set(rows)), section
    assert PAGE.count("| `backend` |") == 1


def test_the_committed_page_is_fresh():
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == PAGE
