"""Storage on disk: the content-addressed cache, results, and their paths."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.store.artifacts import Artifacts, CollectionFolders, Faults, digest_of
    from harness.store.atomic import write_bytes, write_text
    from harness.store.cache_layout import CacheLayout, clear, sizes, tidy
    from harness.store.disk import os_error_line
    from harness.store.keyvalue import KeyValue
    from harness.store.ledger import Ledger, LedgerEntry
    from harness.store.locking import Lock, lock, replace_folder, turn
    from harness.store.remote import fetch, file_system
    from harness.store.sent_batches import SentBatch, SentCall
    from harness.store.shared_cache import SharedCache
    from harness.store.sqlite import Schema, UnknownVersionError, opened, transaction
    from harness.values import key_of
else:
    __getattr__ = door(
        __name__,
        {
            "harness.store.artifacts": "Artifacts CollectionFolders Faults digest_of",
            "harness.store.atomic": "write_bytes write_text",
            "harness.store.cache_layout": "CacheLayout clear sizes tidy",
            "harness.store.disk": "os_error_line",
            "harness.store.keyvalue": "KeyValue",
            "harness.store.ledger": "Ledger LedgerEntry",
            "harness.store.locking": "Lock lock replace_folder turn",
            "harness.store.remote": "fetch file_system",
            "harness.store.sent_batches": "SentBatch SentCall",
            "harness.store.shared_cache": "SharedCache",
            "harness.store.sqlite": "Schema UnknownVersionError opened transaction",
            "harness.values": "key_of",
        },
    )
