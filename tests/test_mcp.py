"""`harness mcp`: its tools over real pipes, and what it refuses to read, to run and to pay for."""

import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from harness.cli.agents.permits import Permits
from harness.values import HarnessError
from tests.command import refused, write_files
from tests.judge.fake_server import FakeServer, grade
from tests.test_docs_commands import PARSERS, fits
from tests.test_docs_pages import LINK
from tests.test_without_models import FILES
from tools.shipped import FILES as FILES_OF_THE_WHEEL

ROOT = Path(__file__).parent.parent
TOOLS = {"validate", "estimate", "bench", "verdict", "worst_queries", "find_evidence"}
BENCH = yaml.safe_load(FILES["bench.yaml"])
CODE = {"kind": "python", "call": "spy:cut", "version": "1"}
SPY = "open('ran.txt', 'w').close()\ndef cut(text):\n    return [(0, len(text))]\n"
ENDPOINT = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}
JUDGED = {"judge": "llm", "endpoint": ENDPOINT}
PRICED = {**JUDGED, "max_cost": 1.5, "prices": {"m": {"input": 1.0, "output": 1.0}}}
FREE = {**JUDGED, "prices": {"m": {"input": 0.0, "output": 0.0}}}


@pytest.fixture
def root(tmp_path):
    """A folder with a benchmark, beside one with a secret."""
    folder = tmp_path / "root"
    write_files(folder, {**FILES, "spy.py": SPY})
    write_files(tmp_path, {"secret.txt": "the secret", "secret.yaml": FILES["bench.yaml"]})
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "documents" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "up").symlink_to(tmp_path)
    return folder


def save(root, **changed):
    """A configuration with some keys changed, under the name that is returned."""
    (root / "mine.yaml").write_text(yaml.safe_dump({**BENCH, "documents": "documents/[ab].txt"} | changed))
    return "mine.yaml"


def test_what_is_within_the_limits_passes(root, monkeypatch):
    monkeypatch.chdir(root)
    assert Permits(root).config(save(root)).name == "small"
    assert Permits(root).inside("results/small") == root / "results" / "small"
    # a pattern of text is no path
    assert Permits(root).config(save(root, chunk={"kind": "recursive", "separators": ["\n", "/x", ""]}))


@pytest.mark.parametrize(
    "name",
    [
        "../secret.yaml",
        "/etc/passwd",
        "~/x.yaml",
        "linked.yaml",
        "up/secret.yaml",
        "file:///etc/passwd",
        "s3://b/x",
    ],
)
def test_no_path_leads_out_of_the_root(root, name, monkeypatch):
    monkeypatch.chdir(root)
    with pytest.raises(HarnessError, match=r"outside|no path below"):
        Permits(root).config(name)


@pytest.mark.parametrize(
    "changed",
    [
        {"documents": "../*.txt"},
        {"documents": "/etc/*"},
        {"documents": "up/*.txt"},
        {"documents": "s3://bucket/*.pdf"},
        {"documents": "documents/*.txt"},
        {"queries": "/etc/passwd"},
        {"queries": "link.txt"},
        {"labels": "../secret.txt"},
        {"results": "../elsewhere"},
        {"results": "up/elsewhere"},
        {"cache": "/var/cache"},
        {"shared_cache": "memory://x"},
        {"retrieve": {"kind": "bm25", "synonyms": "../secret.txt"}},
        {"retrieve": {"kind": "bm25", "synonyms": "link.txt"}},
        {"tokenizer": "/etc"},
        {"relevance": {**PRICED, "prompt": "../secret.yaml"}},
    ],
    ids=lambda changed: " ".join(map(str, (*changed, *changed.values())))[:60],
)
def test_no_key_of_a_configuration_leads_out_of_the_root(root, changed, monkeypatch):
    monkeypatch.chdir(root)
    name = save(root, **changed)
    with pytest.raises(HarnessError, match=r"outside|is not below"):
        Permits(root, budget=2.0, endpoints=("http://127.0.0.1:9",)).config(name)


