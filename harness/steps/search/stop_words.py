"""English stop words, as data: which words the analysers that stem leave out."""

from __future__ import annotations

# What the lists come from. It is part of the keys of kept terms, so a changed list needs another text here.
ORIGIN = "bm25s 0.3.16"

# Lucene's list of English stop words.
_SHORT = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""

# NLTK's list, with question words, pronouns and contractions.
_LONG = """
a about above after again against ain all am an and any are aren aren't as at be because been before
being below between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing
don don't down during each few for from further had hadn hadn't has hasn hasn't have haven haven't
having he her here hers herself him himself his how i if in into is isn isn't it it's its itself
just ll m ma me mightn mightn't more most mustn mustn't my myself needn needn't no nor not now o of
off on once only or other our ours ourselves out over own re s same shan shan't she she's should
should've shouldn shouldn't so some such t than that that'll the their theirs them themselves then
there these they this those through to too under until up ve very was wasn wasn't we were weren
weren't what when where which while who whom why will with won won't wouldn wouldn't y you you'd
you'll you're you've your yours yourself yourselves
"""

SHORT = frozenset(_SHORT.split())
LONG = frozenset(_LONG.split())
