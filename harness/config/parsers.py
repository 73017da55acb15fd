"""The parsers of a sweep, each with the name that tells its texts from those of the others."""

from __future__ import annotations

from collections.abc import Iterable

from harness.config.models import Setting
from harness.config.naming import short_names
from harness.corpus import ParserConfig, document_id
from harness.text.text_id import BY


def parsers_of(settings: Iterable[Setting]) -> dict[str, ParserConfig]:
    """The distinct parsers in the order of the settings, by short names that can stand in an id.

    Names have no blanks, colons or ``@``; the only parser of a run is called ``base``.
    """
    distinct = {setting.parse.model_dump_json(): setting.parse for setting in settings}
    found: dict[str, ParserConfig] = {}
    for name, parser in zip(short_names("parse", list(distinct.values())), distinct.values(), strict=True):
        safe = document_id(name).replace(BY, "_")
        while safe in found:
            safe += "_"
        found[safe] = parser
    return found
