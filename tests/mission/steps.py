"""Steps of tests: passages as they stand, and scores by rule."""


def in_order(queries, passages, k):
    """Every query finds the first passages in their own order."""
    return [list(range(min(k, len(passages)))) for _ in queries]


def backwards(queries, passages, k):
    """Every query finds the last passages, the very last one first."""
    return [list(range(len(passages)))[::-1][:k] for _ in queries]


def by_table(pairs, table):
    """The scores that ``table`` has for a query, by the word that a passage begins with."""
    return [table[query][passage.split()[0]] for query, passage in pairs]
