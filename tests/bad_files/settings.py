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
AT = "bench.yaml:7: relevance.prompt: "


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
        {
            "missing": "bench.yaml:6: retrieve: synonyms: {file} cannot be read (No such … Correct",
            "a folder": "bench.yaml:6: retrieve: synonyms: {file}: is a folder, not a file. Write",
            "not UTF-8": "bench.yaml:6: retrieve: synonyms: {file} is not UTF-8 (offset 1). Save it as UTF-8",
            **dict.fromkeys(("empty", "only a header", "NUL bytes"), ""),
        },
    ),
    "prompt": Kind(
        "own.yaml",
        VALIDATE,
        bench(JUDGE) | {"own.yaml": PROMPT},
        {
            "missing": AT + "The prompt '{file}' of a judge cannot be read (No such file … or give the path",
            "a folder": AT + "The prompt of a judge: {file}: is a folder, not a file. Write",
            "empty": AT + "The prompt file {file} is not a mapping of fields such as `user: …",
            "only a header": AT + "The prompt file {file} cannot be used: user: Field required. Correct it",
            "not UTF-8": AT + "The prompt file {file} cannot be read: … continuation byte … Save it as UTF-8",
            "NUL bytes": AT
            + "The prompt file {file} cannot be read: unacceptable character #x0000 … Save it",
        },
    ),
}

