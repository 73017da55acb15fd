"""How long the labels are, said where chunkings are compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def label_note(config: Mapping[str, Any], counts: Mapping[str, Any]) -> str | None:
    """One sentence on the median label, from the configuration and the counts of a run record.

    None where all settings cut documents alike, or the record does not say.
    """
    chunkers = {
        json.dumps([setting.get("chunk"), setting.get("read")], sort_keys=True, default=str)
        for setting in config.get("settings", ())
    }
    length = counts.get("label_characters_p50")
    if len(chunkers) < 2 or length is None:
        return None
    return (
        f"The median label has {length:,.0f} characters. Measures of text read may favour other chunk sizes "
        "with longer or shorter labels: harness compare checks it."
    )
