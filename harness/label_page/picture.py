"""Pictures of PDF pages for the labelling page: drawn one at a time, the latest kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from harness.corpus.page_picture import can_draw, draw_page
from harness.errors import CorpusError, LabelError

_KEPT = 24


class Pictures:
    """Draws pages, one at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int], bytes] = OrderedDict()
        self._drawing = threading.Lock()

    @property
    def possible(self) -> bool:
        """Whether what draws is installed."""
        return can_draw()

    def page(self, path: Path, page: int) -> bytes:
        """A page, counted from 1, as PNG of at most 1200 by 1800 pixels; raises LabelError where it fails."""
        key = (path, page)
        with self._drawing:
            if key not in self._kept:
                try:
                    self._kept[key] = draw_page(path, page).data
                except CorpusError as error:
                    raise LabelError(f"{error} Use its text.") from None
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]