ROWS = {
    "configuration": [
        (
            "damaged YAML",
            BENCH + "measures: [ndcg_exp@10\n",
            "{file}:8: this is not valid YAML: expected ',' or ']', but got '<stream end>'. Correct it.",
        ),
        ("a key twice", BENCH + "name: again\n", "{file}:7: name is given twice. Remove one."),
        (
            "unknown key",
            ("queries:", "queris:"),
            "{file}:3: queris: there is no such key; did you mean queries?",
        ),
        (
            "missing key",
            ("queries: queries.csv\n", ""),
            "{file}:1: queries: this key is missing; docs/configuration.md describes it.",
        ),
        (
            "null in place of a value",
            ("queries.csv", "null"),
            "{file}:3: queries: its value is missing; docs/configuration.md describes this key.",
        ),
        (
            "a list in place of a mapping",
            "- name: small\n",
            "{file}:1: a configuration is a mapping of keys to values, such as `name: quickstart`.",
        ),
        (
            "unknown chunker",
            ("kind: recursive", "kind: recursiv"),
            "{file}:5: chunk: there is no kind 'recursiv'. Known kinds: langchain, markdown, page,",
        ),
        (
            "size of chunks that is no number",
            ("chunk_size: 40", "chunk_size: many"),
            "{file}:5: chunk.chunk_size: Input should be a valid integer, unable to parse string as",
        ),
        (
            "overlap as large as the chunk",
            ("chunk_size: 40", "chunk_size: 40, chunk_overlap: 40"),
            "{file}:5: chunk.chunk_overlap: chunk_overlap (40) must be smaller than chunk_size (40)",
        ),
        (
            "unknown key of a retriever",
            ("top_k: 10", "topk: 10"),
            "{file}:6: retrieve.topk: there is no such key; did you mean top_k?",
        ),
        (
            "depth of 0",
            ("top_k: 10", "top_k: 0"),
            "{file}:6: retrieve.top_k: Input should be greater than or equal to 1 (it is 0).",
        ),
        (
            "reranker deeper than the retriever",
            BENCH + "rerank: {kind: cross_encoder, model: any, top_n: 50}\n",
            "{file}:7: rerank.top_n: the reranker scores 50 chunks (rerank.top_n) but only 10 are",
        ),
        (
            "unknown measure",
            BENCH + "measures: [ndgc_exp@10]\n",
            "{file}:7: measures: there is no measure 'ndgc_exp@10'. Did you mean ndcg_exp or",
        ),
        (
            "a text in place of a list",
            BENCH + "answer_measures: exact_match\n",
            "{file}:7: answer_measures: Input should be a list (it is 'exact_match').",
        ),
        (
            "unknown judge",
            BENCH + "relevance: {judge: lm}\n",
            "{file}:7: relevance.judge: there is no kind 'lm'. Known kinds: cosine, graph, labels,",
        ),
        (
            "judge without an endpoint",
            BENCH + "relevance: {judge: llm}\n",
            "{file}:7: relevance.endpoint: this key is missing; docs/configuration.md describes it.",
        ),
        (
            "price below 0",
            priced("prices: {m: {input: -1, output: 1}}"),
            "{file}:7: relevance.prices.m.input: Input should be greater than or equal to 0 (it is -1).",
        ),
        (
            "price in words",
            priced("prices: {m: {input: free, output: 1}}"),
            "{file}:7: relevance.prices.m.input: Input should be a valid number, unable to parse",
        ),
        (
            "half a price",
            priced("prices: {m: {input: 1}}"),
            "{file}:7: relevance.prices.m.output: this key is missing; docs/configuration.md describes it.",
        ),
        (
            "prices in a list",
            priced("prices: [1, 2]"),
            "{file}:7: relevance.prices: Input should be a valid dictionary.",
        ),
        (
            "limit without a price",
            priced("max_cost: 1"),
            "{file}:7: relevance: max_cost needs the price of 'm' in prices: without it the cost",
        ),
        (
            "unknown split",
            BENCH + "split: {by: chance}\n",
            "{file}:7: split.by: Input should be 'hash' (it is 'chance').",
        ),
        (
            "context without its table",
            BENCH + "context: {kind: fields, template: 'By {maker}.'}\n",
            "{file}:7: context.file: this key is missing; docs/configuration.md describes it.",
        ),
        (
            "two settings alike",
            BENCH.replace("top_k: 10", "top_k: [10, 10]"),
            "{file}: two settings of the sweep are the same: base. Remove one.",
        ),
    ],
    "table of contexts": [
        (
            "document without a row",
            ("engines,", "turbines,"),
            "{file}: a row or value is missing for 1 of 1 documents: engines. Add them, or set",
        ),
        (
            "value missing",
            ("Watt", ""),
            "{file}: a row or value is missing for 1 of 1 documents: engines (maker). Add them, or",
        ),
        (
            "document twice",
            with_line(FACTS, "engines.txt,Otto,2019"),
            "{file}, line 3: document 'engines.txt' occurs twice. Remove one row.",
        ),
        (
            "missing column",
            ("maker", "builder"),
            "{file}: there is no column 'maker'. The columns are: document, builder, year. Add",
        ),
    ],
    "table of a filter": [
        (
            "document without a row",
            ("engines,", "turbines,"),
            "{file}: a row or value is missing for 1 of 1 documents: engines. Add them, or set",
        ),
        (
            "year in words",
            ("2018", "long ago"),
            "{file}: a row or value is missing for 1 of 1 documents: engines (year). Add them, or",
        ),
        (
            "document twice",
            with_line(FACTS, "engines,Otto,2019"),
            "{file}, line 3: document 'engines' occurs twice. Remove one row.",
        ),
    ],
    "aliases": [
        (
            "no field of the filter",
            ("maker", "marker"),
            "{file}: has aliases of marker, and none of this filter's fields (maker). Correct its",
        )
    ],
    "prompt": [
        (
            "missing slot",
            (" {{ passages }}", ""),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml has no {{ passages }}; a judge",
        ),
        (
            "slot in the wrong part",
            PROMPT.replace(" {{ passages }}", "").replace("Grade.", "'{{ passages }}'"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml has no {{ passages }} in its",
        ),
        (
            "unknown slot",
            ("{{ query }}", "{{ query }} {{ colour }}"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml has {{ colour }}, which a",
        ),
        (
            "unknown form of an answer",
            ("answer: grade", "answer: grades"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml cannot be used: answer: Input",
        ),
        (
            "unknown key",
            with_line(PROMPT, "colour: red"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml cannot be used: colour: Extra",
        ),
        (
            "no user part",
            ("user:", "users:"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml cannot be used: user: Field",
        ),
        (
            "wrong type",
            ("Grade.", "[Grade]"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml cannot be used: system: Input",
        ),
        (
            "damaged YAML",
            with_line(PROMPT, "id: [own"),
            "bench.yaml:7: relevance.prompt: The prompt file own.yaml cannot be read: line 6:",
        ),
    ],
}
