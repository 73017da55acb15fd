"""The assets of the labelling page name nothing outside this machine, and all that they name is there."""

import re

from harness.labels.label_page.serve import ASSETS

TEXTS = {name: asset.read_text(encoding="utf-8") for name, asset in ASSETS.items()}
SVG = "'http://www.w3.org/2000/svg'"


def test_assets_load_nothing_from_elsewhere():
    for name, text in TEXTS.items():
        assert not re.search(r"https?://|@import|url\(|//cdn", text.replace(SVG, "")), name
        assert "innerHTML" not in text, name


def test_every_script_and_style_that_is_named_is_there():
    named = {
        name for text in TEXTS.values() for name in re.findall(r"(?:from '\./|/assets/)([a-z_.]+)", text)
    }
    assert {"theme.css", "label.css", "elements.js", "main.js"} <= named
    assert named <= set(TEXTS)
