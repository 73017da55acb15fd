"""The contents of a folder of documents: kinds of files, pages, language, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from harness.data import SUFFIXES
from harness.running import BenchConfig, Context, read_texts
from harness.steps import table_spans
from harness.values import CorpusError, delimited, main_script, outside_latin

# Characters of a document that are enough to recognise its language.
_LOOKED_AT = 50_000
_WORD = re.compile(r"[^\W\d_]+")
_CJK = ("Chinese", "Japanese", "Korean")
# Short words that nearly every sentence of a language holds, and few of another one.
_SHORT_WORDS = {
    "English": "the of and to in is for that with as are on by",
    "German": "der die und das den ist von mit nicht ein eine zu im",
    "French": "le la les des et une du est dans pour que qui au",
    "Spanish": "el la los de que y en las por con para una del",
    "Italian": "il di che la per una è con del non le della sono",
    "Portuguese": "o de que e os da em para com uma não do as",
    "Dutch": "de het een en van dat is niet op te met voor zijn",
}


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Properties of texts: ``language`` is a guess by letters and short words, '' where there is none.

    ``table_share`` is the share of ``characters`` that are in one of the ``tables``.
    """

    characters: int
    language: str
    tables: int
    table_share: float

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextFacts:
        """Look at all texts."""
        tables, covered = tables_in(texts)
        characters = sum(map(len, texts))
        return cls(characters, language_of(texts), tables, covered / max(1, characters))

    @property
    def is_cjk(self) -> bool:
        """Whether the text is Chinese, Japanese or Korean."""
        return self.language in _CJK


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """A folder's content: ``patterns`` are the globs of the documents, ``skipped`` the unusable ones.

    ``kinds`` and ``unread`` count files by their ending.
    """

    folder: Path
    patterns: tuple[str, ...]
    kinds: dict[str, int]
    unread: dict[str, int]
    documents: int
    pages: int
    text: TextFacts
    skipped: tuple[str, ...]


def summarise(folder: Path, cache: Path, context: Context) -> FolderSummary:
    """Read all documents of a folder and its folders; raises CorpusError if there is none.

    Files that cannot be read as documents are counted, and unusable ones named; neither stops it.
    """
    kinds, unread = _files(folder, cache)
    if not kinds:
        others = ", ".join(f"{count} {suffix}" for suffix, count in unread.items())
        found = f" (it holds {others})" if unread else ""
        raise CorpusError(
            f"{folder}: no document that can be read{found}. Known endings: {', '.join(SUFFIXES)}. Name "
            "another folder, or convert the files."
        )
    patterns = tuple(f"{escape(str(folder))}/**/*{suffix}" for suffix in kinds)
    nowhere = cache / "none.csv"
    config = BenchConfig.of_documents(patterns, nowhere, nowhere, cache=cache, on_bad_document="skip")
    parsed, skipped = read_texts(config, context)
    facts = TextFacts.of([one.document.text for one in parsed])
    pages = sum(one.stats.pages for one in parsed)
    reasons = tuple(one.reason for one in skipped)
    return FolderSummary(folder, patterns, kinds, unread, len(parsed), pages, facts, reasons)


def language_of(texts: Sequence[str]) -> str:
    """The language most of the text is in, by its letters or its short words; '' if neither is conclusive."""
    sample = "\n".join(text[:_LOOKED_AT] for text in texts)
    if outside_latin(sample) >= 0.3:
        script = main_script(sample)
        kana = sum("\u3040" <= letter <= "\u30ff" for letter in sample)
        return "Japanese" if script == "Chinese" and kana > len(sample) / 50 else script
    words = Counter(word.lower() for word in _WORD.findall(sample))
    total = words.total()
    shares = {
        name: sum(words[word] for word in short.split()) / total if total else 0.0
        for name, short in _SHORT_WORDS.items()
    }
    best = max(shares, key=lambda name: shares[name])
    # some 20 % in prose of the language; tables and lists have less
    return best if shares[best] >= 0.05 else ""


def _files(folder: Path, cache: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Files by ending: those that can be read, and the others; hidden ones and the cache are left out."""
    if not folder.is_dir():
        raise CorpusError(f"{folder} is not a folder. Name the folder that holds the documents.")
    known, other = Counter[str](), Counter[str]()
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or cache in path.parents or not path.is_file():
            continue
        readable = path.suffix.lower() in SUFFIXES
        (known if readable else other)[path.suffix if readable else path.suffix or "no ending"] += 1
    return dict(sorted(known.items())), dict(sorted(other.items()))


def tables_in(texts: Sequence[str]) -> tuple[int, int]:
    """How many tables texts hold, and how many characters these have."""
    count = covered = 0
    for text in texts:
        if delimited(text, 0, len(text)) is not None:
            count, covered = count + 1, covered + len(text)
            continue
        spans = table_spans(text)
        count, covered = count + len(spans), covered + sum(end - start for start, end in spans)
    return count, covered
