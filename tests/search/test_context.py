"""The text indexed around a chunk: every kind, alone and together, and that it is never read."""

import json
from typing import ClassVar

import numpy as np
import pytest

from harness.running import Met
from harness.steps import CONTEXTS, Cells, ContextText, Talked
from harness.values import (
    Chunk,
    ConfigError,
    Document,
    Silent,
    markdown_headings,
    numbered_headings,
    sentence_spans,
)
from tests.command import bench, table
from tests.judge.helpers import answer_of
from tests.search.helpers import Given, chunked, rerank_lists, searched

GUIDE = """# The yard

The yard holds 4,200 vehicles. It was paved in 2019.

## Loading

Three ships call. A crane failed in March. It took nine days.

### Papers

Customs papers go first.

## Staff

Forty people work there."""


class Library:
    """Two documents and one table, as a run would lend them."""

    documents: ClassVar = {
        "yard-guide_2024": Document("yard-guide_2024", GUIDE, (), ""),
        "note": Document("note", "\n 2024 \n\nRain fell on the harbour.", (), ""),
    }
    cells: ClassVar = {
        "yard-guide_2024": {"site": "Bremerton", "year": "2024"},
        "note": {"site": "", "year": "2023"},
    }

    def document(self, doc_id):
        return self.documents[doc_id]

    def sentences(self, doc_id):
        return np.array(sentence_spans(self.documents[doc_id].text), dtype=np.int64).reshape(-1, 2)

    def headings(self, doc_id, style):
        find = {"markdown": markdown_headings, "numbered": numbered_headings}[style]
        return list(find(self.documents[doc_id].text))


class Asked(Given):
    """Has the cells of a table, and a model that says how long the chunk is."""

    def give(self, wanted):
        return Library.cells if isinstance(wanted.need, Cells) else None

    def meet(self, wanted):
        return [Met(lambda one=one: list(self.talks(one.need.request))) for one in wanted]

    def talks(self, request):
        for _, (excerpt, chunk) in request.about:
            said = answer_of(f"It has {len(chunk)} characters.", (excerpt, chunk), request.form.sha256)
            yield Talked((said,), None)


def chunk_at(text, doc_id="yard-guide_2024"):
    document = Library.documents[doc_id]
    start = document.text.index(text)
    return Chunk.of(document, start, start + len(text))


def around(kind, chunks, **fields):
    config = CONTEXTS[kind].config(**fields)
    return Asked().run(CONTEXTS.make(config).run(chunks, Library()))


LEAST = {
    "fields": {"file": "documents.csv", "template": "{year}"},
    "llm": {"endpoint": {"model": "fake"}},
}


@pytest.mark.parametrize("kind", CONTEXTS)
def test_every_kind_answers_for_every_chunk_in_order_and_by_the_chunk_alone(kind):
    chunks = [chunk_at("Rain fell", "note"), chunk_at("Three ships call."), chunk_at("It took nine days.")]
    found = around(kind, chunks, **LEAST.get(kind, {}))
    assert len(found) == 3
    assert all(isinstance(one, ContextText) for one in found)
    assert around(kind, chunks[::-1], **LEAST.get(kind, {})) == found[::-1]
    assert around(kind, chunks[1:2], **LEAST.get(kind, {})) == found[1:2]
    assert around(kind, [], **LEAST.get(kind, {})) == []
    # something is said of a chunk in the middle of a section
    assert found[1].before.strip()


@pytest.mark.parametrize(
    ("show", "guide", "note"),
    [
        ("title", "The yard\n", "Rain fell on the harbour.\n"),
        ("name", "yard guide 2024\n", "note\n"),
        ("name_and_title", "yard guide 2024: The yard\n", "note: Rain fell on the harbour.\n"),
    ],
)
def test_document_says_the_title_or_the_name(show, guide, note):
    chunks = [chunk_at("Three ships call."), chunk_at("Rain fell", "note")]
    assert around("document", chunks, show=show) == [ContextText(guide), ContextText(note)]
    cut = around("document", chunks, show="title", longest=5)
    assert cut == [ContextText("The y\n"), ContextText("Rain\n")]


