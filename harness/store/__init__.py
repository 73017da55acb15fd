"""Storage on disk: the content-addressed cache, results, and their paths."""

from harness.store.artifacts import Artifacts, key_of
from harness.store.atomic import write_bytes, write_text
from harness.store.collections import CollectionFolders
from harness.store.faults import Faults
from harness.store.folders import replace_folder
from harness.store.keyvalue import KeyValue
from harness.store.layout import CacheLayout
from harness.store.lock import Lock
from harness.store.usage import clear, sizes, tidy
from harness.store.users import User
