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
