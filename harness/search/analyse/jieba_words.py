"""Chinese words by the dictionary of jieba, with a dictionary of the user's beside it (extra `jieba`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from io import StringIO

from harness.errors import ConfigError


def jieba_version() -> str:
    """The installed version; raises ConfigError where there is none."""
    try:
        return version("jieba")
    except PackageNotFoundError:
        raise ConfigError(
            "The analyser jieba is not installed. Install it: pip install 'harness[jieba]', or set analyser: "
            "auto, which needs no dictionary."
        ) from None


def jieba_cutter(dictionary: str) -> Callable[[str], list[str]]:
    """A function that cuts a run into words; ``dictionary`` holds lines `word [frequency] [tag]`.

    In search mode, long words are cut into the words within them too.
    """
    jieba_version()
    import jieba

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    if dictionary:
        tokenizer.load_userdict(StringIO(dictionary))
    return lambda run: [word for word in tokenizer.cut_for_search(run) if word.strip()]
