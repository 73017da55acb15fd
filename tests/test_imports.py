"""The house rules on who may import whom, and that heavy libraries stay out of the way of `--help`."""

import ast
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness"
SHARED = {"types", "errors", "finite", "kinds", "printable", "progress", "stopping"}
HEAVY = {
    "chromadb",
    "torch",
    "sentence_transformers",
    "openai",
    "matplotlib",
    "transformers",
    "bm25s",
    "Stemmer",
    "jieba",
    "faiss",
    "langchain_text_splitters",
    "openpyxl",
    "docx",
    "pptx",
    "bs4",
    "lxml",
    "openvino",
    "httpx",
    "jmespath",
    "uvicorn",
    "pypdfium2",
}

# room -> the rooms of ours it may import from, besides itself
ALLOWED = {
    "types": set(),
    "errors": set(),
    "finite": set(),
    "kinds": {"errors", "printable"},
    "printable": set(),
    "progress": set(),
    "stopping": set(),
    "streams": set(),
    "faults": {"__version__", "printable"},
    "text": {"errors", "types"},
    "stats": set(),
    "llm": SHARED | {"text"},
    "own": SHARED | {"llm"},
    "models": SHARED,
    "served": SHARED | {"llm", "models"},
    "store": SHARED,
    "corpus": SHARED | {"text", "own"},
    "chunk": SHARED | {"models", "text", "own"},
    "search": SHARED | {"models", "text", "llm", "own", "served"},
    "judge": SHARED | {"text", "stats", "llm"},
    "measures": {"types", "stats"},
    "answer": SHARED | {"text", "stats", "llm", "models", "measures"},
    "outside": SHARED | {"text", "corpus", "answer"},
    "comparison": SHARED | {"stats", "text"},
    "verdict": SHARED | {"comparison", "measures", "report"},
    "ordering": SHARED | {"measures", "stats", "store"},
    "trec": {"errors", "types", "measures"},
    "report": SHARED | {"text"},
}
STAGES = SHARED | {"text", "stats", "llm", "models", "store", "corpus", "chunk", "search", "judge", "own"}
STAGES |= {"served", "answer"}
ALLOWED["running"] = STAGES | {"measures", "config", "report"}
ALLOWED["contract"] = ALLOWED["running"] | {"running"}
ALLOWED["judging"] = ALLOWED["running"] | {"running"}
ALLOWED["labelling"] = ALLOWED["running"] | {"running", "ordering"}
ALLOWED["starting"] = ALLOWED["running"] | {"running"}
ALLOWED["testset"] = ALLOWED["judging"] | {"judging", "labelling", "outside", "starting", "__version__"}
ALLOWED["label_page"] = ALLOWED["labelling"] | {"labelling"}
ALLOWED["evaluate"] = ALLOWED["judging"] | {"judging", "comparison", "verdict"}
ALLOWED["answering"] = ALLOWED["running"] | {"running", "comparison", "outside"}
ALLOWED["abilities"] = ALLOWED["answering"] | {"answering"}
ALLOWED["bench"] = ALLOWED["evaluate"] | {"evaluate", "answering"}
ALLOWED["hits"] = ALLOWED["bench"] | {"bench"}


def modules():
    return sorted(path for path in HARNESS.rglob("*.py"))


def room_of(path):
    return path.relative_to(HARNESS).parts[0].removesuffix(".py")


def imports(tree, nodes=None):
    for node in ast.walk(tree) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute in this house"
            if node.module == "harness":
                yield from (f"harness.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(HARNESS)))
def test_rooms_import_only_what_they_may(path):
    room = room_of(path)
    names = set(imports(ast.parse(path.read_text(encoding="utf-8"))))
    ours = {name.split(".")[1] for name in names if name.startswith("harness.")}
    if room in ALLOWED:
        assert ours - {room} <= ALLOWED[room]
    if room == "types":
        assert not {name.split(".")[0] for name in names} & {"numpy", "pydantic", "pandas"}
    if room == "measures":
        others = {name.split(".")[0] for name in names} - {"harness", "numpy", "__future__"}
        assert others <= stdlib(), f"measures are pure: {others - stdlib()}"


def stdlib():
    import sys

    return set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(HARNESS)))
def test_heavy_libraries_are_imported_where_they_are_used(path):
    body = ast.parse(path.read_text(encoding="utf-8")).body
    top = {name.split(".")[0] for name in imports(None, body)}
    assert not top & HEAVY


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(HARNESS)))
def test_no_module_is_longer_than_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(HARNESS)))
def test_only_the_command_line_prints_or_exits(path):
    if room_of(path) in {"cli", "terminal"}:
        return
    calls = [
        node.func
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    names = {f.id for f in calls if isinstance(f, ast.Name)}
    assert not names & {"print", "exit", "quit"}
    attributes = {
        (f.value.id, f.attr) for f in calls if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name)
    }
    assert ("sys", "exit") not in attributes
