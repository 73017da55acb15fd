"""Whatever reads foreign text takes time in proportion to it: eight times as long for eight times the text.

Processor time without collections of garbage, which grow with what other tests have left, and of the fastest
of many runs where a first look leaves doubt, so that a busy machine changes nothing. `READERS` has every
reader; a new one has to be added, or named in `NOT_READERS` with the reason.
"""

import ast
import gc
import json
import re
import threading
import time
from collections import Counter
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from harness import values
from harness.data import (
    SplitConfig,
    place_hits,
    read_answers,
    read_hits,
    read_qrels,
    read_queries,
    read_run,
    read_traces,
)
from harness.data import read_json as read_json_file
from harness.data.corpus import align, anchoring, document_files, extraction, input_table
from harness.data.corpus.web import read_web
from harness.data.external.traces import recorded
from harness.judge import attacks, parsing
from harness.labels.label_page import serve
from harness.labels.labelling import finding, grading_sheet, label_rows
from harness.labels.scaffold import config_text
from harness.labels.testset import choosing
from harness.labels.testset.propose.many import questions_in
from harness.labels.testset.propose.question_lists import read_user_questions
from harness.measures.answer import responses, similarity
from harness.models.llm import (
    announcements,
    completion,
    faults,
    http_client,
    money,
    notation,
    reply,
    untrusted,
)
from harness.models.llm.openai_client import typed
from harness.running.hits.scoring_of_hits import under_own_name
from harness.steps.chunk import health, markdown
from harness.values.text import characters, headings, records, sentence_ends, spans

ROOMS = ("data", "judge", "models/llm", "labels", "running/hits", "values/text")
HARNESS = Path(values.__file__).parents[1]
MOST = 8_000
"""Characters of the longest text that is tried."""
MEASURABLE = 0.0025
"""Seconds: what takes less for the longest text is fast enough whatever it does, and too short to measure."""
PAUSES = (0, 0, 0, 0.1, 0.1, 0.3, 0.3, 1, 1, 3)
"""Seconds between the times that are taken of a reader in doubt: what keeps a machine busy may last."""
SECRET = http_client.Secret("sk-abcdefghijklmnop123456")


def document(content):
    return values.Document("d", content, (), values.text_sha256(content))


