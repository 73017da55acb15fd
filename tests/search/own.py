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


def given(*asked, answer):
    return answer


def too_few_arguments(passages, k):
    return []


def no_number(queries, passages, k):
    return [[(0, float("nan"))] for _ in queries]


def fails(*values):
    raise KeyError("index")


def fails_late(queries, passages, k):
    return [(len(passages) // 0 for _ in query) for query in queries]


def polite(questions, ending="please"):
    return [f"{question} {ending}" for question in questions]


def reversed_order(pairs):
    """Scores of the pairs of all queries that put those given last first."""
    return list(range(len(pairs)))


def lengths(pairs):
    return [len(passage) for _, passage in pairs]


class Hit:
    """A document of LangChain or a node of LlamaIndex, as far as their interfaces go."""

    def __init__(self, text, metadata=None):
        self.page_content, self.metadata = text, metadata or {}

    def get_content(self):
        return self.page_content


class NodeWithScore:
    def __init__(self, node, score):
        self.node, self.score = node, score


def leaves(queries, passages, k):
    raise SystemExit(0)


def huge(pairs):
    return [10**400] * len(pairs)


class LangChainLike:
    def __init__(self, passages, k):
        self.passages, self.k = passages, k

    def invoke(self, query):
        (ranked,) = shared_words([query], self.passages, self.k)
        return [Hit(self.passages[place]) for place, _ in ranked]


class LlamaIndexLike(LangChainLike):
    def retrieve(self, query):
        (ranked,) = shared_words([query], self.passages, self.k)
        nodes = [Hit("shortened", {"place": place}) for place, _ in ranked]
        return [NodeWithScore(node, score) for node, (_, score) in zip(nodes, ranked, strict=True)]

    invoke = None


class Shortens(LangChainLike):
    def invoke(self, query):
        return [Hit(self.passages[0][:5])]


def real_langchain(passages, k):
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Words(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            (ranked,) = shared_words([query], passages, k)
            return [Document(page_content=passages[place]) for place, _ in ranked]

    return Words()


def halved(questions):
    return [f"{question}\ud83d" for question in questions]
