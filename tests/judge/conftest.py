import pytest

from harness.models import Backoff
from harness.store import Ledger


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.db") as opened:
        yield opened


class Impatient(Backoff):
    """Gives a call up after three tries, whatever the clock says."""

    def pause(self, tries, asked, left, rng):
        return super().pause(tries, asked, left, rng) if tries < 3 else None


@pytest.fixture
def three_tries(monkeypatch, quick_backoff):
    monkeypatch.setattr("harness.models.llm.sender.Backoff", lambda: Impatient(first=0.02, longest=0.05))


@pytest.fixture(autouse=True)
def quick_backoff(monkeypatch):
    """Real pauses would only make the tests slow; test_limits has the numbers."""
    monkeypatch.setattr("harness.models.llm.sender.Backoff", lambda: Backoff(first=0.02, longest=0.05))