@pytest.mark.parametrize(
    ("changed", "permits", "said"),
    [
        ({"chunk": CODE}, {}, "--allow-code"),
        ({"retrieve": {"kind": "python", "call": "spy:cut", "version": "1"}}, {}, "--allow-code"),
        ({"chunk": {"kind": "langchain", "splitter": "SpacyTextSplitter"}}, {}, "--allow-code"),
        ({"settings": [{"chunk": CODE}]}, {}, "--allow-code"),
        ({"relevance": PRICED}, {}, "--endpoints http://127.0.0.1:9"),
        ({"relevance": PRICED}, {"budget": 9.0}, "--endpoints http://127.0.0.1:9"),
        # a name before @, or a longer host or path, is another address
        ({"relevance": PRICED}, {"budget": 9.0, "endpoints": ("http://127.0.0.1:99",)}, "--endpoints"),
        ({"relevance": PRICED}, {"budget": 9.0, "endpoints": ("http://127.0.0.1:9/v",)}, "--endpoints"),
        ({"relevance": PRICED}, {"endpoints": ("http://127.0.0.1:9",)}, "0 is left of --budget 0"),
        ({"relevance": PRICED}, {"budget": 1.0, "endpoints": ("http://127.0.0.1:9",)}, "--budget 1"),
        ({"relevance": JUDGED}, {"budget": 9.0, "endpoints": ("http://127.0.0.1:9",)}, "max_cost"),
        ({"engine": {"kind": "ray", "address": "10.0.0.1:6379"}}, {}, "a cluster is not asked"),
        (
            {
                "rewrite": {
                    "kind": "http",
                    "url": "http://10.0.0.1/x",
                    "version": "1",
                    "request": {"q": "{{ query }}"},
                    "response": "a",
                }
            },
            {"endpoints": ("http://127.0.0.1:9",)},
            "--endpoints http://10.0.0.1",
        ),
    ],
)
def test_code_and_money_need_leave(root, changed, permits, said, monkeypatch):
    monkeypatch.chdir(root)
    with pytest.raises(HarnessError, match=said):
        Permits(root, **permits).config(save(root, **changed))
    assert not (root / "ran.txt").exists()


def test_with_leave_they_pass(root, monkeypatch):
    monkeypatch.chdir(root)
    assert Permits(root, code=True).config(save(root, chunk=CODE))
    allowed = Permits(root, budget=2.0, endpoints=("http://127.0.0.1:9",))
    assert allowed.cap(allowed.config(save(root, relevance=PRICED))) == 1.5
    assert allowed.cap(allowed.config(save(root, relevance=FREE))) == 0.0
    allowed.spent = 1.0
    with pytest.raises(HarnessError, match="1 is left of --budget 2"):
        allowed.config(save(root, relevance=PRICED))


def test_what_runs_may_have_spent_is_gone_for_those_after_them(root, monkeypatch):
    pytest.importorskip("mcp")
    from mcp.server.mcpserver.exceptions import ToolError

    from harness.cli.agents.mcp_tools import AgentTools

    class Listener:
        async def report_progress(self, *notice):
            pass

    async def run_all(url):
        tools = AgentTools(Permits(root, budget=3.5, endpoints=(url,)))
        judged = {**PRICED, "endpoint": {"model": "m", "base_url": url, "api_key_env": None}}

        async def bench(depth):
            retrieve = {"kind": "bm25", "top_k": depth}
            answer = await tools.bench(save(root, relevance=judged, retrieve=retrieve), Listener())
            return answer["left"], bool(answer["unchanged_since"])

        # each may spend 1.5; what is there already costs nothing
        assert [await bench(depth) for depth in (5, 5, 4)] == [(2.0, False), (2.0, True), (0.5, False)]
        calls = server.count
        with pytest.raises(ToolError, match=r"may spend 1\.5 .*0\.5 is left of --budget 3\.5"):
            await bench(3)
        assert server.count == calls

    monkeypatch.chdir(root)
    with FakeServer(lambda *_: grade(1)) as server:
        asyncio.run(run_all(server.url))
        assert server.count


