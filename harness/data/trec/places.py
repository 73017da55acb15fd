"""What the name of a file says: its format, and where a folder of BEIR has its judgments."""

from __future__ import annotations

from pathlib import Path

from harness.data.trec.table_faults import TrecError
from harness.values import listed

DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABULAR = {".parquet", *DELIMITERS}


def suffix_of(path: Path) -> str:
    """The ending that says what a file is, in lower case, without the ``.gz`` of a packed one."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def qrels_file(path: Path) -> Path:
    """The file of judgments; a folder is taken for a BEIR one. Raises TrecError where it has none."""
    if not path.is_dir():
        return path
    file = path / "qrels" / "test.tsv"
    if not file.exists():
        there = sorted([*path.glob("*.tsv"), *path.glob("*/*.tsv")])
        names = listed([str(other.relative_to(path)) for other in there]) or "none"
        raise TrecError(f"{path}: no qrels/test.tsv; name the file itself. Found: {names}")
    return file


def existing(path: Path) -> Path:
    """The path; raises TrecError where it is no file."""
    if not path.exists():
        raise TrecError(f"{path}: there is no such file; correct the name")
    if path.is_dir():
        raise TrecError(f"{path}: this is a folder; name the file in it")
    return path
