from tests.judge.conftest import ledger, quick_backoff, three_tries

__all__ = ["ledger", "quick_backoff", "three_tries"]