def test_fields_fill_the_template_and_list_what_is_missing():
    chunks = [chunk_at("Three ships call."), chunk_at("Rain fell", "note")]
    config = {"file": "documents.csv", "template": "{site}, {year}:"}
    with pytest.raises(ConfigError, match=r"documents\.csv: .* for 1 of 2 documents: note \(site\)"):
        around("fields", chunks, **config)
    left = around("fields", chunks, on_missing="leave_out", **config)
    assert left == [ContextText("Bremerton, 2024:\n"), ContextText()]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("The yard holds", "The yard"),
        ("Three ships call.", "The yard > Loading"),
        ("Customs papers", "The yard > Loading > Papers"),
        # a new section of the second level ends the two before it
        ("Forty people", "The yard > Staff"),
        # the heading that a chunk begins with is in the chunk, and those of its level are over
        ("## Staff\n\nForty", "The yard"),
        ("\n\n## Staff\n\nForty", "The yard"),
        ("Staff\n\nForty", "The yard > Staff"),
        ("# The yard", ""),
    ],
)
def test_headings_are_those_in_force_where_the_chunk_begins(text, titles):
    (found,) = around("headings", [chunk_at(text)])
    assert found == (ContextText(f"{titles}\n") if titles else ContextText())
    (lowest,) = around("headings", [chunk_at(text)], levels=2, separator=" / ")
    assert lowest.before.strip() == " / ".join(titles.split(" > ")[-2:])


def test_markdown_titles_are_clean():
    text = "Title\nof two lines\n===\n\n## Closed ##\n\n```\n# code\n```\n\n#hashtag\n\n###\n"
    found = [(one.level, one.title) for one in markdown_headings(text)]
    assert found == [(1, "Title of two lines"), (2, "Closed"), (3, "")]


def test_numbered_headings_of_a_filing():
    text = (
        "PART II\nItem 7. Management's Discussion 45\nItem 7A. Quantitative Disclosures\n"
        "Item 7 of this report describes them,\nNote 12 to the statements\nNote 12 – Leases\n2.1 Scope\n"
        "In 2.1 million cases\n12.5 per cent\nITEM 8.\n第三章 总则\n第二节 会计政策\n"
        "3.1.2 Rates were lower.\n"
    )
    found = [(one.level, one.title) for one in numbered_headings(text)]
    assert found == [
        (1, "PART II"),
        (2, "Item 7A. Quantitative Disclosures"),
        (3, "Note 12 – Leases"),
        (3, "2.1 Scope"),
        (2, "ITEM 8."),
        (2, "第三章 总则"),
        (3, "第二节 会计政策"),
    ]
    assert [text[one.start :].split("\n")[0] for one in numbered_headings(text)] == [t for _, t in found]


@pytest.mark.parametrize(
    ("text", "fields", "before", "after"),
    [
        ("A crane failed in March.", {}, "Three ships call. ", " It took nine days."),
        ("A crane failed in March.", {"side": "before"}, "Three ships call. ", ""),
        ("A crane failed in March.", {"side": "after"}, "", " It took nine days."),
        # a sentence that a border cuts counts as one
        ("crane failed", {}, "A ", " in March."),
        ("A crane", {"amount": 2, "side": "after"}, "", " failed in March. It took nine days."),
        ("A crane", {"amount": 4, "unit": "characters"}, "all. ", " fai"),
        ("# The yard", {"amount": 9, "unit": "characters"}, "", "\n\nThe yar"),
    ],
)
def test_neighbours_are_slices_of_the_document_next_to_the_chunk(text, fields, before, after):
    chunk = chunk_at(text)
    (found,) = around("neighbours", [chunk], **fields)
    assert found == ContextText(before if fields.get("unit") != "characters" else found.before, after)
    assert GUIDE[: chunk.start].endswith(found.before)
    assert GUIDE[chunk.end :].startswith(found.after)
    assert len(found.before) <= len(before) or before == found.before
    first, last = chunk_at("# The yard"), chunk_at("Forty people work there.")
    found = around("neighbours", [first, last], amount=100)
    assert [found[0].before, found[1].after] == ["", ""]
    assert found[0](first.text) == found[1](last.text) == GUIDE


# --- in a run ---

TABLE = (
    "document,company,year\n"
    "engines.txt,Tamarack,2023\npeople,Orchard,2024\nharbour,Bremerton,2024\nother,X,1\n"
)
FIELDS = '{kind: fields, file: FOLDER/documents.csv, template: "{company} {year}"}'


