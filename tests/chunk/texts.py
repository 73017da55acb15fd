"""Texts that break splitters, and a strategy that makes more of them."""

from hypothesis import strategies as st

WORDS = [
    "revenue", "the", "Inc.", "No. 5", "$1,234.5", "unaffordability", "a", "ﬁnancial", "oﬃce",
    "e\u0301te\u0301",
    "naïve", "净收入为", "東京。", "「はい」", "한국어",
    "👩‍🚀", "👍🏽", "🇩🇪", "x" * 40, "....", "# Head", "- item",
    "\ud800", "\u200b", "\u00ad", "<|endoftext|>", "[SEP]", "€100", "?!",
]  # fmt: skip
GAPS = [" ", " ", " ", "\n", "\n\n", "\n\n\n", "  ", "\t", "\u00a0", ". ", ".\n", "", "\f", "\r\n"]

texts = st.one_of(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=60).map(
        lambda parts: "".join(word + gap for word, gap in parts)
    ),
    st.text(st.characters(exclude_categories=()), max_size=120),
    st.text("ab \n.", max_size=120),
)

EDGE_CASES = {
    "empty": "",
    "whitespace": " \n\n\t \u00a0\f ",
    "one character": "a",
    "one huge token": "x" * 900,
    "one huge number": "7" * 900,
    "repeated text": "the same line\n" * 60,
    "repeated without breaks": "abab" * 200,
    "Chinese": "公司的净收入增长了百分之十。" * 30,
    "Japanese": "売上高は増加した。「本当か？」と聞いた。" * 15,
    "emoji with joiners": "👩‍🚀👨‍👩‍👧‍👦🏳️‍🌈" * 20,
    "ligatures": "the ﬁrst oﬃce ﬂow " * 40,
    "combining marks": "e\u0301a\u0308o\u0302 n\u0303" * 40,
    "lone surrogates": "a \ud83d b \udc00 " * 40,
    "zero width": "\u200b\u200b\u00ad" * 50,
    "mixed breaks": "a\r\n\r\nb\u2028c\x0bd\x1ce\n" * 50,
    "dot leaders": "Item 1. Business . . . . . . . . 5\nItem 2........................................7\n"
    * 30,
}
