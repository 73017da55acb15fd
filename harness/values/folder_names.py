"""Names of benchmarks, results and retrievers, which become names of files and folders."""

from __future__ import annotations

import re
import unicodedata

MOST_LETTERS = 100
MOST_BYTES = 200
"""A file system takes 255 bytes a name, in UTF-8; what a run adds to the name of its results is shorter."""

_SIGNS = frozenset("._-")
# letters and marks that nobody sees: fillers of Hangul, and what joins or varies the letter before
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def unlike_a_name(name: str) -> str:
    """Why a text, in NFC, is no name of a folder, with what to write; '' for one that is.

    Letters and digits may be of any script, with the marks that belong to them; without separators of paths,
    blanks, control characters and what turns the direction of text or is not seen.
    """
    if not _may_begin(name[:1]) or not all(map(_may_follow, name[1:])):
        return (
            "it may not be written so: use letters and digits of any script, dots, dashes and underscores, "
            "and begin with a letter or a digit"
        )
    if len(name) > MOST_LETTERS or (size := len(name.encode())) > MOST_BYTES:
        if len(name) > MOST_LETTERS:
            return f"it has {len(name):,} letters; use at most {MOST_LETTERS}"
        return (
            f"it takes {size:,} bytes, and names of folders at most {MOST_BYTES}: use fewer letters, such as "
            f"{MOST_BYTES // 3} Chinese ones"
        )
    return ""


def folder_name(text: str, most_letters: int = MOST_LETTERS) -> str:
    """The name of a folder that is nearest to a text, a dash for what may not stand; '' if none is left.

    In NFC, so that a name is the same however its accents were typed.
    """
    letters = unicodedata.normalize("NFC", text)
    # a blank, which no name holds, for what may not stand
    kept = re.sub(" +", "-", "".join(letter if _may_follow(letter) else " " for letter in letters))
    while kept and not _may_begin(kept[0]):
        kept = kept[1:]
    kept = kept[:most_letters]
    while len(kept.encode()) > MOST_BYTES:
        kept = kept[:-1]
    return kept


def _may_begin(letter: str) -> bool:
    return letter.isalnum() and not _UNSEEN.match(letter)


def _may_follow(letter: str) -> bool:
    marks = unicodedata.category(letter) in ("Mn", "Mc")
    return (letter.isalnum() or letter in _SIGNS or marks) and not _UNSEEN.match(letter)
