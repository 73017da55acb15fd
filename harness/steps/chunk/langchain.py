"""Any splitter of langchain-text-splitters, as it is deployed; its chunks by exact offsets, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.steps.chunk import ChunkerConfig, Cuts, Documents, Vectors
from harness.steps.chunk.sizes import SizeUnit, measure_in
from harness.values import (
    ConfigError,
    CorpusError,
    Document,
    Inside,
    KeyMark,
    Overlap,
    Size,
    Span,
    Tokenizer,
    guide,
    installed_version,
)

# Their overlap is in tokens, however lengths are counted.
_IN_TOKENS = {"TokenTextSplitter", "SentenceTransformersTokenTextSplitter"}
# What finds sentences or tokens for a class, and so decides its chunks too.
_USED_BY = {
    "KonlpyTextSplitter": ("konlpy",),
    "NLTKTextSplitter": ("nltk",),
    "SpacyTextSplitter": ("spacy",),
    "TokenTextSplitter": ("tiktoken",),
    "SentenceTransformersTokenTextSplitter": ("sentence-transformers", "transformers"),
}
_SHOWN = 40
# what the arguments of its classes mean; names of settings show them as they are
_ARGUMENTS: dict[str, KeyMark] = {
    "chunk_size": Size(unit="unit", in_tokens={"splitter": ("TokenTextSplitter",)}),
    "chunk_overlap": Overlap("chunk_size"),
    "tokens_per_chunk": Size(unit="tokens", again=True),
}


class LangchainConfig(ChunkerConfig):
    """A splitter class of langchain-text-splitters, by its name and arguments.

    Where it alters the text, so that chunks have no exact offsets, the run ends and names the place.
    """

    kind: Literal["langchain"] = "langchain"
    splitter: str = Field(
        "RecursiveCharacterTextSplitter",
        pattern=r"^[A-Za-z]\w*$",
        description="The name of the class, such as `MarkdownTextSplitter`, `LatexTextSplitter`, "
        "`NLTKTextSplitter` or `SpacyTextSplitter`; its own dependencies must be installed.",
    )
    language: str | None = Field(
        None,
        description="For `RecursiveCharacterTextSplitter`: a programming or markup language whose separators "
        "it takes, such as `python`, `html` or `latex`.",
    )
    arguments: Annotated[dict[str, Any], Inside(_ARGUMENTS)] = Field(
        {},
        description="Keyword arguments of the class, such as `{chunk_size: 1000, chunk_overlap: 100}`; a "
        "list of mappings is a sweep.",
    )
    unit: SizeUnit = Field(
        "characters",
        description="What `chunk_size` and `chunk_overlap` count (`length_function`): `characters`, tokens "
        "of the embedding model (`model`), or of a tiktoken encoding (`cl100k_base`, `o200k_base`).",
    )

    @model_validator(mode="after")
    def _language_has_a_splitter(self) -> LangchainConfig:
        if self.language is not None and self.splitter != "RecursiveCharacterTextSplitter":
            raise ValueError("language belongs to RecursiveCharacterTextSplitter; omit it or splitter")
        return self

    def check_ready(self) -> None:
        """Raise ConfigError where the package is missing, without loading it."""
        super().check_ready()
        if find_spec("langchain_text_splitters") is None:
            raise ConfigError(
                "chunk: the kind langchain is not installed. Install it: pip install "
                "'ndcg-harness[langchain]', or use kind: recursive."
            )

    @property
    def libraries(self) -> dict[str, str]:
        """The versions of the library and of what the class needs besides, where that is installed."""
        versions = {"langchain-text-splitters": installed_version("langchain-text-splitters")}
        for name in _USED_BY.get(self.splitter, ()):
            with suppress(PackageNotFoundError):
                versions[name] = installed_version(name)
        return versions

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The chunks of each document; raises CorpusError for one whose text the splitter alters."""
        measure = measure_in(self.unit, tokenizer)
        length = lru_cache(maxsize=1 << 16)(lambda text: measure(text, [(0, len(text))])[0])
        splitter = _splitter(self, length)
        return [_split(splitter, document, self) for document in documents]


def _splitter(config: LangchainConfig, length: Callable[[str], int]) -> Any:
    import langchain_text_splitters

    names = sorted(
        name
        for name in langchain_text_splitters.__all__
        if name.endswith("Splitter") and name not in ("TextSplitter", "RecursiveJsonSplitter")
    )
    if config.splitter not in names:
        raise ConfigError(
            f"chunk: splitter {config.splitter}: langchain-text-splitters has no such splitter of text. "
            f"It has {', '.join(names)}."
        )
    arguments = dict(config.arguments)
    if config.unit != "characters":
        arguments["length_function"] = length
    try:
        splitter_class = getattr(langchain_text_splitters, config.splitter)
        return (
            splitter_class(**arguments)
            if config.language is None
            else splitter_class.from_language(config.language, **arguments)
        )
    except Exception as error:  # any error of the class about its arguments or missing packages
        raise ConfigError(
            f"chunk: splitter {config.splitter} cannot be made with {config.arguments!r}"
            f"{'' if config.language is None else f' for language {config.language}'}: "
            f"{type(error).__name__}: {error}"
        ) from error


