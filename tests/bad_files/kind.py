"""What a row of the tables of bad files is about: a kind of file, and the command that reads it."""

import json
from collections.abc import Callable
from dataclasses import dataclass

# the faults that are none where a table may be empty, and where it is made by the command
BARE = ("empty", "only a header")
NEW = ("missing", "only a header")


@dataclass(frozen=True)
class Kind:
    """``file`` is read by ``command`` in a folder that holds ``files``; as they are, the command succeeds.

    ``command`` is the words of a command, or a function where the command does much more than reading.
    ``fine`` names the faults that any file may have with which the command succeeds all the same.
    """

    file: str
    command: str | Callable[[], object]
    files: dict[str, str | bytes]
    fine: tuple[str, ...] = ()


def lines(*records):
    """JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in records)


def with_line(content, line):
    """A file with one more line at its end."""
    return content + line + "\n"