# by the function that reads: how it is called with one text
READERS = {
    "whitespace_free": align.whitespace_free,
    "folded": align.folded,
    "is_same_text": lambda t: align.is_same_text(t, t + "a"),
    "seeds": align.seeds,
    "document_id": document_files.document_id,
    "possible_ids": document_files.possible_ids,
    "mark_of": input_table.mark_of,
    "plain_cell": input_table.plain_cell,
    "count_odd": extraction.count_odd,
    "without_surrogates": extraction.without_surrogates,
    "answer_span": lambda t: anchoring.answer_span(t[:50], document(t), 0, len(t)),
    "find_injection": attacks.find_injection,
    "parse_grade": lambda t: parsing.parse_grade(t, 4),
    "parse_labelled": lambda t: parsing.parse_labelled(t, 3, 4),
    "parse_plain": lambda t: parsing.parse_plain(t, 3, 4),
    "parse_final_score": lambda t: parsing.parse_final_score(t, 3),
    "announces": announcements.announces,
    "in_json": notation.in_json,
    "after_thoughts": reply.after_thoughts,
    "reply_in": reply.reply_in,
    "value_in": reply.value_in,
    "json_in": lambda t: reply.json_in(t, "["),
    "object_in": lambda t: reply.object_in(t, ("a",)),
    "first_object_in": reply.first_object_in,
    "number_in": reply.number_in,
    "list_in": reply.list_in,
    "fields_named": reply.fields_named,
    "failure_in": lambda t: completion.failure_in(typed(ChatCompletion, {"status": t, t: t})),
    "read_error": lambda t: faults.read_error({"error": {"message": t}}),
    "read_body": lambda t: faults.read_body(t.encode("utf-8", "replace")),
    "one_line": faults.one_line,
    "classify_status": lambda t: faults.classify_status(400, faults.ErrorBody(t), {"retry-after": t}),
    "retry_after": lambda t: faults.retry_after({"retry-after": t}),
    "cut": SECRET.cut,
    "estimate_tokens": money.estimate_tokens,
    "read_json": untrusted.read_json,
    "read_json_at": lambda t: untrusted.read_json_at(t, 0),
    "is_heading": finding.is_heading,
    "places_of": lambda t: finding.places_of("the zz", [document(t)]),
    "is_passage": lambda t: grading_sheet.is_passage(t, t + "a"),
    "quote_of": label_rows.quote_of,
    "spreadsheet_safe": label_rows.spreadsheet_safe,
    "tables_in": config_text.tables_in,
    "terms_of": choosing.terms_of,
    "questions_in": questions_in,
    "same_figures": lambda t: choosing.same_figures(t, t),
    "copied": lambda t: choosing.copied(t, t),
    "encodable": characters.encodable,
    "width": characters.width,
    "on_one_line": characters.on_one_line,
    "snippet": lambda t: characters.snippet(t, 200),
    "wrapped": lambda t: characters.wrapped(t, 80),
    "outside_latin": characters.outside_latin,
    "main_script": characters.main_script,
    "printable": characters.printable,
    "printable_lines": characters.printable_lines,
    "without_controls": characters.without_controls,
    "markdown_headings": headings.markdown_headings,
    "numbered_headings": headings.numbered_headings,
    "records_of": lambda t: records.records_of(t, ",", 0, len(t)),
    "delimited": lambda t: records.delimited(t, 0, len(t)),
    "sentence_spans": sentence_ends.sentence_spans,
    "passage_spans": lambda t: sentence_ends.passage_spans(t, 200),
    "trim": lambda t: spans.trim(t, (0, len(t))),
    "table_spans": health.table_spans,
    "section_spans": lambda t: markdown.section_spans(t, 2),
    "words_of": similarity.words_of,
    "question_in": recorded.question_in,
    "answer_in": recorded.answer_in,
    "unpacked": recorded.unpacked,
    "passages_in": lambda t: recorded.passages_in(recorded.unpacked(t)),
    "refuses": lambda t: responses.refuses(t, ("cannot answer",)),
}
NOT_READERS = {
    "find_exact": "str.find and str.count",
    "codes": "one call of numpy",
    "grade_of": "a cell of some digits",
    "find_evidence": "places_of and passage_spans, then a search by BM25",
    "parse": "prompts of one's own, a few lines",
    "parsed": "object_in and on_one_line",
    "question": "given what parsed has read",
    "tidy": "trim of every span",
    "find": "documented as quote times text, within windows",
    "draw_page": "PDFium, in a process with a limit of time",
    "read_slides": "python-pptx, in a process with a limit of time",
    "read_word": "python-docx, in a process with a limit of time",
    "read_pages": "calls the parser for each page",
    "read_content_streams": "pypdf, in a process with a limit of time",
    "read_workbook": "openpyxl; a pass over the cells, tests/corpus/test_workbook.py",
    "read_again": "a parser, in a process with a limit of time",
    "read_xlsx": "read_workbook, then as read_csv",
    "read_utf8": "one decoding",
    "import_beir": "line by line, as JSON Lines",
    "import_ragas": "as read_json of a file",
    "laid_out": "read_json, then an expression of the user's own",
    "read_clusters": "read_table, as queries",
    "import_rgb": "line by line, as JSON Lines",
    "read_jsonl": "as queries.jsonl",
    "import_traces": "read_traces, then as import_ragas",
    "import_testset": "calls the readers of tables",
    "read_content": "prompts of one's own, a few lines",
    "read_pool": "read_rows, as queries",
    "read_rows": "read_table and rows_of, as queries",
    "read_table": "as queries",
    "read_csv": "as queries",
    "read_labels": "as queries; quotes are sought by align",
    "read_passage_labels": "as read_labels",
    "read_trec_run": "read_run calls it",
    "read_trec_qrels": "read_qrels calls it",
    "read_content_of": "prompts of one's own, a few lines",
}

