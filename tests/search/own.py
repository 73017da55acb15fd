"""Steps as a user writes them, good and bad."""


def shared_words(queries, passages, k, weight=1.0):
    """Pairs of place and score."""
    out = []
    for query in queries:
        asked = set(query.lower().strip("?").split())
        scores = [weight * len(asked & set(text.lower().strip(".").split())) for text in passages]
        order = sorted(range(len(passages)), key=lambda i: -scores[i])
        out.append([(i, scores[i]) for i in order[:k]])
    return out


def places_only(queries, passages, k):
    return [list(range(k)) for _ in queries]


def too_few(queries, passages, k):
    return []


def no_such_place(queries, passages, k):
    return [[len(passages)] for _ in queries]


def twice(queries, passages, k):
    return [[0, 0] for _ in queries]


def rising(queries, passages, k):
    return [[(0, 1.0), (1, 2.0)] for _ in queries]


def no_number(queries, passages, k):
    return [[(0, float("nan"))] for _ in queries]


def fails(*values):
    raise KeyError("index")


def polite(questions, ending="please"):
    return [f"{question} {ending}" for question in questions]


def silent(questions):
    return [None for _ in questions]


def lengths(pairs):
    return [len(passage) for _, passage in pairs]


def one_score(pairs):
    return [1.0]


NOT_A_FUNCTION = 3
