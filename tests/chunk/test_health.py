"""Chunk health: every column against a slow count, and by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import ChunkRow
from harness.steps import Outline, examine, table_spans
from harness.steps.chunk.health import BINS
from harness.values import Chunk

TABLE = "Revenue 1,200 (1,100)\nCosts $900 $850\nMargin 25% 23%"


def chunk(start, end, doc="d"):
    return Chunk(f"{doc}:{start}-{end}", doc, start, end, "x" * (end - start))


def health(spans, lengths, outline=None, window=0):
    outline = outline or Outline.of("")
    shown = {"d": [chunk(*span).spans for span in spans]}
    found = examine(shown, np.array(lengths, dtype=np.int32), {"d": outline}, window)
    return ChunkRow("a setting", **found)


def test_three_lines_of_two_numbers_are_a_table_and_two_are_not():
    text = f"Results of the year\n\n  {TABLE}  \nThey rose."
    (start, end) = table_spans(text)[0]
    assert text[start:end] == TABLE
    assert table_spans("Revenue 1,200 (1,100)\nCosts $900 $850\nAs told in Note 7.") == []
    assert table_spans("a 1 2\nb 3 4\n\nc 5 6\nd 7 8") == []  # a blank line ends a run
    assert len(table_spans("| a | 1 | 2 |\n| b | 3 | 4 |\n| c | 5 | 6 |\n")) == 1
    assert table_spans("\n".join(["Q3-2024 and 10-K are names"] * 3)) == []


def test_a_border_in_a_table_cuts_it_unless_another_chunk_holds_it_whole():
    text = f"Before it.\n{TABLE}\nAfter it."
    outline = Outline.of(text)
    (start, end) = table_spans(text)[0]
    middle, last = (start + end) // 2, len(text)
    assert health([(0, start), (start, end), (end, last)], [5] * 3, outline).tables_cut == 0
    assert health([(0, middle), (middle, last)], [5] * 2, outline).tables_cut == 1
    assert health([(0, middle), (start, last)], [5] * 2, outline).tables_cut == 0
    assert health([(0, end - 1), (start + 1, last)], [5] * 2, outline).tables_cut == 1


def test_a_chunk_that_ends_inside_a_sentence_is_counted():
    text = "The yard is full. Rain fell all day."
    outline = Outline.of(text)
    stop = text.index("full.") + 5
    assert health([(0, stop), (stop + 1, len(text))], [4, 4], outline).share_cut_mid_sentence == 0
    assert health([(0, 8), (8, len(text))], [2, 6], outline).share_cut_mid_sentence == 0.5
    assert health([(0, stop + 1)], [4], outline).share_cut_mid_sentence == 0  # between two sentences


def test_lengths_by_hand():
    found = health([(0, 10), (10, 20), (20, 30), (30, 40)], [15, 16, 31, 300], window=256)
    assert (found.chunks, found.tokens_mean, found.tokens_max) == (4, 90.5, 300)
    assert (found.share_under_32, found.share_overlong) == (0.75, 0.25)
    assert found.index_tokens == 15 + 16 + 31 + 256  # the encoder reads no more than its window
    counts = dict(zip(BINS, found.histogram.split(), strict=True))
    assert {edge: n for edge, n in counts.items() if n != "0"} == {0: "1", 16: "2", 256: "1"}
    unknown = health([(0, 10)], [300])
    assert (unknown.share_overlong, unknown.index_tokens) == (None, 300)
    assert examine({}, np.zeros(0, dtype=np.int32), {}, 256) == {}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 90), min_size=2, max_size=8, unique=True),
)
def test_coverage_and_cuts_equal_a_slow_count(raw, edges):
    spans = [(start, start + size) for start, size in raw]
    edges = sorted(edges)
    ranges = np.array(list(zip(edges[::2], edges[1::2], strict=False)), dtype=np.int64).reshape(-1, 2)
    found = health(spans, [1] * len(spans), Outline(ranges, ranges))
    depth = [sum(start <= at < end for start, end in spans) for at in range(120)]
    assert found.share_covered_twice == sum(d > 1 for d in depth) / sum(d > 0 for d in depth)
    inside = [any(a < end < b for a, b in ranges.tolist()) for _, end in spans]
    assert found.share_cut_mid_sentence == sum(inside) / len(spans)
    whole = [any(start <= a and b <= end for start, end in spans) for a, b in ranges.tolist()]
    assert found.tables_cut == whole.count(False)
