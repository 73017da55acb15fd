"""A small benchmark of mines, scored with next to no labels: results of which passages are to be graded."""

from pathlib import Path

from tests.command import exit_code

WORDS = ["copper", "iron", "zinc", "gold", "lead", "silver", "nickel", "tin", "chrome", "steel", "brass"]
WORDS += ["bronze"]


def write_results(folder: Path) -> Path:
    """Write and run the benchmark in ``folder``, which must be the current one."""
    (folder / "docs").mkdir()
    for place, word in enumerate(WORDS):
        others = " ".join(f"The {one} price was quoted on day {place}." for one in WORDS if one != word)
        text = f"The mine of {word} is in region {place}.\n\n{others}\n\nNobody digs {word} by hand."
        (folder / "docs" / f"{word}.txt").write_text(text, encoding="utf-8")
    rows = "".join(f"q{i},Where is the mine of {word}?,train\n" for i, word in enumerate(WORDS))
    (folder / "queries.csv").write_text("query_id,text,split\n" + rows)
    (folder / "labels.csv").write_text(
        "query_id,document,quote,grade\nq0,copper,The mine of copper is in region 0.,4\n"
    )
    (folder / "my.yaml").write_text(
        "name: mine\ndocuments: docs/*\nqueries: queries.csv\nlabels: labels.csv\n"
        "chunk: {kind: recursive_token, chunk_size: [40, 120], chunk_overlap: 0}\n"
        "retrieve: {kind: bm25, top_k: 5}\nmeasures: [ndcg_exp@5, judged@5]\n"
    )
    assert exit_code("bench", "my.yaml") == 0
    return folder / "results" / "mine"


def relevant(row):
    word = WORDS[int(row["query_id"][1:])]
    return 4 if f"mine of {word}" in row["passage"] else 0
