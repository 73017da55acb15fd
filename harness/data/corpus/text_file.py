"""Open files of text and JSON: regular files only, in UTF-8, without NUL characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.values import CorpusError, refuse_special


def read_utf8(path: Path) -> str:
    """The text of a UTF-8 file with its line ends and byte order mark.

    Raises CorpusError for what is not a regular file, for other encodings and for NUL characters, which are
    valid UTF-8 but are in UTF-16 or binary files only.
    """
    refuse_special(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}). Check that it is there.") from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}: byte {raw[error.start]:#04x} at offset {error.start} is not UTF-8 "
            f"(line {raw[: error.start].count(10) + 1}). Save it as UTF-8.{_likely_encoding(raw)}"
        ) from error
    first = raw.find(b"\0")
    if first >= 0:
        raise CorpusError(
            f"{path}: {raw.count(0):,} of its {len(raw):,} bytes are NUL, the first at offset {first} "
            f"(line {raw[:first].count(10) + 1}): it is in UTF-16, not text, or damaged. Save it as text in "
            "UTF-8, or leave it out."
        )
    return text


def _likely_encoding(raw: bytes) -> str:
    """A sentence on the encoding that a file seems to have, with the command that changes it; '' for none."""
    code, words = "", ""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and _decodes(raw, "utf-16"):
        code, words = "UTF-16", "UTF-16"
    elif _decodes(raw, "gb18030"):
        text = raw.decode("gb18030")
        letters = [letter for letter in text if letter > "\x7f"]
        # the characters in common use, which lie in rows 16 to 55 of GB 2312
        common = sum(b"\xb0" <= letter.encode("gb18030")[:1] <= b"\xd7" for letter in letters)
        if common * 10 >= len(letters) * 7:
            code, words = "GB18030", "GB18030 or GBK (Chinese Windows)"
    return f" It looks like {words}: iconv -f {code} -t UTF-8 FILE > NEW" if code else ""


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def read_json(path: Path) -> list[Any]:
    """The values in a file of JSON or JSON Lines; lists at the top give their entries.

    Raises CorpusError with the line at fault.
    """
    text = read_utf8(path).removeprefix("\ufeff")
    entries: list[Any] = []
    try:
        entries.append(json.loads(text))
    except RecursionError as deep:
        raise CorpusError(f"{path}: is nested too deeply for JSON of an export. Export it again.") from deep
    except ValueError as of_whole:
        for number, line in enumerate(text.split("\n"), 1):
            try:
                entries += [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError) as of_line:
                error: Exception = of_line
                # a list over many lines is at fault elsewhere than in its first line
                if (
                    not entries
                    and text.lstrip().startswith("[")
                    and isinstance(of_whole, json.JSONDecodeError)
                ):
                    number, error = of_whole.lineno, of_whole
                raise CorpusError(
                    f"{path}, line {number}: not valid JSON ({error}). Write one object per line or one list."
                ) from error
    return [entry for whole in entries for entry in (whole if isinstance(whole, list) else [whole])]
