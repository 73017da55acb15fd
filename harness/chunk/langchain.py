"""Any splitter of langchain-text-splitters, as it is deployed; its chunks by exact offsets, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import Field, model_validator

from harness.chunk.recovered import AlteredError, places_of
from harness.chunk.sizes import ChunkerConfig, SizeUnit, measure_in
from harness.errors import ConfigError, CorpusError
from harness.text.spans import Span
from harness.text.tokenizer import Tokenizer
from harness.types import Document

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
    arguments: dict[str, Any] = Field(
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

    @property
    def reads_model_tokens(self) -> bool:
        """Whether the chunks depend on the tokenizer of the embedding model."""
        return self.unit == "model"

    @property
    def libraries(self) -> dict[str, str]:
        """The versions of the library and of what the class needs besides, where that is installed."""
        found = {"langchain-text-splitters": version("langchain-text-splitters")}
        for name in _USED_BY.get(self.splitter, ()):
            with suppress(PackageNotFoundError):
                found[name] = version(name)
        return found


def split_documents(
    documents: Sequence[Document], config: LangchainConfig, tokenizer: Tokenizer | None
) -> list[list[Span]]:
    """The chunks of each document; raises CorpusError for one whose text the splitter alters."""
    measure = lru_cache(maxsize=1 << 16)(measure_in(config.unit, tokenizer).text)
    splitter = _splitter(config, measure if config.unit != "characters" else len)
    return [_split(splitter, document, config) for document in documents]


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
        made = getattr(langchain_text_splitters, config.splitter)
        return (
            made(**arguments) if config.language is None else made.from_language(config.language, **arguments)
        )
    except Exception as error:  # whatever a class says to its arguments, or to what it lacks
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
            "Arguments such as separator or chunk_overlap: 0 may keep it from that (docs/chunking.md); the "
            "kinds of chunkers of our own always cut by offsets."
        ) from None


def _overlap(splitter: Any, config: LangchainConfig) -> int | None:
    """The most characters that neighbours may share, None where that is not known."""
    overlap = int(getattr(splitter, "_chunk_overlap", 0))
    in_characters = config.unit == "characters" and config.splitter not in _IN_TOKENS
    return overlap if in_characters or not overlap else None


def _left_out(splitter: Any, config: LangchainConfig) -> str:
    """A regular expression of the separators that the splitter does not keep; '' where it keeps them."""
    if getattr(splitter, "_keep_separator", True):
        return ""
    separators = getattr(splitter, "_separators", None) or [getattr(splitter, "_separator", "")]
    given = [one for one in separators if isinstance(one, str) and one]
    if getattr(splitter, "_is_separator_regex", False):
        return "|".join(f"(?:{one})" for one in given)
    return "|".join(re.escape(one) for one in given)
