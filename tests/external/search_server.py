"""A server that answers as OpenSearch and Elasticsearch document it, over HTTP, strict about what is asked.

It is written from the documented protocols, as neither server can be had here: a body with a key that they do
not have is an error, scores are made as they document it, and Elasticsearch's scripts are evaluated.
"""

import copy
import json
import math
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import numpy as np

_NUMBERS = ("long", "float")
STOP = {"the", "a", "was", "is", "to", "of", "in", "it", "at", "by", "what", "when", "who", "does", "do"}


class RefusedError(Exception):
    """A status, and what it is called."""

    def __init__(self, status, kind, reason):
        super().__init__(reason)
        self.status, self.kind, self.reason = status, kind, reason


def strict(body, *keys, needs=()):
    for key in body:
        if key not in keys:
            raise RefusedError(400, "parsing_exception", f"unknown key [{key}]")
    for key in needs:
        if key not in body:
            raise RefusedError(400, "parsing_exception", f"[{key}] is missing")


class SearchServer:
    """``kind`` is opensearch or elasticsearch; ``fault`` changes every answer to a search from then on."""

    def __init__(self, kind, version, authorization=None):
        self.kind, self.version, self.authorization = kind, version, authorization
        self.indices, self.scrolls, self.requests, self.fault = {}, {}, [], None
        handler = type("Handler", (_Handler,), {"store": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def state(self):
        return copy.deepcopy(self.indices)

    # -- requests ---------------------------------------------------------------------------------------

    def answer(self, method, path, text, kind):
        parts = [part for part in urlsplit(path).path.split("/") if part]
        asked = parse_qs(urlsplit(path).query)
        lines = parts and parts[-1] in ("_bulk", "_msearch")
        if text and kind != ("application/x-ndjson" if lines else "application/json"):
            raise RefusedError(406, "media_type_header_exception", f"content type {kind}")
        body = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text or "{}")
        match (method, *parts):
            case ("GET",):
                named = {"distribution": "opensearch"} if self.kind == "opensearch" else {}
                return {"version": {"number": self.version, **named}}
            case ("PUT", name):
                return self.create(name, body)
            case ("GET", "_alias", name):
                return {
                    index: {} for index, _ in [self.named(name)] if name in self.indices[index]["aliases"]
                }
            case ("POST", "_aliases"):
                for action in body["actions"]:
                    self.indices[action["add"]["index"]]["aliases"].append(action["add"]["alias"])
                return {"acknowledged": True}
            case ("GET", name, "_mapping"):
                index, held = self.named(name)
                return {index: {"mappings": held["mappings"]}}
            case ("GET", name, "_stats", "store"):
                size = len(json.dumps(self.named(name)[1]["rows"]))
                return {"_all": {"primaries": {"store": {"size_in_bytes": size}}}}
            case ("POST", name, "_bulk"):
                return self.bulk(name, body)
            case ("POST", name, "_refresh" | "_forcemerge"):
                self.named(name)
                return {"_shards": {"failed": 0}}
            case ("POST", name, "_search"):
                return self.faulty(self.search(name, body, asked.get("scroll")))
            case ("POST", name, "_msearch"):
                if len(body) % 2:
                    raise RefusedError(400, "parse_exception", "an odd number of lines")
                answers = [self.search(name, each) | {"status": 200} for each in body[1::2]]
                return {"responses": [self.faulty(answer) for answer in answers]}
            case ("POST", "_search", "scroll"):
                strict(body, "scroll", "scroll_id", needs=("scroll", "scroll_id"))
                return self.page(body["scroll_id"])
            case ("DELETE", "_search", "scroll"):
                for scroll in body["scroll_id"]:
                    del self.scrolls[scroll]
                return {"succeeded": True}
        raise RefusedError(405, "method_not_allowed", f"{method} {path}")

    def faulty(self, answer):
        if self.fault == "shards":
            return answer | {"_shards": {"total": 2, "successful": 1, "failed": 1}}
        if self.fault == "late":
            return answer | {"timed_out": True}
        if self.fault == "error":
            return {"error": {"type": "circuit_breaking_exception", "reason": "too large"}, "status": 429}
        return answer

    def named(self, name):
        for index, held in self.indices.items():
            if name == index or name in held["aliases"]:
                return index, held
        raise RefusedError(404, "index_not_found_exception", f"no such index [{name}]")

    def create(self, name, body):
        if name in self.indices:
            raise RefusedError(400, "resource_already_exists_exception", name)
        strict(body, "settings", "mappings")
        strict(body["settings"]["index"], "number_of_shards", "number_of_replicas", "similarity", "knn")
        for field in body["mappings"]["properties"].values():
            self.check_field(field, body["settings"]["index"])
        self.indices[name] = {**body, "aliases": [], "rows": {}}
        return {"acknowledged": True}

    def check_field(self, field, settings):
        if field["type"] == "knn_vector" and self.kind == "opensearch":
            strict(field, "type", "dimension", "method", needs=("dimension",))
            strict(field["method"], "name", "engine", "space_type", "parameters", needs=("name",))
            assert field["method"]["space_type"] in ("l2", "cosinesimil", "innerproduct")
            assert settings.get("knn") is True
        elif field["type"] == "dense_vector" and self.kind == "elasticsearch":
            strict(field, "type", "dims", "index", "similarity", "index_options")
            strict(field["index_options"], "type", "m", "ef_construction", needs=("type",))
            assert field["similarity"] in ("l2_norm", "cosine", "dot_product", "max_inner_product")
        elif field["type"] == "text":
            strict(field, "type", "analyzer")
        elif field["type"] not in ("keyword", *_NUMBERS, "boolean") and "properties" not in field:
            raise RefusedError(400, "mapper_parsing_exception", f"no handler for type [{field['type']}]")

    def bulk(self, name, lines):
        _, held = self.named(name)
        items = []
        for action, row in zip(lines[::2], lines[1::2], strict=True):
            (key,) = action
            for field, value in row.items():
                size = _dimension(held["mappings"]["properties"].get(field, {}))
                if size is not None and len(value) != size:
                    reason = f"has {len(value)} dimensions, not {size}"
                    items.append({key: {"error": {"type": "mapper_parsing_exception", "reason": reason}}})
                    break
            else:
                held["rows"][action[key]["_id"]] = row
                items.append({key: {"status": 201}})
        return {"errors": any("error" in item["index"] for item in items), "items": items}

    # -- searches ---------------------------------------------------------------------------------------

    def search(self, name, body, scroll=None):
        index, held = self.named(name)
        more = ("search_pipeline",) if self.kind == "opensearch" else ("knn", "retriever")
        strict(body, "query", "size", "_source", "sort", "track_total_hits", *more)
        if "retriever" in body:
            ranked = self.retrieved(held, body["retriever"])
        elif "knn" in body:
            ranked = self.near(held, body["knn"])
        elif "hybrid" in body.get("query", {}):
            ranked = self.hybrid(held, body)
        else:
            ranked = self.ranked(held, body.get("query", {"match_all": {}}))
        hits = []
        for key, score in ranked:
            source = self.source(held, held["rows"][key], body.get("_source", True))
            hits.append({"_index": index, "_id": key, "_score": score, "_source": source})
        answer = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
        size = body.get("size", 10)
        if scroll:
            assert body["sort"] == ["_doc"]
            key = f"scroll-{len(self.requests)}"
            self.scrolls[key] = (answer, hits, size)
            return self.page(key)
        total = {"value": len(hits), "relation": "eq"}
        return answer | {"hits": {"total": total, "hits": hits[:size]}}

    def page(self, key):
        answer, hits, size = self.scrolls[key]
        self.scrolls[key] = (answer, hits[size:], size)
        return answer | {"_scroll_id": key, "hits": {"hits": hits[:size]}}

    def source(self, held, row, wanted):
        vectors = {name for name, field in held["mappings"]["properties"].items() if _dimension(field)}
        late = self.kind == "elasticsearch" and tuple(map(int, self.version.split(".")[:2])) >= (9, 2)
        hidden = vectors if late else set()
        if isinstance(wanted, dict):
            strict(wanted, "excludes", *(["exclude_vectors"] if late else []))
            hidden = (hidden if wanted.get("exclude_vectors", True) else set()) | {
                *wanted.get("excludes", ())
            }
        return {name: value for name, value in row.items() if name not in hidden}

    def ranked(self, held, query):
        """Keys and scores, best first."""
        ((kind, body),) = query.items()
        rows = held["rows"]
        if kind == "match_all":
            return [(key, 1.0) for key in rows]
        if kind == "exists":
            return [(key, 1.0) for key, row in rows.items() if row.get(body["field"]) is not None]
        if kind == "bool":
            strict(body, "must", "filter")
            left = {*rows}
            for each in body.get("filter", []):
                left &= {key for key, _ in self.ranked(held, each)}
            (ranked,) = [self.ranked(held, each) for each in body.get("must", [{"match_all": {}}])]
            return [(key, score) for key, score in ranked if key in left]
        if kind == "terms":
            ((field, wanted),) = body.items()
            kind = held["mappings"]["properties"].get(field, {}).get("type", "keyword")
            terms = {_term(kind, value) for value in wanted}
            return [(key, 1.0) for key, row in rows.items() if terms & _values(kind, _under(row, field))]
        if kind == "match":
            ((field, words),) = body.items()
            strict(words, "query", needs=("query",))
            return self.bm25(held, field, words["query"])
        if kind == "knn" and self.kind == "opensearch":
            ((field, near),) = body.items()
            strict(near, "vector", "k", "method_parameters", "filter", needs=("vector", "k"))
            strict(near["method_parameters"], "ef_search")
            space = held["mappings"]["properties"][field]["method"]["space_type"]
            left = self.left(held, [near["filter"]] if "filter" in near else [])
            return [pair for pair in self.nearest(held, field, near["vector"], space) if pair[0] in left][
                : near["k"]
            ]
        if kind == "script_score":
            strict(body, "query", "script", needs=("query", "script"))
            return self.scripted(held, body["query"], body["script"])
        raise RefusedError(400, "parsing_exception", f"unknown query [{kind}]")

    def near(self, held, body):
        keys = ("field", "query_vector", "k", "num_candidates", "filter")
        strict(body, *keys, needs=("field", "query_vector", "k"))
        if not body["k"] <= body["num_candidates"] <= 10_000:
            raise RefusedError(400, "illegal_argument_exception", "[num_candidates] cannot be less than [k]")
        similarity = held["mappings"]["properties"][body["field"]]["similarity"]
        ranked = self.nearest(held, body["field"], body["query_vector"], similarity)
        left = self.left(held, body.get("filter", []))
        return [pair for pair in ranked if pair[0] in left][: body["k"]]

    def left(self, held, filters):
        keys = {*held["rows"]}
        return keys.intersection(*({key for key, _ in self.ranked(held, each)} for each in filters))

    def nearest(self, held, field, vector, rule):
        size = _dimension(held["mappings"]["properties"][field])
        if len(vector) != size:
            raise RefusedError(
                400, "illegal_argument_exception", f"different dimension [{len(vector)}] than [{size}]"
            )
        rows = {key: row[field] for key, row in held["rows"].items() if row.get(field) is not None}
        return _best({key: _scored(rule, vector, stored) for key, stored in rows.items()})

    def scripted(self, held, query, script):
        rows = [(key, held["rows"][key]) for key, _ in self.ranked(held, query)]
        if self.kind == "opensearch":
            strict(script, "lang", "source", "params", needs=("lang", "source", "params"))
            assert (script["lang"], script["source"]) == ("knn", "knn_score")
            strict(script["params"], "field", "query_value", "space_type")
            p = script["params"]
            space = "script_cosine" if p["space_type"] == "cosinesimil" else p["space_type"]
            return _best({key: _scored(space, p["query_value"], row[p["field"]]) for key, row in rows})
        strict(script, "source", "params")
        return _best({key: _painless(script, row) for key, row in rows})

    def bm25(self, held, field, text):
        properties = held["mappings"]["properties"]
        if field not in properties:
            return []
        analyser = properties[field].get("analyzer", "standard")
        rule = held.get("settings", {}).get("index", {}).get("similarity", {}).get("default", {})
        k1, b = rule.get("k1", 1.2), rule.get("b", 0.75)
        terms = {key: Counter(_terms(row.get(field, ""), analyser)) for key, row in held["rows"].items()}
        mean = sum(counts.total() for counts in terms.values()) / max(1, len(terms))
        scores = Counter()
        for term in _terms(text, analyser):
            holders = [key for key, counts in terms.items() if term in counts]
            idf = math.log(1 + (len(terms) - len(holders) + 0.5) / (len(holders) + 0.5))
            for key in holders:
                times = terms[key][term]
                scores[key] += idf * times / (times + k1 * (1 - b + b * terms[key].total() / mean))
        return _best(scores)

    def hybrid(self, held, body):
        (processor,) = body["search_pipeline"]["phase_results_processors"]
        rule = processor["score-ranker-processor"]["combination"]
        assert rule["technique"] == "rrf"
        sides = [self.ranked(held, query) for query in body["query"]["hybrid"]["queries"]]
        return _fused([side[: body["size"]] for side in sides], rule["rank_constant"])

    def retrieved(self, held, body):
        strict(body, "rrf")
        strict(body["rrf"], "retrievers", "rank_constant", "rank_window_size")
        sides = []
        for side in body["rrf"]["retrievers"]:
            ((kind, inner),) = side.items()
            sides.append(self.near(held, inner) if kind == "knn" else self.ranked(held, inner["query"]))
        window = body["rrf"]["rank_window_size"]
        return _fused([side[:window] for side in sides], body["rrf"]["rank_constant"])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def _answer(self):
        text = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        self.store.requests.append((self.command, self.path, self.headers.get("authorization")))
        status = 200
        try:
            if self.store.authorization not in (None, self.headers.get("authorization")):
                raise RefusedError(401, "security_exception", "missing authentication credentials")
            answer = self.store.answer(self.command, self.path, text, self.headers.get("content-type"))
        except RefusedError as refused:
            status, answer = refused.status, {"error": {"type": refused.kind, "reason": refused.reason}}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815 - as http.server calls them

    def log_message(self, *_):
        pass


def _under(row, field):
    for key in field.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _term(kind, value):
    """A value as a field of its type holds it; both read numbers and truth from text as well."""
    words = json.dumps(value) if isinstance(value, bool) else str(value)
    if kind == "boolean" and words not in ("true", "false"):
        raise RefusedError(400, "query_shard_exception", f"Can't parse boolean value [{words}]")
    if kind not in _NUMBERS:
        return words
    try:
        number = float(words)
    except ValueError:
        raise RefusedError(400, "query_shard_exception", f'For input string: "{words}"') from None
    return number if kind == "long" else float(np.float32(number))


def _values(kind, stored):
    """The values of a field of a row: several where it holds a list."""
    several = stored if isinstance(stored, list) else [stored]
    return {_term(kind, value) for value in several if value is not None}


def _dimension(field):
    return field.get("dims", field.get("dimension"))


def _best(scores):
    return sorted(scores.items(), key=lambda pair: -pair[1])


def _fused(sides, constant):
    scores = Counter()
    for side in sides:
        for rank, (key, _) in enumerate(side, start=1):
            scores[key] += 1 / (constant + rank)
    return _best(scores)


def _terms(text, analyser):
    words = re.findall(r"\w+", text.lower())
    if analyser != "english":
        return words
    return [word.rstrip("s") for word in words if word not in STOP]


def _scored(rule, vector, stored):
    """As both document it: positive, and the higher the nearer."""
    first, second = np.array(vector, dtype=np.float32), np.array(stored, dtype=np.float32)
    product = float(first @ second)
    if rule in ("cosine", "cosinesimil", "script_cosine"):
        cosine = product / float(np.linalg.norm(first) * np.linalg.norm(second))
        return 1 + cosine if rule == "script_cosine" else (1 + cosine) / 2
    if rule in ("l2", "l2_norm"):
        return 1 / (1 + float(((first - second) ** 2).sum()))
    if rule == "dot_product":
        return (1 + product) / 2
    return product + 1 if product >= 0 else 1 / (1 - product)


def _painless(script, row):
    """Enough of Painless for one expression, or one variable and what is returned."""
    vector = np.array(script["params"]["v"], dtype=np.float32)

    def stored(field):
        return np.array(row[field], dtype=np.float32)

    names = {
        "params": SimpleNamespace(v=vector),
        "cosineSimilarity": lambda v, field: float(
            v @ stored(field) / np.linalg.norm(v) / np.linalg.norm(stored(field))
        ),
        "l2norm": lambda v, field: float(np.linalg.norm(v - stored(field))),
        "dotProduct": lambda v, field: float(v @ stored(field)),
    }
    source = script["source"]
    if variable := re.fullmatch(r"double (\w) = (.+?); return (.+)", source):
        names[variable[1]] = eval(variable[2], {}, names)
        source = variable[3]
    if choice := re.fullmatch(r"(.+) \? (.+) : (.+)", source):
        source = choice[2] if eval(choice[1], {}, names) else choice[3]
    return eval(source, {}, names)
