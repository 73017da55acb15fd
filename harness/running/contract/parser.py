"""The contract of a parser, tried on the user's files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.data import DocumentFile, ParserConfig, document_id, parse_document, suffixes_of
from harness.running.contract.check import BrokenError, Check, Remark
from harness.values import ConfigError


def parser_checks(config: ParserConfig, files: Sequence[Path]) -> list[Check]:
    """The checks of a parser; raises ConfigError if none of the files is one that it reads."""
    own = [path for path in files if path.suffix.lower() in suffixes_of(config)]
    if not own:
        raise ConfigError(
            f"parser: none of the files has an extension that it reads ({', '.join(suffixes_of(config))}). "
            "Give one with --file, and list its extension in suffixes."
        )
    checks: list[Check] = [(f"reads {path.name}", partial(_read, config, path)) for path in own]

    def repeats() -> None:
        first, second = (parse_document(_file(own[0]), config).document for _ in range(2))
        if first != second:
            raise BrokenError(
                f"Read a second time, {own[0].name} has a different text: "
                f"{_difference(first.text, second.text)}"
            )

    return [*checks, ("gives the same text when called again", repeats)]


def _file(path: Path) -> DocumentFile:
    return DocumentFile(document_id(path.stem), path)


def _read(config: ParserConfig, path: Path) -> None:
    parsed = parse_document(_file(path), config)
    if parsed.stats.suspect_characters:
        raise Remark(
            f"{parsed.stats.suspect_characters:,} of {parsed.stats.characters:,} characters are undecodable, "
            "control or private-use characters."
        )


def _difference(first: str, second: str) -> str:
    shorter = min(len(first), len(second))
    place = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    return f"at offset {place} {first[place : place + 20]!r} and {second[place : place + 20]!r}."
