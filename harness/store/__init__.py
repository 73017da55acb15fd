"""Storage on disk: the content-addressed cache, results, and their paths."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.store.artifacts import Artifacts, CollectionFolders, Faults, digest_of, key_of
    from harness.store.atomic import write_bytes, write_text
    from harness.store.keyvalue import KeyValue
    from harness.store.layout import CacheLayout, clear, sizes, tidy
    from harness.store.ledger import Ledger, LedgerEntry
    from harness.store.locking import Lock, lock, replace_folder, turn
    from harness.store.remote import fetch, file_system
    from harness.store.shared import SharedCache
    from harness.store.sqlite import Schema, UnknownVersionError, opened, transaction
else:
    __getattr__ = door(__name__, __file__)
