"""What the tests of searches build again and again: tools, passages, chunks, and steps that ask a model."""

from harness.running.config.load import load_config
from harness.running.context import Context
from harness.running.corpora import load_corpus
from harness.running.search import cut_for_all, search_settings
from harness.running.tools import RunTools
from harness.steps.search.step import Passages
from harness.values.progress import Silent


def tools_at(tmp_path, **options):
    """The tools of a run whose cache is below a folder."""
    return RunTools(Context.at(tmp_path / "cache", Silent(), **options))


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
    """The chunks of the first setting of a configuration, and the context of the run."""
    config = load_config(path)
    with Context.at(config.cache, reporter or Silent()) as context:
        (point,) = cut_for_all(config.settings[:1], load_corpus(config, context), context)
        return point.chunking, context


def searched(path, reporter=None):
    """What each setting of a configuration finds, the corpus, and the context of the run."""
    config = load_config(path)
    with Context.at(config.cache, reporter or Silent()) as context:
        corpus = load_corpus(config, context)
        points = cut_for_all(config.settings, corpus, context)
        return search_settings(points, corpus.queries.queries, context), corpus, context
