"""How far does the graph of passages agree with people? The table of docs/judge.md.

    HARNESS_SHARED=shared python -m benchmarks.graph_judge [--no-cosine] [--collections meridian cranfield]

Restart and thresholds are chosen on train queries alone, by quadratic kappa; every figure is of validation
queries. Of Meridian the judges grade what people have labelled, and the split is that of its queries; of
Cranfield the first ten of five rankers, what nobody judged as 0, and queries of odd number are for training.
"""

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.label_order_data import SHARED, cranfield
from harness.comparison.stats.agreement import cohen_kappa, kendall_tau, order_agreement
from harness.judge.agreement_report import GradedPair, measure_agreement
from harness.judge.graph import GraphConfig, rarity_in, strength
from harness.judge.threshold import CosineConfig
from harness.labels.ordering.expected import score_all
from harness.labels.ordering.pool import make_pool
from harness.models.encoder import EmbedConfig
from harness.running.bench.agreement import label_pairs, settings_agreement
from harness.running.bench.flow import search_all
from harness.running.config.load import load_config
from harness.running.context import Context
from harness.running.corpus import load_corpus
from harness.running.passes import vectors
from harness.values.progress import Silent
from harness.values.types import MAX_GRADE

CONFIG = Path("configs/meridian_graph.yaml")
MODEL = "embedded:all-MiniLM-L6-v2"
RESTARTS = (0.3, 0.5, 0.8)
K = 10


@dataclass(frozen=True)
class Question:
    """One question: its passages by id with people's grades."""

    query_id: str
    split: str
    text: str
    names: tuple[str, ...]
    passages: tuple[str, ...]
    grades: np.ndarray


def meridian(context):
    """The human labels of the shipped collection."""
    corpus = load_corpus(load_config(CONFIG), context)
    grades = {(one.query_id, one.doc_id, one.start, one.end): one.grade for one in corpus.labels}
    found = defaultdict(list)
    for pair in label_pairs(corpus):
        of = pair.passage
        grade = grades[pair.query.query_id, of.doc_id, of.start, of.end]
        found[pair.query].append((of.chunk_id, of.text, grade))
    return [_asked(query.query_id, query.split, query.text, rows) for query, rows in found.items()]


def cranfield_pool():
    """The first ten of five rankers; titles are part of the passages."""
    folder = SHARED / "cranfield"
    texts = {one["_id"]: f"{one['title']} {one['text']}".strip() for one in _lines(folder / "corpus.jsonl")}
    questions = {one["_id"]: one["text"] for one in _lines(folder / "queries.jsonl")}
    collection, found = cranfield(), defaultdict(list)
    for item in collection.items:
        text = texts[item.item_id.partition("/")[2]]
        found[item.query_id].append((item.item_id, text, collection.labels[item.item_id]))
    return [
        _asked(name, "train" if int(name) % 2 else "validation", questions[name], rows)
        for name, rows in found.items()
    ]


def _lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _asked(name, split, text, rows):
    names, passages, grades = zip(*rows, strict=True)
    return Question(name, split, text, names, passages, np.array(grades))


def by_graph(asked, restart):
    """The judge's scores before they are cut into grades, one array per question."""
    rarity = rarity_in({text for one in asked for text in one.passages})
    return [strength(one.text, one.passages, restart, rarity) for one in asked]


def by_cosine(asked, context):
    """Cosines of embeddings, one array per question."""
    texts = sorted({text for one in asked for text in (one.text, *one.passages)})
    found = np.asarray(vectors(texts, EmbedConfig(model=MODEL), context), dtype=float)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    row = {text: at for at, text in enumerate(texts)}
    return [found[[row[text] for text in one.passages]] @ found[row[one.text]] for one in asked]


def fitted(scores, grades):
    """The thresholds of highest quadratic kappa, one after the other until none gains; and that kappa."""
    shares = [*np.linspace(0.3, 0.9, 13), 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995]
    steps = np.unique(np.round(np.quantile(scores, shares), 3))
    chosen, best = list(steps[np.linspace(0, len(steps) - 1, 6).astype(int)[1:5]]), -np.inf
    while True:
        before = best
        for place in range(MAX_GRADE):
            low = chosen[place - 1] if place else -np.inf
            high = chosen[place + 1] if place < MAX_GRADE - 1 else np.inf
            for step in steps[(steps > low) & (steps < high)]:
                tried = [*chosen[:place], step, *chosen[place + 1 :]]
                kappa = cohen_kappa(grades, _cut(scores, tried), MAX_GRADE + 1, "quadratic")
                if kappa > best:
                    best, chosen = kappa, tried
        if best <= before:
            return tuple(float(one) for one in chosen), best


