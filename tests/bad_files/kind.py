"""What a row of the tables of bad files is about: a kind of file, and the command that reads it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """``file`` is read by ``command`` in a folder that holds ``files``; as they are, the command succeeds.

    ``command`` is the words of a command, or a function where the command does much more than reading.
    ``says`` has the messages of faults that any file may have, where they are not the usual ones; ''
    where the command succeeds all the same.
    """

    file: str
    command: str | Callable[[], object]
    files: dict[str, str | bytes]
    says: dict[str, str] = field(default_factory=dict)


def lines(*records):
    """JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in records)


def with_line(content, line):
    """A file with one more line at its end."""
    return content + line + "\n"