# units that are repeated: what opened, began or might have been something
UNITS = (
    *(
        "the\n",
        " ",
        "\n ",
        "\t",
        "a",
        "A ",
        "中 ",
        "中\n ",
        "’ \n",
        "{",
        "[",
        '{"a":',
        '"',
        "(a ",
        "`",
        "<",
        "<a ",
    ),
    *(
        "1 ",
        "1,",
        "1.",
        ". ",
        "A.",
        "。」",
        "::a ",
        "#",
        "\n#",
        "- ",
        "|1 ",
        "grade ",
        "grade: 1 ",
        "final score ",
    ),
    *("scores: 1, ", "passage says ", "Item ", "\\", "\ud800", "\r"),
)
MORE_UNITS = (
    *(
        "the ",
        "my ",
        "\n",
        " \n\n",
        "é",
        '{"a":1} ',
        "(",
        "'",
        "```\n",
        "```a ",
        "<script",
        "<think>",
        "</think>",
    ),
    *(
        "&amp;",
        "12",
        "1 \t",
        "-1 ",
        ".",
        "a. ",
        "A.B.",
        "。",
        "中",
        "“",
        "’ ",
        ":",
        ":: ",
        "##\\w",
        "# ",
        "=",
        "= ",
    ),
    *(
        "* ",
        "\n- ",
        "|",
        "| a ",
        "grade",
        "grade: ",
        "grade: 1\n",
        "final score: ",
        "1, ",
        "}",
        "]",
        ",",
        ", ",
    ),
    *(
        "Item 1",
        "PART I ",
        "第一",
        "🙂",
        "\u200b",
        "AND ",
        "A\n",
        "AAA ",
        "  a",
        "$1 ",
        "$ ",
        "e9",
        "!",
        "! ",
        "?\n",
    ),
    *(
        "…",
        "\r\n",
        "\x1b",
        "\\u",
        '\\"',
        "{{ query }}",
        "ignore ",
        "if ",
        "</s>",
        "<|a|>",
        "relevance, ",
        "，",
    ),
    *("最终", "http://", "a@", "%20", "sk-", "\u00a0", "\u2028"),
)
BEFORE = ('{"a":"', "grade: 3 ", "\n", "(", "中")


def seconds(read, content):
    gc.disable()
    started = time.process_time()
    try:
        result = read(content)
        if hasattr(result, "__next__"):
            list(result)
    except (values.HarnessError, ValueError):
        pass
    finally:
        gc.enable()
    return time.process_time() - started


