"""Fully judged collections for benchmarks/label_order.py: rankings, grades, and grades of a judge."""

import csv
import json
import math
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.labels.ordering.pool import PoolItem
from harness.values.text.sentences import passage_spans

SHARED = Path(os.environ.get("HARNESS_SHARED", "shared")) / "corpora"
K = 10


@dataclass(frozen=True)
class Collection:
    """Items with their ranks by setting; all true ``labels``; the top of the scale."""

    name: str
    settings: tuple[str, ...]
    items: tuple[PoolItem, ...]
    labels: dict[str, int]
    max_grade: int


def dl19():
    """TREC DL 2019: four runs, 43 topics; everything among their first ten is judged."""
    folder = SHARED / "trec" / "dl19"
    grades = {}
    for line in (folder / "qrels.dl19-passage.txt").read_text().splitlines():
        query, _, document, grade = line.split()
        grades[query, document] = int(grade)
    ranks = defaultdict(dict)
    for path in sorted((folder / "runs").glob("*.txt")):
        rows = defaultdict(list)
        for line in path.read_text().splitlines():
            query, _, document, _, score, _ = line.split()
            rows[query].append((-float(score), document))
        for query, found in rows.items():
            for rank, (_, document) in enumerate(sorted(found)[:K], 1):
                ranks[query, document][path.stem] = rank
    return _collection("TREC DL 2019", ranks, grades, 3)


