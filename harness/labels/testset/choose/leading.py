"""Leading questions: those that copy the words of the passage that answers them.

Such a question is found by any search for words, so a test set of them says little about other searches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from harness.steps import Analyser
from harness.values import WIDE

# A run of this many words (or twice as many Chinese or Japanese characters) is shown as copied.
RUN = 5
# So is a question of which this share of the content words is in the passage, if it has FEWEST of them.
SHARE = 0.8
FEWEST = 4
_TOKEN = re.compile(rf"[{WIDE}]|\w+")
_IS_WIDE = re.compile(rf"[{WIDE}]")


@dataclass(frozen=True, slots=True)
class CopiedWords:
    """The words that a question copies from a passage.

    ``words`` is the longest run of words that both hold, a wide character counting half; ``share`` the part
    of the ``content`` words (stop words left out, stems) that are in the passage.
    """

    words: int
    share: float
    content: int

    @property
    def leads(self) -> bool:
        """Whether it is worth a second look."""
        return self.words >= RUN or (self.share >= SHARE and self.content >= FEWEST)


def copied(question: str, passage: str) -> CopiedWords | None:
    """The words that a question copies; None if it has no passage."""
    if not passage.strip():
        return None
    asked, there = _tokens(question), _tokens(passage)
    longest = SequenceMatcher(None, asked, there, autojunk=False).find_longest_match()
    run = asked[longest.a : longest.a + longest.size]
    wide = sum(_IS_WIDE.match(token) is not None for token in run)
    analyser = Analyser("auto", "long")
    content, of_passage = set(analyser.terms(question)), set(analyser.terms(passage))
    share = len(content & of_passage) / len(content) if content else 0.0
    return CopiedWords(len(run) - wide + wide // 2, share, len(content))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())
