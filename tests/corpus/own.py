"""Parsers as a user writes them, good and bad."""

from pathlib import Path


def pages(path, mark="--"):
    return Path(path).read_text(encoding="utf-8").split(mark)


def one_text(path):
    return Path(path).read_text(encoding="utf-8").upper()


def nothing(path):
    return None


def no_pages(path):
    return []


def fails(path):
    raise ValueError("page 3 has no table")


def lines_without(path, word=""):
    """A parser that loses the lines with a word."""
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not word or word not in line)


def little(path):
    return ["A page"]
