"""Citations in an answer: `[1]`, `[2, 3]`. Read strictly; other lookalikes are counted."""

from __future__ import annotations

import re

_SEPARATOR = r"\s*[,，、;；]\s*"
_STRICT = re.compile(rf"\[\s*(\d+(?:{_SEPARATOR}\d+)*)\s*\]|【\s*(\d+(?:{_SEPARATOR}\d+)*)\s*】")
# Brackets that begin with a number, alone or after a word for a passage: ranges, unknown passages, notes.
_WORD = r"(?:passages?|sources?|documents?|docs?|refs?|references?|citations?|段落|来源|來源|文档|资料|引用)"
_LOOSE = re.compile(
    rf"\[\s*{_WORD}?\s*[:#：.]?\s*\d[^\[\]\n]{{0,40}}\]|【\s*{_WORD}?\s*[:#：.]?\s*\d[^【】\n]{{0,40}}】"
    rf"|\(\s*{_WORD}\s*[:#：.]?\s*\d[^()\n]{{0,40}}\)|（\s*{_WORD}\s*[:#：.]?\s*\d[^（）\n]{{0,40}}）",
    re.IGNORECASE,
)


def read_citations(text: str, passages: int) -> tuple[tuple[int, ...], int]:
    """The citations of an answer that was given ``passages`` passages, numbered from 1.

    They are 0-based indexes by first mention, and the number of marks that name none of the passages. A mark
    with a number that no passage has counts as bad as a whole, and so does any other bracket that begins like
    a citation, such as ``[1-3]`` or ``(passage 2)``: its meaning is not guessed.
    """
    cited: dict[int, None] = {}
    bad = 0
    for mark in _LOOSE.finditer(text):
        strict = _STRICT.fullmatch(mark[0])
        numbers = [int(digits) for digits in re.findall(r"\d+", strict[1] or strict[2])] if strict else []
        if numbers and all(1 <= number <= passages for number in numbers):
            cited |= dict.fromkeys(number - 1 for number in numbers)
        else:
            bad += 1
    return tuple(cited), bad


def words_of(text: str | None, *, cites: bool) -> str | None:
    """What measures see of an answer: if it ``cites``, brackets are citations, and not its own words."""
    return (without_citations(text) or text) if text and cites else text


def without_citations(text: str) -> str:
    """An answer without its citations, for measures that compare words."""
    return re.sub(r"[^\S\n]{2,}", " ", re.sub(r"\s*" + f"(?:{_STRICT.pattern})", "", text)).strip()