@pytest.fixture
def config_of(write_config, corpus):
    def write(context, **sections):
        (corpus / "documents.csv").write_text(TABLE, encoding="utf-8")
        more = sections.pop("more", "") + f"\ncontext: {context.replace('FOLDER', str(corpus))}"
        return write_config(chunk="{kind: recursive, chunk_size: 90}", more=more, **sections)

    return write


def test_settings_share_their_chunks_and_differ_in_what_is_indexed(config_of):
    found, *_ = searched(config_of(f"[null, {FIELDS}, [{FIELDS}, {{kind: neighbours}}]]"))
    plain, fields, both = (one.chunking for one in found)
    assert [one.setting.name for one in found] == ["context=none", "fields", "fields neighbours"]
    assert plain.chunks == fields.chunks == both.chunks
    assert plain.key == fields.key == both.key
    assert len({one.passages.key for one in (plain, fields, both)}) == 3
    assert plain.passages.ids == both.passages.ids
    assert plain.passages.lengths == both.passages.lengths
    assert plain.passages.texts == tuple(chunk.text for chunk in plain.chunks)
    for chunk, one, two in zip(plain.chunks, fields.passages.texts, both.passages.texts, strict=True):
        company = {"engines": "Tamarack 2023", "people": "Orchard 2024", "harbour": "Bremerton 2024"}
        assert one == f"{company[chunk.doc_id]}\n{chunk.text}"
        assert two.startswith(company[chunk.doc_id] + "\n")
        assert chunk.text in two
        assert len(two) > len(one)
    assert plain.index_tokens < fields.index_tokens < both.index_tokens


def test_a_reranker_reads_the_context_unless_told_not_to(config_of):
    rerank = "[{kind: late_interaction, reads_context: true}, {kind: late_interaction, reads_context: false}]"
    (with_it, without), corpus, context = searched(config_of(FIELDS, rerank=rerank))
    queries = corpus.queries.queries
    assert (with_it.setting.name, without.setting.name) == ("reads_context=True", "reads_context=False")
    texts = {chunk.text for chunk in without.chunking.chunks}
    assert {text for _, *passages in rerank_lists(without, 0, queries) for text in passages} <= texts
    assert not {text for _, *passages in rerank_lists(with_it, 0, queries) for text in passages} & texts
    assert context.models.reranker(with_it.setting.rerank[0]) is context.models.reranker(
        without.setting.rerank[0]
    )


def test_what_is_scored_shown_and_exported_has_no_context_in_it(config_of):
    path = config_of(f"[null, {FIELDS}]", more="measures: [ndcg_exp@3, ndcg_text@300, tokens@3]")
    results, folder = bench(path)
    plain, fields = "context=none", "fields"
    assert results.qrels[plain].rows == results.qrels[fields].rows
    text = {row.chunk_id: row.text for row in results.ranked if row.setting == plain}
    shown = [row for row in results.ranked if row.setting == fields]
    assert {row.chunk_id for row in shown} & text.keys()
    assert all(row.text == text.get(row.chunk_id, row.text) for row in shown)
    for file in ("rankings.csv", "passages.csv"):
        assert "Orchard 2024" not in (folder / file).read_text(encoding="utf-8")
    prices = {(row["setting"], row["stage"]): row for row in table(folder / "prices.csv")}
    assert int(prices[fields, "rerank"]["index_tokens"]) > int(prices[plain, "rerank"]["index_tokens"])
    assert int(prices[fields, "rerank"]["rerank_tokens"]) > int(prices[plain, "rerank"]["rerank_tokens"])
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    assert record["counts"]["settings"][fields]["tokens"] == record["counts"]["settings"][plain]["tokens"]
    assert any(name.endswith("documents.csv") for name in record["hashes"])


def test_a_chunk_that_its_context_makes_too_long_is_warned_of(config_of):
    reporter = Silent()
    chunking, _ = chunked(config_of(FIELDS.replace("{company}", "{company} " * 300)), reporter)
    assert [text for text in reporter.warnings if "longer with their context than the 256 tokens" in text]
    assert chunking.health["overlong"] == 0
    assert chunking.health["overlong_with_context"] == len(chunking.chunks)
    assert chunking.index_tokens == 256 * len(chunking.chunks)