def _cut(scores, thresholds):
    return np.searchsorted(thresholds, scores, side="right")


def agreement(asked, scores, thresholds):
    """Of all pairs the agreement of grades; of scores the mean of Kendall's tau by question."""
    pairs = [
        GradedPair(one.query_id, int(human), int(judge))
        for one, own in zip(asked, scores, strict=True)
        for human, judge in zip(one.grades, _cut(own, thresholds), strict=True)
    ]
    taus = [kendall_tau(one.grades, own) for one, own in zip(asked, scores, strict=True)]
    return measure_agreement("", pairs, MAX_GRADE), np.nanmean(taus)


def meridian_order(config, context):
    """How well judges order the settings of the configuration, by validation queries: a judge → a tau."""
    corpus, searched = search_all(config, context)
    kept = tuple(one for one in corpus.queries.queries if one.split == "validation")
    names = {one.query_id for one in kept}
    corpus = replace(
        corpus,
        queries=replace(corpus.queries, queries=kept),
        labels=tuple(one for one in corpus.labels if one.query_id in names),
    )
    searched = [
        replace(
            one,
            rankings={
                step: [ranking for ranking in ranked if ranking.query_id in names]
                for step, ranked in one.rankings.items()
            },
        )
        for one in searched
    ]

    def order(judge, asked, scores, thresholds):
        relevance = config.relevance.model_copy(update={"judge": judge.model_copy(update=thresholds)})
        own = config.model_copy(update={"relevance": relevance})
        return settings_agreement(searched, corpus, own, context).order

    return order


def cranfield_order():
    """How well judges order the five rankers by NDCG@10 of exponential gain."""
    collection = cranfield()

    def order(judge, asked, scores, thresholds):
        names = {one.query_id for one in asked}
        items = tuple(one for one in collection.items if one.query_id in names)
        pool = make_pool(items, collection.settings, k=K, max_grade=MAX_GRADE)
        grades = {
            name: int(grade)
            for one, own in zip(asked, scores, strict=True)
            for name, grade in zip(one.names, _cut(own, thresholds["thresholds"]), strict=True)
        }
        people, ideal = score_all(pool, pool.grades(collection.labels)[None])
        judged, _ = score_all(pool, pool.grades(grades)[None])
        known = ideal[0] > 0
        return order_agreement(people[0][:, known], judged[0][:, known])

    return order


def rows_of(name, asked, order, context, cosine):
    """The rows of the table of one collection."""
    train, held = ([one for one in asked if one.split == split] for split in ("train", "validation"))
    grades = np.concatenate([one.grades for one in train])

    def fit(scores):
        return fitted(np.concatenate(scores), grades)

    walks = {restart: fit(by_graph(train, restart)) for restart in (*RESTARTS, 1.0)}
    chosen = max(RESTARTS, key=lambda restart: walks[restart][1])
    given = GraphConfig()
    cases = [
        (f"graph, restart {chosen}", GraphConfig(restart=chosen), walks[chosen][0], "train"),
        ("graph, as shipped", given, given.thresholds, "default"),
        ("question's words alone, restart 1", GraphConfig(restart=1.0), walks[1.0][0], "train"),
    ]
    if cosine:
        judge = CosineConfig(model=MODEL)
        cases.append((f"cosine {MODEL}", judge, fit(by_cosine(train, context))[0], "train"))
        cases.append((f"cosine {MODEL}", judge, judge.thresholds, "default"))
    for title, judge, thresholds, source in cases:
        graph = isinstance(judge, GraphConfig)
        scores = by_graph(held, judge.restart) if graph else by_cosine(held, context)
        found, tau = agreement(held, scores, thresholds)
        ordered = order(judge, held, scores, {"thresholds": thresholds})
        cuts = ", ".join(f"{one:g}" for one in thresholds)
        print(
            f"| {name} | {title} | {source}: {cuts} | {found.kappa_quadratic} | {found.bias:+.2f} "
            f"| {tau:.2f} | {ordered.tau} ({ordered.settings}) |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", nargs="+", choices=("meridian", "cranfield"))
    parser.add_argument("--no-cosine", action="store_true", help="leave out what needs a model")
    given = parser.parse_args()
    config = load_config(CONFIG)
    print("| collection | judge | thresholds | quadratic kappa | bias | tau by question | tau of settings |")
    print("|---|---|---|---|---|---|---|")
    with Context.at(config.cache, Silent()) as context:
        for name in given.collections or ("cranfield", "meridian"):
            asked = meridian(context) if name == "meridian" else cranfield_pool()
            order = meridian_order(config, context) if name == "meridian" else cranfield_order()
            rows_of(name.title(), asked, order, context, not given.no_cosine)


if __name__ == "__main__":
    main()
