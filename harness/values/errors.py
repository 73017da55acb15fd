"""The errors, by room. Every message says what happened, where, and what to do about it."""

from collections.abc import Iterator
from pathlib import Path

from harness.values.secrets import redacted

_PACKAGE = Path(__file__).parents[1]


class HarnessError(Exception):
    """Base of every error the harness raises on purpose; the command line prints it without a traceback.

    A message repeats values, names and words of others, so whatever looks like a secret in it is taken out.
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*(redacted(part) if isinstance(part, str) else part for part in parts))


class ConfigError(HarnessError):
    """The configuration cannot be read or names something that does not exist."""


class CorpusError(HarnessError):
    """A document or the query file cannot be used."""


class LabelError(HarnessError):
    """A relevance label is malformed or cannot be anchored in the documents."""


class ModelError(HarnessError):
    """A model cannot be loaded, or is not the one that was requested."""


class LlmError(HarnessError):
    """A language model cannot be called, or the ledger of its answers cannot be used."""


class JudgeError(HarnessError):
    """The relevance judge cannot be used, or too many of its judgments failed."""


class StoreError(HarnessError):
    """The cache or a folder of results cannot be written, or the disk is full."""


def first_line(error: Exception) -> str:
    """The first line of what a library says; the name of the error where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def guide(page: str) -> str:
    """The path of a page of documentation such as ``judge.md``, for messages that name one.

    In a checkout it is in docs/, else what the wheel brought; relative where it is below the working folder.
    """
    shipped = _PACKAGE / "shipped" / "docs" / page
    path, folder = shipped if shipped.exists() else _PACKAGE.parent / "docs" / page, Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it came from, each once."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
