"""The keys that retrievers over a vector store share: one filled here, or an existing one."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from harness.models import EncoderConfig, plain_url
from harness.steps.search.dense import DenseConfig
from harness.steps.search.retrieve.row_filter import RowFilter
from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.retrieve.stored import Content, PassageKeys, StoredCollection
from harness.steps.search.step import Identity
from harness.values import ConfigError, Unset

_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_READING = ("text", "document", "page", "first_page", "only")


class StoreConfig(DenseConfig):
    """Base of the configurations of retrievers over a store.

    ``packages`` are the modules that it needs, ``extra`` the extra that brings them, ``searches`` what the
    store can search by, and ``existing_searches`` what it can where it was filled by others.
    """

    packages: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""
    searches: ClassVar[tuple[str, ...]] = ("vectors",)
    existing_searches: ClassVar[tuple[str, ...]] = ("vectors",)

    kind: str
    search: Literal["vectors", "words", "hybrid"] = Field(
        "vectors", description="By vectors, by words, or by both, fused by the store itself."
    )
    existing: bool = Field(
        False,
        description="Search an existing `collection` as it is, by its own passages; it is read "
        "only. `chunk` and `context` do not apply to it.",
    )
    collection: str = Field(
        "",
        description="With `existing`: the collection, table or index. Otherwise the beginning of the name "
        "that ours gets on a server.",
    )
    text: str = Field(
        "",
        description="With `existing`: the key of a passage's text, with dots for what is nested "
        "(`payload.text`); empty: the usual ones are tried.",
    )
    document: str = Field("", description="With `existing`: the key of its document; empty: the usual ones.")
    page: str = Field(
        "",
        description="With `existing`: the key of its page number. A passage whose text is not in its "
        "document is placed on that page.",
    )
    first_page: int = Field(
        1, ge=0, le=1, description="With `page`: the number that the store gives to the first page, 0 or 1."
    )
    only: Annotated[RowFilter | None, Unset("all rows")] = Field(
        None,
        description="With `existing`: search only rows whose fields have these values, such as "
        "`{year: 2023}` or `{payload.lang: [en, de]}`; of a list, one is enough. The store filters.",
    )
    exact: bool = Field(False, description="Search by the store's own scan, without its index.")
    same_model: bool = Field(
        True,
        description="With `existing`: stop where the stored vectors are not those of `model`, by a sample "
        "of passages that is embedded again.",
    )
    timeout: float = Field(30.0, gt=0, description="Seconds until a request to the store has failed.")

    @model_validator(mode="after")
    def _fits(self) -> StoreConfig:
        able = self.existing_searches if self.existing else self.searches
        if self.search not in able:
            whose = "an existing collection" if self.existing else "this store"
            raise ValueError(f"search: {self.search}: {whose} is searched by {' or '.join(able)} here")
        if self.existing and not self.collection:
            raise ValueError("existing: name the collection, such as collection: contracts")
        if self.existing and self.field is not None:
            raise ValueError("existing: the collection is searched as it is; omit field")
        if extra := sorted({*_READING} & self.model_fields_set) if not self.existing else []:
            raise ValueError(f"{', '.join(extra)}: only with existing: true")
        if "first_page" in self.model_fields_set and not self.page:
            raise ValueError("first_page: name the key of the page as page")
        return self

    def check_ready(self) -> None:
        """Raise ConfigError where a package or a variable is missing, without loading anything."""
        super().check_ready()
        if missing := [name for name in self.needed if find_spec(name) is None]:
            raise ConfigError(
                f"retrieve: the kind {self.kind} needs {', '.join(missing)}. Install it: pip install "
                f"'ndcg-harness[{self.extra}]'."
            )
        for name in self.secrets:
            secret_of(name)

    @property
    def needed(self) -> tuple[str, ...]:
        """The modules that this configuration needs."""
        return self.packages

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the environment variables with credentials."""
        return ()

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """That of vectors, except for a search by words, and that of sparse vectors."""
        sparse = () if self.embed_sparse is None else (self.embed_sparse,)
        return sparse if self.search == "words" else (*super().encoders(), *sparse)

    @property
    def embed_sparse(self) -> EncoderConfig | None:
        """The encoder of queries for the sparse vectors of others; None where texts are searched."""
        return None

    @property
    def sparse(self) -> bool:
        """Whether it searches the sparse vectors of others."""
        return False

    def share_of_words(self, text: str, words: SparseVector) -> float:
        """The share of the words in a stored sparse vector that are words of the passage's text."""
        raise NotImplementedError(f"{self.kind} has no sparse vectors")

    @property
    def keys(self) -> PassageKeys:
        """Where the parts of a passage lie in a row."""
        return PassageKeys(self.text, self.document, self.page, self.first_page)

    @property
    @abstractmethod
    def where(self) -> str:
        """The store in words, for messages: without user, password or key."""

    @property
    def remote(self) -> bool:
        """Whether every machine can open it by its address."""
        return False

    @abstractmethod
    def build_facts(self) -> Identity:
        """Everything besides vectors and texts that decides the index."""

    @abstractmethod
    def effort(self) -> Identity:
        """How hard the index is searched."""

    @abstractmethod
    def reading(self, name: str, folder: Path | None = None) -> AbstractContextManager[StoredCollection]:
        """The collection of that name, open for reading; ``folder`` holds that of an embedded store."""

    @abstractmethod
    def fill(self, content: Content, folder: Path | None) -> bool:
        """Make the collection of ``content``, never one that ``existing`` names; False: it was there."""


def secret_of(variable: str) -> str:
    """What an environment variable holds; raises ConfigError where it is not set, without any value."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ConfigError(
            f"retrieve: the environment variable {variable} is not set. Set it, or omit its key."
        )
    return value


def variable_name(name: str | None) -> str | None:
    """Refuse anything but the name of an environment variable, because it may be a secret."""
    if name is not None and not _VARIABLE.fullmatch(name):
        raise ConfigError(
            "A key that ends in _env names an environment variable in capitals, never the secret itself. If "
            "one was written there, revoke it."
        )
    return name


def store_url(url: str | None) -> str | None:
    """Refuse an address with a user, password or query."""
    return None if url is None else plain_url(url, "retrieve.api_key_env")
