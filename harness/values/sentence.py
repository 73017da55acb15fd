"""A sentence that is made of a code and values by a table of whole sentences."""

from __future__ import annotations

from collections.abc import Mapping


class Sentence(str):
    """The words, with the ``code`` and the ``values`` that they were made of, for those who compute on.

    What is joined of several is plain text again, and has neither.
    """

    code: str
    values: Mapping[str, str | int]

    def __new__(cls, text: str, code: str = "", values: Mapping[str, str | int] | None = None) -> Sentence:
        """A text with its code; without one, words that another program wrote."""
        sentence = super().__new__(cls, text)
        sentence.code, sentence.values = code, values or {}
        return sentence


def worded(table: Mapping[str, str], code: str, /, **values: object) -> Sentence:
    """The sentence of a code in a table, with its values: ``{count}`` is a whole number of something.

    Where the table has a sentence ``CODE.one``, it is taken if ``count`` is the number 1. Numbers are shown
    with commas, such as ``2,000``.

    >>> worded({"gone": "{count} files are gone.", "gone.one": "1 file is gone."}, "gone", count=1)
    '1 file is gone.'
    """
    plain = {slot: value if type(value) is int else str(value) for slot, value in values.items()}
    single = f"{code}.one" if plain.get("count") == 1 and f"{code}.one" in table else code
    shown = {slot: f"{value:,}" if isinstance(value, int) else value for slot, value in plain.items()}
    return Sentence(table[single].format(**shown), code, plain)
