"""Where everything lies below the cache folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FORMAT = 1


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """Paths below one cache folder. A change of what is stored raises ``FORMAT`` and starts afresh."""

    root: Path

    @property
    def base(self) -> Path:
        """The folder of this format."""
        return self.root / f"v{FORMAT}"

    @property
    def artifacts(self) -> Path:
        """Parsed documents, chunk offsets, rankings: one file each, named by the key of what made it."""
        return self.base / "artifacts"

    @property
    def chroma(self) -> Path:
        """Chroma's databases, one folder a collection."""
        return self.base / "chroma"

    @property
    def ledger(self) -> Path:
        """Every judgment ever bought; outside the format, since it must outlive it."""
        return self.root / "judgments.sqlite"

    def vectors(self, fingerprint: str) -> Path:
        """The vectors that one model computed."""
        return self.base / "vectors" / f"{fingerprint[:32]}.sqlite"

    def scores(self, fingerprint: str) -> Path:
        """The pair scores that one reranker computed."""
        return self.base / "scores" / f"{fingerprint[:32]}.sqlite"
