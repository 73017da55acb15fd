"""What the tests of searches build again and again: tools, passages, chunks, and steps that ask a model."""

from contextlib import ExitStack
from types import SimpleNamespace

from harness import steps
from harness.running import (
    Chunked,
    LatencyConfig,
    Loop,
    Met,
    Planning,
    Running,
    Session,
    Visitor,
    cut_for_all,
    load_config,
    load_corpus,
    run_step,
    search_settings,
)
from harness.running.latency import Timing
from harness.running.pipeline import lists_of
from harness.steps import Passages, Search, identity_of
from harness.values import Silent, ask, under_way


class Given(Visitor):
    """Meets needs by what a test gives: vectors of texts, workers, and a place for indexes under one key."""

    def __init__(self, vectors=None, spread=None, slot=None, key="key"):
        self.vectors, self.spread, self.slot, self.key = vectors, spread, slot, key

    def give(self, wanted):
        need = wanted.need
        match need:
            case steps.Built() | steps.CheckOnly():
                return need.make()
            case steps.Fingerprints():
                return lambda _: "f"
            case steps.Cluster():
                return self.spread
            case steps.TermsOf():
                return (need.read or need.terms.of_texts)(need.passages.texts)
            case steps.Index():
                return wanted.frame.enter(need.opened(wanted.frame.enter(self.slot(self.key))))
        return None

    def meet(self, wanted):
        return [Met(lambda one=one: self.vectors(one.need.texts)) for one in wanted]

    def run(self, step):
        """What a step returns."""
        return Loop(self).run({"0": under_way(step)})["0"]


class Tools:
    """Runs single steps over the session of a run; ``questions`` are the queries as users asked them."""

    def __init__(self, session, questions=None):
        self.session, self.questions = session, dict(questions or {})

    def run(self, step):
        """What a step returns."""
        return run_step(under_way(step), Running(self.session))

    def search(self, name, retriever, passages, queries):
        """The result of a retriever."""
        search = Search(self.questions or {query.query_id: query for query in queries})
        return self.run(search.run(name, retriever, passages, queries))

    def rewritten(self, rewrite, queries):
        """The texts that a rewriter makes of queries, one after the other."""
        return self.run(Search({}).rewritten(rewrite, queries)).queries

    def filtered(self, config, documents, queries):
        """What a filter makes of queries."""
        return self.run(Search(self.questions).filtered(config, documents, queries))

    def identity(self, retriever):
        """What decides the rankings of a retriever."""
        return identity_of(retriever, self.fingerprint)

    def fingerprint(self, encoder):
        """What decides a vector."""
        return self.session.models.encoder(encoder).fingerprint

    def vectors(self, texts, encoder):
        """The vectors of texts."""
        return self.run(ask(steps.Texts(encoder, texts, "queries")))

    def is_stored(self, name, retriever, passages, queries):
        """Whether a plan finds the result of a retriever in the cache."""
        return not self.planned(retriever, passages, queries).guessed

    def calls(self, retriever, passages, queries):
        """The calls of language models that a plan of a search has."""
        return self.planned(retriever, passages, queries).calls

    def planned(self, retriever, passages, queries):
        """A plan of a search."""
        planning = Planning(self.session)
        Loop(planning).run({"0": Search({}).run("", retriever, passages, queries)})
        return planning

    def alone(self, retriever, passages, queries):
        """The rankings of one query at a time, the index kept open; or why that cannot be timed."""
        searched = SimpleNamespace(rankings={"": self.search("", retriever, passages, queries).rankings})
        with ExitStack() as stack:
            timing = Timing(
                self.session.again(), search=searched, config=LatencyConfig(own_code=True), stack=stack
            )
            search = Search({query.query_id: query for query in queries})
            runs = (search.run("", retriever, passages, [query]) for query in queries)
            results = [Loop(timing).run({"0": run})["0"] for run in runs]
        return [one.rankings[0] for one in results], next(iter(timing.why.values()), "")


def tools_at(tmp_path, **options):
    """Runs single steps with a cache below a folder."""
    return Tools(Session.at(tmp_path / "cache", Silent(), **options))


def rerank_lists(searched, place, queries):
    """What the reranker at a place reads: texts of each query, then its passages."""
    texts = Chunked(searched.setting, searched.chunking).texts
    return lists_of(searched.setting.rerank[place], texts, queries, searched.rankings[searched.steps[place]])


def passages_of(texts, lengths=None):
    """Passages of one document, at places that follow one another."""
    texts = tuple(texts)
    ids = tuple(f"d:{i}-{i + 1}" for i in range(len(texts)))
    return Passages(ids, texts, tuple(lengths or map(len, texts)), key="|".join(texts))


def asking(kind, url, **options):
    """A step that asks a fake model; its times are long, for machines that are busy."""
    endpoint = {"model": "fake", "base_url": url, "api_key_env": None, "timeout": 120, "deadline": 300}
    return kind(endpoint=endpoint | options.pop("endpoint", {}), **options)


def fenced(request):
    """The question in a prompt."""
    return request["body"]["messages"][-1]["content"].splitlines()[1]


def chunked(path, reporter=None):
    """The chunks of the first setting of a configuration, and the session of the run."""
    config = load_config(path)
    with Session.at(config.cache, reporter or Silent()) as session:
        (point,) = cut_for_all(config.settings[:1], load_corpus(config, session.document_reader), session)
        return point.chunking, session


def searched(path, reporter=None):
    """What each setting of a configuration finds, the corpus, and the session of the run."""
    config = load_config(path)
    with Session.at(config.cache, reporter or Silent()) as session:
        corpus = load_corpus(config, session.document_reader)
        points = cut_for_all(config.settings, corpus, session)
        return search_settings(points, corpus.queries.queries, session), corpus, session
