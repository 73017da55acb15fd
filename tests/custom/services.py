"""Services of a user's own as they might answer, over real HTTP."""

from tests.judge.fake_server import Answer, FakeServer
from tests.search.own import shared_words


class Search(FakeServer):
    """Keeps what is sent to /index and ranks it at /search, or ranks what comes with the query."""

    def __init__(self, fault=None):
        super().__init__(self._script)
        self.fault = fault
        self.indexed = {}

    @property
    def root(self):
        return self.url.removesuffix("/v1")

    def _script(self, request, number):
        answer = self.fault(request, number) if self.fault else None
        if answer is not None:
            return answer
        body = request["body"]
        if request["path"] == "/index":
            self.indexed.setdefault(body["name"], {}).update((one["id"], one["text"]) for one in body["docs"])
            return Answer(201, b"")
        if request["path"] == "/search":
            # in one order, whichever of several requests came first
            known = dict(sorted(self.indexed[body["name"]].items()))
            return Answer(body={"hits": self._hits(list(known), list(known.values()), body["q"], body["k"])})
        if request["path"] == "/many":
            return Answer(body=[self._hits(body["ids"], body["texts"], q, body["k"]) for q in body["qs"]])
        if request["path"] == "/scores":
            scores = [{"index": i, "score": float(len(text))} for i, text in enumerate(body["docs"])]
            return Answer(body={"results": scores[::-1]})
        if request["path"] == "/rewrite":
            return Answer(body={"text": f"{body['q']} please"})
        return Answer(404, {"detail": "no such path"})

    def _hits(self, ids, texts, query, k):
        (ranked,) = shared_words([query], texts, k)
        return [{"id": ids[place], "score": score} for place, score in ranked]

    def paths(self):
        return [request["path"] for request in self.requests]