def session(root, calls, *options):
    """What a server of ``root`` answers to calls of its tools, by the client of the SDK over pipes.

    A list of (whether it is an error, its text, its values, the notices of progress).
    """
    pytest.importorskip("mcp")
    from mcp import StdioServerParameters
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    command = ["-m", "harness", "mcp", "--root", str(root), *options]
    places = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    server = StdioServerParameters(
        command=sys.executable, args=command, env={**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    )
    answers = []

    async def talk():
        async with Client(stdio_client(server)) as client:
            listed = (await client.list_tools()).tools
            for name, words in calls:
                notices = []

                async def note(done, total, message, notices=notices):
                    notices.append((done, message))

                answer = await client.call_tool(name, words, progress_callback=note)
                text = answer.content[0].text if answer.content else ""
                answers.append((answer.is_error, text, answer.structured_content, notices))
            return {tool.name: tool for tool in listed}

    tools = asyncio.run(talk())
    assert set(tools) == TOOLS
    assert all(tool.description for tool in tools.values())
    return answers


@pytest.mark.slow
def test_an_agent_checks_runs_and_reads_a_benchmark(root):
    name = save(root)
    answers = session(
        root,
        [
            ("validate", {"config": name}),
            ("estimate", {"config": name}),
            ("bench", {"config": name}),
            ("bench", {"config": name}),
            ("verdict", {"results": "results/small", "measure": "ndcg_exp@5"}),
            ("worst_queries", {"results": "results/small", "count": 1}),
            ("find_evidence", {"config": name, "text": "net income"}),
        ],
    )
    assert not any(is_error for is_error, *_ in answers), answers
    checked, priced, ran, again, verdict, worst, passages = (values for _, _, values, _ in answers)
    assert checked["facts"]["documents"] == "2 read, 0 skipped"
    assert len(checked["settings"]) == 2
    assert priced["lines"] == ["labels: 0 pairs, at no cost."]
    assert ran["results"] == "results/small"
    assert ran["words"][0].startswith("Verdict:")
    assert ran["verdict"]["leader"]
    assert again["unchanged_since"]
    assert verdict["verdict"]["measure"] == "ndcg_exp@5"
    assert len(worst["queries"]) == 1
    assert passages["passages"][0]["document"] == "a"
    assert (root / ran["page"]).is_file()
    # every notice is further than the last, as the protocol wants
    notices = answers[2][3]
    steps = [done for done, _ in notices]
    assert len(steps) > 3
    assert steps == sorted(set(steps))
    assert any("search" in message for _, message in notices)


@pytest.mark.slow
def test_an_agent_gets_the_sentences_of_the_command_and_nothing_else(root, capsys, monkeypatch):
    name = save(root, chunk={"kind": "recursive", "chunk_size": "big"})
    (root / "results" / "fake").mkdir(parents=True)
    (root / "results" / "fake" / "summary.csv").symlink_to(root.parent / "secret.txt")
    answers = session(
        root,
        [
            ("validate", {"config": name}),
            ("bench", {"config": "../secret.yaml"}),
            ("verdict", {"results": "results/fake"}),
            ("verdict", {"results": "up"}),
            ("worst_queries", {"results": "results/fake", "count": 0}),
            ("find_evidence", {"config": "bench.yaml", "text": "secret"}),
        ],
    )
    assert all(is_error for is_error, *_ in answers), answers
    assert not any("the secret" in text for _, text, *_ in answers)
    monkeypatch.chdir(root)
    sentence = refused(capsys, "validate", root / name).removeprefix("error: ")
    assert sentence in " ".join(answers[0][1].split())
    # a link among the documents
    assert "outside" in answers[5][1]


@pytest.mark.slow
def test_own_code_runs_only_with_leave(root):
    name = save(root, chunk=CODE)
    ((is_error, text, *_),) = session(root, [("bench", {"config": name})])
    assert is_error
    assert "--allow-code" in text
    assert not (root / "ran.txt").exists()
    ((is_error, text, *_),) = session(root, [("validate", {"config": name})], "--allow-code")
    assert not is_error, text
    assert (root / "ran.txt").exists()


def test_the_index_for_agents_names_files_and_commands_that_are_there():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    links = LINK.findall(text)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []
    assert "llms.txt" in FILES_OF_THE_WHEEL
    # all that it links to is beside it in the wheel
    assert all(link.startswith("docs/") for link in links)
    named = [shlex.split(line)[1:] for line in re.findall(r"`(harness [^`]+)`", text)]
    assert len(named) > 8
    for words in named:
        fits(words, whole=True)


def test_the_page_for_agents_names_every_tool_and_option():
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert {f"`{name}`" for name in TOOLS} == set(re.findall(r"^\| (`\w+`) \|", text, re.MULTILINE))
    options = [name for action in PARSERS["mcp"]._actions for name in action.option_strings]
    assert [name for name in options if name.startswith("--") and name != "--help" and name not in text] == []