def _split(splitter: Any, document: Document, config: LangchainConfig) -> list[Span]:
    try:
        pieces = [getattr(piece, "page_content", piece) for piece in splitter.split_text(document.text)]
    except Exception as error:
        raise CorpusError(
            f"{document.doc_id}: splitter {config.splitter} failed on it: {type(error).__name__}: {error}"
        ) from error
    try:
        return places_of(pieces, document.text, _overlap(splitter, config), _left_out(splitter, config))
    except AlteredError as altered:
        raise CorpusError(
            f"{document.doc_id}: splitter {config.splitter} gives no chunks with exact offsets: {altered}. "
            "Arguments such as separator or chunk_overlap: 0 may keep it from that "
            f"({guide('chunking.md')}); the kinds of chunkers of our own always cut by offsets."
        ) from None


def _overlap(splitter: Any, config: LangchainConfig) -> int | None:
    """The most characters that neighbours may share, None if that is not known."""
    overlap = int(getattr(splitter, "_chunk_overlap", 0))
    in_characters = config.unit == "characters" and config.splitter not in _IN_TOKENS
    return overlap if in_characters or not overlap else None


def _left_out(splitter: Any, config: LangchainConfig) -> str:
    """A regular expression of the separators that the splitter does not keep; '' where it keeps them."""
    if getattr(splitter, "_keep_separator", True):
        return ""
    separators = getattr(splitter, "_separators", None) or [getattr(splitter, "_separator", "")]
    non_empty = [separator for separator in separators if isinstance(separator, str) and separator]
    if getattr(splitter, "_is_separator_regex", False):
        return "|".join(f"(?:{separator})" for separator in non_empty)
    return "|".join(re.escape(separator) for separator in non_empty)


class AlteredError(ValueError):
    """Pieces are not the text of the document, or may be in several places; says where."""


def places_of(pieces: Sequence[str], text: str, overlap: int | None, left_out: str = "") -> list[Span]:
    """The half-open range of every piece; pieces are in text order and cover all of it except blanks.

    Neighbours share at most ``overlap`` characters (None: unknown). ``left_out`` is a regular expression of
    what may be between pieces besides blanks. Pieces of blanks alone are not looked for. Raises AlteredError.
    """
    between = re.compile(rf"(?:\s|{left_out})*" if left_out else r"\s*")
    sought = [piece for piece in pieces if piece.strip()]
    # for each piece its possible starts, each with the starts of the piece before that agree with it
    layers: list[dict[int, list[int]]] = []
    ends = {0: 0}
    for number, piece in enumerate(sought):
        layer: dict[int, list[int]] = {}
        for start, end in ends.items():
            low = start if overlap is None else max(start, end - overlap)
            for place in _matches(piece, text, low if layers else 0, _past(between, text, end)):
                if place + len(piece) >= end:
                    layer.setdefault(place, []).append(start)
        if not layer:
            at = _past(between, text, max(ends.values()))
            stripped = piece.lstrip()
            same = next(
                (i for i in range(len(stripped)) if not text.startswith(stripped[: i + 1], at)), len(stripped)
            )
            raise AlteredError(
                f"its piece {number + 1} has {_shown(stripped[same:])} where the document has "
                f"{_shown(text[at + same :])} (character {at + same})"
            )
        layers.append(layer)
        ends = {start: start + len(piece) for start in layer}
    last = [start for start, end in ends.items() if _past(between, text, end) == len(text)]
    if (sought and not last) or (not sought and text.strip()):
        at = _past(between, text, max(ends.values()))
        raise AlteredError(f"it left out the text from character {at} on: {_shown(text[at:])}")
    return _only(sought, layers, last)


def _only(sought: Sequence[str], layers: Sequence[dict[int, list[int]]], last: Sequence[int]) -> list[Span]:
    """The only place of every piece that leads to one of the ``last`` places."""
    places: list[Span] = []
    possible = sorted(last)
    for number in range(len(layers) - 1, -1, -1):
        piece, layer = sought[number], layers[number]
        if len(possible) > 1:
            raise AlteredError(
                f"its piece {number + 1}, {_shown(piece)}, may begin at character {possible[0]} or "
                f"{possible[1]}, since the text repeats there"
            )
        places.append((possible[0], possible[0] + len(piece)))
        possible = sorted({before for start in possible for before in layer[start]})
    return places[::-1]


def _past(between: re.Pattern[str], text: str, end: int) -> int:
    """The end of the blanks, and of what else may be left out, after ``end``."""
    match = between.match(text, end)
    return match.end() if match else end


def _matches(piece: str, text: str, low: int, high: int) -> list[int]:
    """All places from ``low`` to ``high`` at which the piece is."""
    starts = []
    at = text.find(piece, low, high + len(piece))
    while at >= 0:
        starts.append(at)
        at = text.find(piece, at + 1, high + len(piece))
    return starts


def _shown(text: str) -> str:
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "nothing"
