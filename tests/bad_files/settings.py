"""The YAML of a benchmark, and the tables, lists and prompts that it names."""

from tests.bad_files.benchmark import BENCH, SMALL, VALIDATE, bench, renamed
from tests.bad_files.kind import Kind, with_line

JUDGE = (
    "relevance: {judge: llm, prompt: own.yaml, endpoint: {model: m, base_url: 'http://127.0.0.1:9/v1', "
    "api_key_env: null}}\n"
)
CONTEXT = "context: {kind: fields, file: facts.csv, template: 'By {maker}.'}\n"
FILTER = "filter: {kind: rules, file: facts.csv, fields: [maker], years: [year], aliases: aliases.csv}\n"
FACTS = "document,maker,year\nengines,Watt,2018\n"
ALIASES = "field,value,alias\nmaker,Watt,James\n"
PROMPT = "language: en\nanswer: grade\nsystem: Grade.\nuser: '{{ query }} {{ passages }}'\n"


def priced(keys):
    """The YAML with further keys of a judge."""
    return BENCH + JUDGE.replace("prompt: own.yaml", keys)


KINDS = {
    "configuration": Kind("bench.yaml", VALIDATE, SMALL),
    "table of contexts": Kind("facts.csv", VALIDATE, bench(CONTEXT) | {"facts.csv": FACTS}),
    "table of a filter": Kind(
        "facts.csv", VALIDATE, bench(FILTER) | {"facts.csv": FACTS, "aliases.csv": ALIASES}
    ),
    "aliases": Kind("aliases.csv", VALIDATE, bench(FILTER) | {"facts.csv": FACTS, "aliases.csv": ALIASES}),
    "synonyms": Kind(
        "synonyms.txt",
        VALIDATE,
        bench()
        | renamed("kind: bm25", "kind: bm25, synonyms: synonyms.txt")
        | {"synonyms.txt": "pump, feeder\n"},
        fine=("empty", "only a header", "NUL bytes"),
    ),
    "prompt": Kind("own.yaml", VALIDATE, bench(JUDGE) | {"own.yaml": PROMPT}),
}

ROWS = {
    "configuration": [
        ("damaged YAML", BENCH + "measures: [ndcg_exp@10\n", 8),
        ("a list in place of a mapping", "- name: small\n", 1),
        ("unknown chunker", ("kind: recursive", "kind: recursiv"), 5),
        ("depth of 0", ("top_k: 10", "top_k: 0"), 6),
        ("a text in place of a list", BENCH + "answer_measures: exact_match\n", 7),
        ("judge without an endpoint", BENCH + "relevance: {judge: llm}\n", 7),
        ("price below 0", priced("prices: {m: {input: -1, output: 1}}"), 7),
        ("price in words", priced("prices: {m: {input: free, output: 1}}"), 7),
        ("half a price", priced("prices: {m: {input: 1}}"), 7),
        ("prices in a list", priced("prices: [1, 2]"), 7),
        ("limit without a price", priced("max_cost: 1"), 7),
        ("unknown split", BENCH + "split: {by: chance}\n", 7),
        ("context without its table", BENCH + "context: {kind: fields, template: 'By {maker}.'}\n", 7),
    ],
    "table of contexts": [
        ("document without a row", ("engines,", "turbines,"), "a row or value is missing"),
        ("value missing", ("Watt", ""), "a row or value is missing"),
        ("document twice", with_line(FACTS, "engines.txt,Otto,2019"), 3),
        ("missing column", ("maker", "builder"), "'maker'"),
    ],
    "table of a filter": [
        ("document without a row", ("engines,", "turbines,"), "a row or value is missing"),
        ("year in words", ("2018", "long ago"), "a row or value is missing"),
        ("document twice", with_line(FACTS, "engines,Otto,2019"), 3),
    ],
    "aliases": [("no field of the filter", ("maker", "marker"), "has aliases of marker")],
    "prompt": [
        ("missing slot", (" {{ passages }}", ""), 7),
        (
            "slot in the wrong part",
            PROMPT.replace(" {{ passages }}", "").replace("Grade.", "'{{ passages }}'"),
            7,
        ),
        ("unknown slot", ("{{ query }}", "{{ query }} {{ colour }}"), 7),
        ("unknown form of an answer", ("answer: grade", "answer: grades"), 7),
        ("unknown key", with_line(PROMPT, "colour: red"), 7),
        ("no user part", ("user:", "users:"), 7),
        ("wrong type", ("Grade.", "[Grade]"), 7),
        ("damaged YAML", with_line(PROMPT, "id: [own"), 7),
    ],
}
