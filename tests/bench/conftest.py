"""A tiny corpus of our own, and a configuration over it."""

import csv
from functools import partial

import pytest

SENTENCES = {
    "engines": [
        "The Tamarack engine is built in Paducah and delivers 210 kilowatts.",
        "Its fuel pump was recalled in 2024 because a seal could harden in the cold.",
        "Every tenth engine runs on a test bench for forty hours before it leaves the plant.",
        "The cylinder head is cast from an aluminium alloy with seven per cent silicon.",
    ],
    "people": [
        "At the end of the year 39,717 people worked for the company.",
        "The works council agreed to a four day week in the paint shop.",
        "Apprentices spend their first summer in the foundry.",
        "The pension plan was closed to new members in 2011.",
    ],
    "harbour": [
        "Finished cars leave through the harbour of Bremerton on three roll-on ships.",
        "A crane failure stopped loading for nine days in March.",
        "The storage yard holds 4,200 vehicles and was paved with recycled asphalt.",
        "Customs papers are filed electronically two days before a ship arrives.",
    ],
}
DENSE = '{kind: %s, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 128, top_k: 10}'
QUERIES = [
    ("q1", "How many people work for the company?", "train", "people", 0, 4),
    ("q2", "Why was the fuel pump recalled?", "validation", "engines", 1, 4),
    ("q3", "Where do the cars get loaded on ships?", "train", "harbour", 0, 3),
    ("q4", "What stopped loading in March?", "validation", "harbour", 1, 4),
    ("q5", "Who is the chief executive?", "train", None, 0, 0),
]


def make_corpus(folder):
    """Documents, queries.csv and labels.csv in a folder."""
    (folder / "docs").mkdir()
    for name, sentences in SENTENCES.items():
        text = "\n\n".join(f"{sentence} {sentence.upper()}" for sentence in sentences)
        (folder / "docs" / f"{name}.txt").write_text(text, encoding="utf-8")
    with (folder / "queries.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "text", "split", "answerable"])
        rows.writerows([q, text, split, "yes" if doc else "no"] for q, text, split, doc, _, _ in QUERIES)
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "document", "quote", "grade"])
        rows.writerows([q, doc, SENTENCES[doc][i], grade] for q, _, _, doc, i, grade in QUERIES if doc)
    return folder


@pytest.fixture
def corpus(tmp_path):
    """The corpus in the folder of a test."""
    return make_corpus(tmp_path)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """One cache for all tests that do not ask for a fresh one, as a user's runs share theirs."""
    return tmp_path_factory.mktemp("cache")


def writer(corpus, shared_cache):
    """Writes bench.yaml with the given stage sections; ``cache`` names a cache of its own."""

    def write(
        chunk="{kind: recursive_token, chunk_size: [90, 180]}",
        rerank="{kind: late_interaction}",
        more="",
        cache=None,
        retrieve=DENSE % "exact",
    ):
        path = corpus / "bench.yaml"
        path.write_text(
            f"name: tiny\n"
            f"documents: {corpus}/docs/*.txt\n"
            f"queries: {corpus}/queries.csv\n"
            f"labels: {corpus}/labels.csv\n"
            f"cache: {corpus / cache if cache else shared_cache}\n"
            f"results: {corpus}/results\n"
            f"chunk: {chunk}\n"
            f"retrieve: {retrieve}\n"
            f"rerank: {rerank}\n"
            f"{more}\n",
            encoding="utf-8",
        )
        return path

    return write


@pytest.fixture
def write_config(corpus, shared_cache):
    """Write a configuration over the corpus of a test."""
    return writer(corpus, shared_cache)


@pytest.fixture(scope="module")
def module_corpus(tmp_path_factory):
    """The corpus for a run that the tests of a module share."""
    return make_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def module_config(module_corpus, shared_cache):
    """Write a configuration over the corpus of a module."""
    return writer(module_corpus, shared_cache)


@pytest.fixture(scope="module")
def no_workers():
    """Documents are parsed in this process: `tests/corpus` has the processes, which take time to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.data.corpus.workers.Worker.run", lambda _, task: task(lambda page: None))
        yield


@pytest.fixture
def lexical(write_config):
    """The same for short chunks that are found by their words alone."""
    return partial(
        write_config, chunk="{kind: recursive, chunk_size: 90}", retrieve="{kind: bm25}", rerank="null"
    )
