"""`harness cache`: the content of the cache, and how to make room."""

from __future__ import annotations

import argparse

from harness import store
from harness.cli.commands.declaring import CACHE, DEFAULT_CACHE, command, flag, one_of
from harness.cli.terminal import print_line, print_table
from harness.values import ConfigError, counted

_DESCRIPTION = """\
Show the size of the cache. Everything in it can be recomputed, except judgments and other answers of
endpoints (paid), which cost money and are never removed here.

  harness cache            sizes by kind
  harness cache --tidy     remove files half written by killed runs, and damaged files
  harness cache --clear    remove everything except what was paid for

Only folders marked as a cache (CACHEDIR.TAG) are touched, and never while a benchmark uses them.
"""


@command(
    _DESCRIPTION,
    CACHE,
    one_of(
        flag("--tidy", "remove half-written or damaged files"),
        flag("--clear", "remove everything except what was paid for"),
    ),
)
def cache(args: argparse.Namespace) -> int:
    """Remove what was requested, then print sizes."""
    if args.cache != DEFAULT_CACHE and not args.cache.is_dir():
        raise ConfigError(f"{args.cache} is no folder. Correct --cache.")
    layout = store.CacheLayout(args.cache)
    if args.tidy:
        print_line(f"{counted(store.tidy(layout), 'half-written or damaged item')} removed.")
    if args.clear:
        removed = store.clear(layout)
        print_line(f"Removed: {', '.join(map(str, removed))}." if removed else "There was nothing to remove.")
    print_table(
        str(args.cache), ("what", "MB"), [(n, f"{size / 1e6:.1f}") for n, size in store.sizes(layout).items()]
    )
    return 0