def cranfield():
    """Cranfield: five keyword searches, 225 queries; unjudged passages are taken as grade 0."""
    folder = SHARED / "cranfield"
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    grades = {}
    with (folder / "qrels_source_as_4.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            grades[row["query-id"], row["corpus-id"]] = int(row["score"])
    whole = [f"{one['title']} {one['text']}" for one in documents]
    searches = {
        "k1 0.9, b 0.4": _bm25(whole, 0.9, 0.4),
        "k1 2.0, b 0.9": _bm25(whole, 2.0, 0.9),
        "k1 0.9, b 0": _bm25(whole, 0.9, 0.0),
        "5-grams": _bm25(whole, 1.2, 0.75, 5),
        "titles": _bm25([one["title"] for one in documents], 0.9, 0.4),
    }
    ranks = defaultdict(dict)
    for name, search in searches.items():
        for query in queries:
            for rank, place in enumerate(search(query["text"])[:K], 1):
                ranks[query["_id"], documents[place]["_id"]][name] = rank
    return _collection("Cranfield", ranks, grades, 4)


def chunking():
    """Questions on three texts with exact excerpts; passages of 600 characters are relevant or not."""
    folder = SHARED / "chunking-eval"
    passages, found = [], defaultdict(list)
    for path in sorted((folder / "corpora").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        passages += [(path.stem, start, end, text[start:end]) for start, end in passage_spans(text, 600)]
    questions = {}
    with (folder / "spans.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            questions[row["query_id"]] = row["question"]
            found[row["query_id"]].append((row["document"], int(row["start"]), int(row["end"])))
    grades = {}
    for query, spans in found.items():
        for name, start, end in spans:
            for place, (document, first, last, _) in enumerate(passages):
                both = min(end, last) - max(start, first)
                if document == name and 2 * both >= min(end - start, last - first):
                    grades[query, str(place)] = 1
    whole = [one[3] for one in passages]
    searches = {
        "k1 0.9, b 0.4": _bm25(whole, 0.9, 0.4),
        "k1 2.0, b 0.9": _bm25(whole, 2.0, 0.9),
        "5-grams": _bm25(whole, 1.2, 0.75, 5),
        "3-grams": _bm25(whole, 1.2, 0.75, 3),
        "first half": _bm25([one[:300] for one in whole], 0.9, 0.4),
    }
    ranks = defaultdict(dict)
    for name, search in searches.items():
        for query, text in questions.items():
            for rank, place in enumerate(search(text)[:K], 1):
                ranks[query, str(place)][name] = rank
    return _collection("chunking-eval", ranks, grades, 1)


def dl23():
    """TREC DL 2023 pairs of 12 queries, all graded by people; eight language models' grades rank them."""
    people, grades = _dl23()
    return _collection("LLMJudge DL 2023", _ranked(grades), people, 3)


def judged_pairs():
    """The same with four models that rank, and a fifth as judge."""
    people, grades = _dl23()
    judge, *rankers = sorted(grades)[:5]
    ranks = _ranked({name: grades[name] for name in rankers})
    return _collection("LLMJudge DL 2023", ranks, people, 3, grades[judge])


def _dl23():
    people, grades = {}, defaultdict(dict)
    with (SHARED / "judge-agreement" / "llmjudge_dl23.csv").open() as file:
        for row in csv.DictReader(file):
            pair = row["query_id"], row["passage_id"]
            people[pair] = int(row["human_grade"])
            grades[row["model"]][pair] = min(int(row["llm_grade"]), 3)
    return people, grades


def _ranked(grades):
    rng = np.random.default_rng(7)
    ranks = defaultdict(dict)
    for name in sorted(grades):
        by_query = defaultdict(list)
        for pair, grade in grades[name].items():
            by_query[pair[0]].append((-grade, rng.random(), pair))
        for found in by_query.values():
            for rank, (_, _, pair) in enumerate(sorted(found)[:K], 1):
                ranks[pair][name] = rank
    return ranks


def with_judge(collection, right=0.55, seed=5):
    """The collection with a made-up judge: right in a share of cases, else lenient by one or two grades."""
    rng = np.random.default_rng(seed)
    items = []
    for one in collection.items:
        grade = collection.labels[one.item_id]
        shift = 0 if rng.random() < right else int(rng.choice([-1, 1, 1, 2]))
        grades = min(max(grade + shift, 0), collection.max_grade)
        items.append(PoolItem(one.item_id, one.query_id, one.ranks, float(grades)))
    return Collection(
        collection.name, collection.settings, tuple(items), collection.labels, collection.max_grade
    )


def of_settings(collection, names):
    """The collection with these settings alone."""
    items = []
    for one in collection.items:
        ranks = {name: rank for name, rank in one.ranks.items() if name in names}
        if ranks:
            items.append(PoolItem(one.item_id, one.query_id, ranks, one.judge))
    return Collection(collection.name, tuple(names), tuple(items), collection.labels, collection.max_grade)


def of_queries(collection, drawn):
    """The collection with these queries, which may repeat: each is one of its own."""
    by_query = defaultdict(list)
    for one in collection.items:
        by_query[one.query_id].append(one)
    items, labels = [], {}
    for place, query in enumerate(drawn):
        for one in by_query[query]:
            name = f"{place}/{one.item_id}"
            items.append(PoolItem(name, f"{place}/{query}", one.ranks, one.judge))
            labels[name] = collection.labels[one.item_id]
    return Collection(collection.name, collection.settings, tuple(items), labels, collection.max_grade)


def _collection(name, ranks, grades, max_grade, judge=None):
    settings = tuple(sorted({one for own in ranks.values() for one in own}))
    items = tuple(
        PoolItem(
            f"{query}/{document}", query, dict(own), None if judge is None else judge.get((query, document))
        )
        for (query, document), own in sorted(ranks.items())
    )
    labels = {f"{query}/{document}": grades.get((query, document), 0) for query, document in ranks}
    return Collection(name, settings, items, labels, max_grade)


def _bm25(texts, k1, b, letters=0):
    def words(text):
        found = re.findall(r"[a-z0-9]+", text.lower())
        if not letters:
            return found
        return [w[i : i + letters] for w in found for i in range(max(1, len(w) - letters + 1))]

    listed = [words(text) for text in texts]
    lengths = np.array([len(one) for one in listed])
    gathered = defaultdict(list)
    for place, one in enumerate(listed):
        for word, count in Counter(one).items():
            gathered[word].append((place, count))
    postings = {word: np.array(found).T for word, found in gathered.items()}
    norms = k1 * (1 - b + b * lengths / lengths.mean())

    def search(query):
        scores = np.zeros(len(texts))
        for word in words(query):
            if word in postings:
                places, counts = postings[word]
                rarity = math.log(1 + (len(texts) - len(places) + 0.5) / (len(places) + 0.5))
                scores[places] += rarity * counts * (k1 + 1) / (counts + norms[places])
        return np.argsort(-scores, kind="stable")

    return search
