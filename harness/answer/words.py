"""The words of an answer as SQuAD compares them; Chinese and Japanese by characters."""

from __future__ import annotations

import re
import string

from harness.text.characters import WIDE

_ARTICLES = re.compile(r"\b(a|an|the)\b")
# ASCII as in SQuAD; the others as in the script of CMRC 2018, which does for Chinese what SQuAD's does.
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。：？！“”；‘’《》…·、「」（）－～『』【】")
_TOKEN = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")


def words_of(text: str) -> tuple[str, ...]:
    """Lower case, without punctuation and the articles a, an, the; parted at blanks, wide text everywhere.

    Rajpurkar et al., EMNLP 2016, evaluate-v2.0.py; Cui et al., A span-extraction dataset for Chinese machine
    reading comprehension, EMNLP 2019, for characters.
    """
    plain = text.lower().translate(_PUNCTUATION)
    return tuple(_TOKEN.findall(_ARTICLES.sub(" ", plain)))
