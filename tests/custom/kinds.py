"""Steps that break the contract, each in one way."""

import itertools
import random
from pathlib import Path

from tests.search.own import shared_words

_calls = itertools.count()
_seen = []


def moody(queries, passages, k):
    random_ = random.Random(next(_calls))
    return [random_.sample(range(len(passages)), min(k, len(passages))) for _ in queries]


def by_batch(queries, passages, k):
    turn = len(queries) % 2
    return [list(range(min(k, len(passages))))[:: -1 if turn else 1] for _ in queries]


def exactly_k(queries, passages, k):
    return [[(i, 1.0) for i in range(3)] for _ in queries]


def no_empty_query(queries, passages, k):
    for query in queries:
        query.split()[0]
    return shared_words(queries, passages, k)


def remembers(queries, passages, k):
    turn = _seen == passages
    _seen[:] = passages
    return [list(range(min(k, len(passages))))[:: 1 if turn else -1] for _ in queries]


def backwards(queries, passages, k):
    ranked = shared_words(queries, passages, len(passages))
    return [[place for place, _ in one[::-1]][:k] for one in ranked]


def moody_scores(pairs):
    shift = next(_calls)
    return [len(passage) + shift for _, passage in pairs]


def by_place(pairs):
    return list(range(len(pairs)))


def by_count(pairs):
    return [len(passage) / len(pairs) for _, passage in pairs]


def no_empty_passage(pairs):
    return [len(query) / len(passage) for query, passage in pairs]


def short_only(pairs):
    if any(len(passage) > 5000 for _, passage in pairs):
        raise ValueError("too many tokens")
    return [-abs(len(query) - len(passage)) for query, passage in pairs]


def constant(pairs):
    return [1.0 for _ in pairs]


def matching(pairs):
    return [float(len(set(query) & set(passage))) for query, passage in pairs]


def mute(questions):
    return ["" for _ in questions]


def numbered(questions):
    return [f"{place} {question}" for place, question in enumerate(questions)]


def counting(questions):
    return [f"{next(_calls)} {question}" for question in questions]


def no_empty_question(questions):
    return [question[0] + question for question in questions]


def encoded(text):
    data = text.encode()
    return [(i, min(i + 40, len(data))) for i in range(0, len(data), 40)]


def first_only(text):
    return [(0, min(10, len(text)))]


def moody_cut(text):
    middle = 1 + next(_calls) % max(1, len(text) - 1)
    return [(0, middle), (middle, len(text))] if middle < len(text) else [(0, len(text))]


def whole_text(text):
    return [(0, len(text))]


def changing(path):
    return Path(path).read_text(encoding="utf-8") + str(next(_calls))
