"""The paths below the cache folder, and the mark that says it is ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.store.locking import Lock, join

FORMAT = 2
FOLDER = "harness-v"
# https://bford.info/cachedir/: programs that back up folders leave one with this file out
_MARK = "CACHEDIR.TAG"
_ROOMS = {_MARK, "artifacts", "chroma", "vectors", "scores"}
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder was made by harness. Everything in it can be recomputed:\n"
    "# `harness cache --clear` removes it.\n"
)


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """Paths below one cache folder. A change of what is stored raises ``FORMAT`` and starts afresh."""

    root: Path

    @property
    def base(self) -> Path:
        """The folder of this format."""
        return self.root / f"{FOLDER}{FORMAT}"

    @property
    def mark(self) -> Path:
        """The file that says whose folder this is."""
        return self.base / _MARK

    @property
    def artifacts(self) -> Path:
        """Parsed documents, chunk offsets, rankings: one file each, named by the key of what made it."""
        return self.base / "artifacts"

    @property
    def chroma(self) -> Path:
        """Chroma's databases, one folder per collection."""
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

    @property
    def paid(self) -> Path:
        """Paid results of endpoints; outside the format, like the judgments."""
        return self.root / "paid"

    def served(self, what: str, fingerprint: str) -> Path:
        """The vectors or scores that one endpoint gave."""
        return self.paid / f"{what}-{fingerprint[:32]}.sqlite"

    @property
    def users(self) -> Path:
        """The files of those who use the cache; outside the format, since that is removed."""
        return self.root / ".in-use"

    def use(self) -> Lock | None:
        """Mark the folder as ours and keep `harness cache` from emptying it until the user is released.

        None if nothing can be written there; then nothing keeps others from emptying it.
        """
        try:
            user = join(self.users)
            self.base.mkdir(parents=True, exist_ok=True)
            size = self.mark.stat().st_size if self.mark.exists() else 0
            if not size and {path.name for path in self.base.iterdir()} <= _ROOMS:
                self.mark.write_text(_TAG, encoding="utf-8")
        except OSError:
            return None
        return user


def is_marked(folder: Path) -> bool:
    """Whether a folder carries the mark of our cache."""
    try:
        return (folder / _MARK).read_bytes().startswith(_TAG.encode().partition(b". ")[0])
    except OSError:
        return False