def refuse_worse_than_linear(read, of_size, most, name, pauses=PAUSES):
    """Refuse a reader that takes 24 times as long, or more, for eight times as much.

    The square takes 64 times as long, and what sorts about ten. Most are cleared by one look at a large and
    a small input. Where it leaves doubt, both are read again and again, and of each the fastest run so far
    counts: a busy machine only adds to a time, so that the more often it is taken the closer it comes to the
    truth, and one calm moment for either is enough. What a call takes for next to nothing is subtracted, as
    it would hide how the rest grows.
    """
    of_any = fastest(read, of_size(1))
    large = seconds(read, of_size(most)) - of_any
    if large < MEASURABLE or large < 16 * (fastest(read, of_size(most // 8)) - of_any):
        return
    size = most // 8
    while fastest(read, of_size(size)) - of_any < MEASURABLE:
        size *= 2
        if size > most:
            return
    least = {n: seconds(read, of_size(n)) for n in (1, size, 8 * size)}
    for pause in pauses:
        ratio = (least[8 * size] - least[1]) / max(least[size] - least[1], MEASURABLE / 2)
        if ratio < 24:
            return
        time.sleep(pause)
        least = {n: min(before, seconds(read, of_size(n))) for n, before in least.items()}
    raise AssertionError(f"{name}: eight times as much takes {ratio:.1f} times as long")


def fastest(read, content):
    """The seconds of the faster of two runs."""
    return min(seconds(read, content) for _ in range(2))


def repeated(unit, before=""):
    return lambda size: before + (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_takes_about_twice_the_time(name):
    for unit in UNITS:
        refuse_worse_than_linear(READERS[name], repeated(unit), MOST, f"{name} of {unit!r}")


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_twice_of_any_text_takes_about_twice_the_time(name):
    for before in ("", *BEFORE):
        for unit in chain(UNITS, MORE_UNITS):
            content = repeated(unit, before)
            most = (1 if before else 2) * MOST
            refuse_worse_than_linear(READERS[name], content, most, f"{name} of {before!r} and {unit!r}")


def after_work(read):
    """A reader that takes some milliseconds whatever it reads."""
    return lambda content: (sum(range(300_000)), read(content))[1]


def is_refused(read):
    """Whether it is, for reading blanks, as one whose time grows faster than its input."""
    try:
        refuse_worse_than_linear(read, repeated(" "), MOST, "a reader", pauses=(0, 0))
    except AssertionError:
        return True
    return False


def test_what_grows_with_the_square_is_refused_and_what_sorts_is_not():
    squares = re.compile(" +x").search
    for read in (squares, after_work(squares)):
        # Another process may make the smaller input look slow once, which lets a reader pass.
        assert any(is_refused(read) for _ in range(50))
    for read in (sorted, after_work(sorted), str.split):
        refuse_worse_than_linear(read, repeated("b a "), MOST, "a reader")


def names_in_json(count):
    """An object of many names, the last one twice: which one is found at the very end."""
    return json.dumps({str(number): 0 for number in range(count)})[:-1] + f', "{count - 1}": 0}}'


def lines(line):
    return lambda count: "".join(line.format(number) for number in range(count))


FILES = {
    "queries.csv": (
        lambda count: "query_id,text\n" + lines("q{0},words\n")(count),
        lambda p: read_queries(p, SplitConfig()),
    ),
    "columns.csv": (
        lambda count: (
            "query_id,text," + ",".join(map(str, range(count))) + "\n" + "q,w," + "," * (count - 1) + "\n"
        ),
        lambda path: read_queries(path, SplitConfig()),
    ),
    # every row has a column of its own
    "columns.jsonl": (
        lines('{{"query_id": "q{0}", "text": "w", "column {0}": 1}}\n'),
        lambda path: read_queries(path, SplitConfig()),
    ),
    "faults.csv": (
        lambda count: "query_id,text\n" + "q,w\n" * count,
        lambda p: read_queries(p, SplitConfig()),
    ),
    "short.csv": (lambda count: "query_id,text\n" + "q\n" * count, lambda p: read_queries(p, SplitConfig())),
    "queries.jsonl": (
        lines('{{"query_id": "q{0}", "text": "w"}}\n'),
        lambda p: read_queries(p, SplitConfig()),
    ),
    "hits.jsonl": (lines('{{"query_id": "q", "rank": {0}, "text": "same"}}\n'), read_hits),
    "answers.jsonl": (lines('{{"query_id": "q{0}", "answer": "a", "contexts": ["c"]}}\n'), read_answers),
    "spans.jsonl": (
        lines(
            '{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"traceId": "{0}", "attributes": [{{"key":'
            ' "input.value", "value": {{"stringValue": "w"}}}}, {{"key": "output.value", "value":'
            ' {{"stringValue": "a"}}}}]}}]}}]}}]}}\n'
        ),
        read_traces,
    ),
    "runs.jsonl": (
        lines(
            '{{"run_type": "chain", "id": "{0}", "inputs": {{"input": "w"}}, "outputs": {{"output": "a"}}}}\n'
        ),
        read_traces,
    ),
    "observations.jsonl": (
        lines('{{"traceId": "t", "id": "{0}", "type": "RETRIEVER", "input": "w", "output": ["p {0}"]}}\n'),
        read_traces,
    ),
    "list.json": (lambda count: json.dumps([{"a": n} for n in range(count)]), read_json_file),
    "lines.json": (lines('{{"a": {0}}}\n'), read_json_file),
    "questions.json": (
        lines('{{"question": "w {0}"}}\n'),
        lambda p: read_user_questions(p, "question"),
    ),
    "page.html": (lines("<p>word {0} <b>or"), read_web),
    "table.html": (lambda count: "<table><tr>" + "<td>w</td>" * count + "</tr></table>", read_web),
    "run.txt": (lines("q Q0 d{0} 1 0.5 tag\n"), read_run),
    "comments.txt": (lines("# {0}\nq Q0 d{0} 1 0.5 tag\n"), read_run),
    "qrels.txt": (lines("q 0 d{0} 1\n"), read_qrels),
}


@pytest.mark.parametrize("name", FILES)
def test_twice_the_rows_take_about_twice_the_time(tmp_path, name):
    content, read = FILES[name]

    def written(count):
        path = tmp_path / f"{count}-{name}"
        if not path.exists():
            path.write_text(content(count), encoding="utf-8")
        return path

    refuse_worse_than_linear(read, written, 4_000, name)


def test_a_field_named_twice_is_found_in_linear_time():
    refuse_worse_than_linear(untrusted.read_json, names_in_json, 16_000, "names of an object")
    with pytest.raises(untrusted.NamedTwiceError, match="'15999' twice"):
        untrusted.read_json(names_in_json(16_000))


class Counted(dict):
    """Counts how often it is asked whether it holds a key."""

    asked = 0

    def __contains__(self, key):
        self.asked += 1
        return super().__contains__(key)


def test_many_hits_with_one_text_are_named_and_placed_in_linear_time(tmp_path):
    chunk = values.Chunk.of(document("the same words " * 3), 0, 14)
    taken, repeats = Counted(), Counter()
    for _ in range(2_000):
        renamed = under_own_name(chunk, taken, repeats)
        taken[renamed.chunk_id] = renamed
    assert len(taken) == 2_000
    assert list(taken)[:3] == ["d:0-14", "d~2:0-14", "d~3:0-14"]
    assert taken.asked <= 3 * 2_000

    path = tmp_path / "hits.jsonl"
    path.write_text(lines('{{"query_id": "q", "rank": {0}, "text": "same words"}}\n')(2_000))
    documents = {"d": document("the same words, " * 900)}

    def placed(count):
        return place_hits([read_hits(path).rows["q"][:count]], documents, 90.0)[0]

    starts = [hit.place.start for hit in placed(2_000)]
    # every place once, in order; then the first again
    assert starts == [4 + 16 * place for place in range(900)] + [4] * 1_100
    refuse_worse_than_linear(placed, lambda count: count, 1_000, "hits of one text")


words = st.lists(st.sampled_from("abc"), max_size=12)


@given(words, words)
def test_the_longest_shared_run_is_that_of_the_standard_library(first, second):
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    assert values.longest_shared_run(first, second) == (match.a, match.a + match.size)


def test_every_reader_of_foreign_text_is_doubled():
    missing = set()
    for path in chain.from_iterable((HARNESS / room).rglob("*.py") for room in ROOMS):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.args.args:
                first = node.args.args[0]
                kind = ast.unparse(first.annotation) if first.annotation else ""
                named = first.arg in (
                    "text",
                    "content",
                    "body",
                    "cell",
                    "answer",
                    "passage",
                    "sought",
                    "question",
                )
                reads = kind == "Path" and node.name.startswith(("read_", "import_", "draw_"))
                if reads or (named and kind in ("str", "bytes", "bytes | str", "object", "Any")):
                    missing.add(node.name)
    by_file = {read.__name__ for _, read in FILES.values() if hasattr(read, "__name__")}
    called = {"read_queries", "read_user_questions", "read_json", *by_file}
    assert sorted(missing - READERS.keys() - NOT_READERS.keys() - called) == []


def test_a_request_of_the_labelling_page_is_read_beside_the_event_loop(monkeypatch):
    import anyio
    from starlette.requests import Request

    threads = []

    def read(content):
        threads.append(threading.current_thread())
        return untrusted.read_json(content)

    monkeypatch.setattr(serve, "read_json", read)

    async def ask():
        async def receive():
            return {"type": "http.request", "body": b'{"a": 1}', "more_body": False}

        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        return await serve._write(lambda given: given, request)

    assert anyio.run(ask).body == b'{"a": 1}'
    assert threads != [threading.main_thread()]
