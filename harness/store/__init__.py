"""What is kept on disk: the content-addressed cache, results, and the one place that knows their paths."""

from harness.store.artifacts import Artifacts, key_of
from harness.store.atomic import replace_folder, write_text
from harness.store.collections import CollectionFolders, Slot
from harness.store.keyvalue import KeyValue
from harness.store.layout import CacheLayout
from harness.store.usage import clear, sizes

__all__ = [
    "Artifacts",
    "CacheLayout",
    "CollectionFolders",
    "KeyValue",
    "Slot",
    "clear",
    "key_of",
    "replace_folder",
    "sizes",
    "write_text",
]
