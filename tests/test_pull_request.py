"""What a run says on a pull request: the comment at GitHub and GitLab, and the steps of the action."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import harness
from harness.cli import forges
from tests.command import YARD, exit_code, write_files
from tests.forge_server import forge, write_tools

ROOT = Path(__file__).parent.parent
TEXTS = {"a": "The harbour was built in 1890.\n\nShips pay ten crowns.", "b": "The museum opens at ten."}
QUERIES = {f"q{number}": f"When was the harbour built, {number}?" for number in range(1, 9)}
LABELS = [
    {"query_id": query, "document": "a", "quote": "The harbour was built in 1890.", "grade": 4}
    for query in QUERIES
]
GOOD = ["The harbour was built in 1890.", "The museum opens at ten."]


def evaluated(folder, texts, name="mine"):
    options = {"results": folder, "cache": folder / "cache", "name": name, "measures": ["ndcg_exp@3"]}
    return harness.evaluate({"search <b>|@team": lambda query: texts}, QUERIES, LABELS, TEXTS, **options)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder of a baseline, and of results that are worse than it for every query."""
    folder = tmp_path_factory.mktemp("results")
    return evaluated(folder / "main", GOOD).folder, evaluated(folder / "now", GOOD[::-1]).folder


@pytest.fixture
def on_github(monkeypatch):
    with forge() as server:
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        monkeypatch.setenv("GITHUB_REPOSITORY", "ours/search")
        monkeypatch.setenv("GITHUB_REF", "refs/pull/12/merge")
        monkeypatch.setenv("GITHUB_TOKEN", "secret-of-the-test")
        monkeypatch.delenv("GITLAB_CI", raising=False)
        yield server


def test_one_comment_is_written_and_then_replaced(results, on_github):
    baseline, now = results
    # others' comments fill the first page
    on_github.comments += [{"id": 1000 + place, "body": "LGTM"} for place in range(99)]
    # somebody has quoted ours, with its invisible line
    on_github.comments += [{"id": 2000, "body": "> <!-- ndcg-harness: mine -->\n> Passed"}]
    assert exit_code("comment", now, "--baseline", baseline, "--max-drop", "0.02") == 1
    assert exit_code("comment", baseline, "--baseline", baseline) == 0
    (body,) = [
        comment["body"] for comment in on_github.comments if comment["body"].startswith("<!-- ndcg-harness")
    ]
    assert "✅ Passed" in body
    # nothing has changed: no bound is a negative zero
    assert "-0.000" not in body
    writes = [(method, path) for method, path, _ in on_github.requests if method != "GET"]
    assert writes == [
        ("POST", "/repos/ours/search/issues/12/comments"),
        ("PATCH", "/repos/ours/search/issues/comments/101"),
    ]


@pytest.mark.parametrize("account", [None, 7], ids=["token of a workflow", "token of a person"])
def test_a_comment_that_somebody_has_copied_is_left_alone(results, on_github, account):
    baseline = results[0]
    on_github.account = account
    on_github.writer = {"id": account, "type": "User"} if account else on_github.writer
    copied = {"id": 900, "body": "<!-- ndcg-harness: main -->\nmine now", "user": {"id": 3, "type": "User"}}
    on_github.comments.append(copied)
    for _ in range(2):
        assert exit_code("comment", baseline, "--baseline", baseline) == 0
    assert copied["body"].endswith("mine now")
    assert [method for method, *_ in on_github.requests if method != "GET"] == ["POST", "PATCH"]


def test_two_benchmarks_of_one_robot_have_a_comment_each(results, on_github, tmp_path):
    # GitHub does not say who a workflow's token is: the name of the benchmark tells the two comments apart
    other = shutil.copytree(results[0], tmp_path / "mine-2")
    for folder in (results[0], other, results[0], other):
        assert exit_code("comment", folder, "--baseline", folder) == 0
    begun = [comment["body"].splitlines()[0] for comment in on_github.comments]
    assert begun == ["<!-- ndcg-harness: mine -->", "<!-- ndcg-harness: mine-2 -->"]
    assert [method for method, *_ in on_github.requests if method != "GET"] == ["POST"] * 2 + ["PATCH"] * 2


def test_a_long_comment_is_cut_between_its_parts(results, on_github, monkeypatch):
    rows = "".join(f"| {number} | {'x' * 80} |\n" for number in range(400))
    parts = [
        "<!-- m -->",
        "A sentence.",
        f"| a | b |\n|---|---|\n{rows}",
        "```mermaid\nbar\n\nbar\n```",
        "End.",
    ]
    short = forges.shortened("\n\n".join(parts), 40_000)
    assert short.startswith("<!-- m -->\n\nA sentence.\n\n| a | b |")
    assert len(short) <= 40_000
    for most in range(100, 38_000, 1777):
        cut = forges.shortened("\n\n".join(parts), most)
        assert len(cut) <= most
        # a table is there whole or not at all, and no chart is left open
        assert cut.count("x |") in (0, 400)
        assert cut.count("```") in (0, 2)
    assert forges.shortened("\n\n".join(["<!-- m -->", parts[3], "y" * 500]), 300).count("```") == 2


def test_the_comment_says_what_has_dropped_and_which_queries(results, tmp_path):
    baseline, now = results
    file = tmp_path / "comment.md"
    words = (
        "--baseline",
        baseline,
        "--link",
        "https://runs/7",
        "--output",
        file,
        "--summary",
        tmp_path / "all.md",
    )
    assert exit_code("comment", now, *words) == 1
    body = file.read_text(encoding="utf-8")
    assert body == (tmp_path / "all.md").read_text(encoding="utf-8")
    # 1 at the first rank; behind one other, 1 / log2(3) = 0.631: -0.369
    assert "| 1.000 | 0.631 | -0.369 |" in body
    assert "❌ Failed" in body
    assert "When was the harbour built, 1?" in body
    assert "[All results of this run](https://runs/7)" in body
    (chart,) = re.findall(r"```mermaid\n(.*?)```", body, re.DOTALL)
    assert "bar [0.6309]" in chart
    assert "line [1.0000]" in chart
    # a name neither becomes markup nor calls a team
    assert "<b>" not in body
    assert not re.search(r"(?<!\w)@team", body)


def test_without_a_baseline_the_comment_has_the_means(results, tmp_path):
    assert exit_code("comment", results[1], "--min", "0.9", "--output", tmp_path / "low.md") == 1
    assert exit_code("comment", results[0], "--min", "0.9", "--output", tmp_path / "high.md") == 0
    assert "below the 0.9 required" in (tmp_path / "low.md").read_text(encoding="utf-8")
    assert "There is no baseline yet" in (tmp_path / "high.md").read_text(encoding="utf-8")


def test_a_merge_request_of_gitlab(results, monkeypatch):
    with forge() as server:
        monkeypatch.setenv("GITLAB_CI", "true")
        monkeypatch.setenv("CI_API_V4_URL", f"{server.url}/api/v4")
        monkeypatch.setenv("CI_PROJECT_ID", "7")
        monkeypatch.setenv("CI_MERGE_REQUEST_IID", "3")
        monkeypatch.setenv("GITLAB_TOKEN", "secret-of-the-test")
        for _ in range(2):
            assert exit_code("comment", results[0], "--baseline", results[0]) == 0
        assert [(method, path) for method, path, _ in server.requests if method != "GET"] == [
            ("POST", "/api/v4/projects/7/merge_requests/3/notes"),
            ("PUT", "/api/v4/projects/7/merge_requests/3/notes/1"),
        ]


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("GITHUB_TOKEN", "", "A comment needs GITHUB_TOKEN"),
        ("GITHUB_REF", "refs/heads/main", "A comment needs --number"),
        ("GITHUB_TOKEN", "wrong", "GitHub answered 401"),
        ("GITHUB_API_URL", "http://127.0.0.1:9", "GitHub cannot be reached"),
    ],
)
def test_what_is_missing_for_a_comment_is_told(
    results, on_github, monkeypatch, capsys, variable, value, words
):
    monkeypatch.setenv(variable, value)
    assert exit_code("comment", results[0]) == 1
    error = capsys.readouterr().err
    assert words in " ".join(error.split())
    assert "secret-of-the-test" not in error


RUNS = [
    # newest first; a fork may call its branch main as well
    {"databaseId": 30, "event": "pull_request"},
    {"databaseId": 20, "event": "push"},
    {"databaseId": 10, "event": "push"},
]


@pytest.mark.parametrize(
    ("runs", "download", "code", "words"),
    [
        (RUNS, "exit 0", 0, "comment results --baseline BASE --max-drop 0.02"),
        (RUNS, "exit 1", 0, "The results of run 20 on main cannot be downloaded, so nothing is compared."),
        (RUNS[:1], "exit 0", 0, "There is no run on main to compare with yet"),
        (None, "exit 0", 1, "The runs on main cannot be listed, so nothing can be compared."),
    ],
)
def test_only_a_run_of_the_main_branch_itself_is_the_baseline(tmp_path, runs, download, code, words):
    if shutil.which("jq") is None:
        pytest.skip("needs jq, which gh has inside")
    listed = "exit 1" if runs is None else f"""echo '{json.dumps(runs)}' | jq -r "$eval" """
    find = 'while [ "$1" != --jq ]; do shift; done; eval="$2"; '
    path = write_tools(
        tmp_path / "tools",
        gh=f'case "$2" in list) {find}{listed};; '
        f'download) [ "$3 $5" = "20 ndcg-harness-results" ] || exit 2; {download};; esac',
        harness='echo "$@"',
        python="echo results",
        mktemp="echo BASE",
    )
    environment = {**os.environ, "PATH": path, "CONFIG": "c.yaml"}
    environment.pop("GITHUB_OUTPUT", None)
    script = ROOT / ".ci" / "action" / "run.sh"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert words in done.stdout


@pytest.mark.parametrize("command", ["comment", "gate"])
def test_a_setting_that_the_baseline_lacks_is_named_and_held_to_the_mean(tmp_path, capsys, command):
    retrievers = {"old": lambda query: GOOD, "worse": lambda query: GOOD[::-1], "fine": lambda query: GOOD}
    options = {"cache": tmp_path / "cache", "measures": ["ndcg_exp@3"], "name": "mine"}
    folders = [
        harness.evaluate(
            {name: retrievers[name] for name in names},
            QUERIES,
            LABELS,
            TEXTS,
            results=tmp_path / run,
            **options,
        ).folder
        for run, names in (("main", ["old"]), ("now", ["old", "worse", "fine"]))
    ]
    words = [command, folders[1], "--baseline", folders[0]]
    if command == "comment":
        words += ["--output", tmp_path / "comment.md"]
    assert exit_code(*words) == 0
    # behind one other passage: 1 / log2(3) = 0.631
    assert exit_code(*words, "--min", "0.7") == 1
    told = capsys.readouterr().out
    if command == "comment":
        told = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert "Failed: worse has a mean of 0.63, below the 0.7 required." in told
    assert "0.6309 is below the 0.7 required. The baseline has no setting of this name" in told
    assert re.search(
        "no drop is tested.*fine" if command == "comment" else "new .*fine: .*no drop is tested", told, re.I
    )


@pytest.mark.slow
def test_the_steps_of_the_action_run_as_written(results, on_github, tmp_path):
    # the benchmark of the user's repository
    write_files(tmp_path, YARD)
    path = write_tools(
        tmp_path / "tools",
        gh=f'case "$2" in list) echo "$LAST";; download) cp -r {tmp_path}/main/. "$7";; esac',
        harness=f'exec {sys.executable} -m harness "$@"',
        python=f'exec {sys.executable} "$@"',
    )
    environment = {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "CONFIG": "c.yaml",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "99",
    }

    def run(**more):
        script = ROOT / ".ci" / "action" / "run.sh"
        options = {"cwd": tmp_path, "env": {**environment, **more}, "capture_output": True, "text": True}
        return subprocess.run([script], **options, check=False)

    # the first run of the main branch has nothing to be compared with
    first = run(LAST="", GITHUB_EVENT_NAME="push")
    assert first.returncode == 0, first.stderr
    assert "becomes the baseline" in first.stdout
    assert (tmp_path / "output").read_text() == "results=results/one\nname=one\n"
    shutil.copytree(tmp_path / "results" / "one", tmp_path / "main")
    second = run(LAST="7", GITHUB_EVENT_NAME="pull_request")
    assert second.returncode == 0, second.stderr
    (comment,) = on_github.comments
    assert "actions/runs/99" in comment["body"]
    assert comment["body"] in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_action_is_whole():
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    taken = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert taken == set(action["inputs"])
    script = (ROOT / ".ci" / "action" / "run.sh").read_text(encoding="utf-8")
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "run"]
    assert {"CONFIG", "MAX_DROP", "MIN", "MEASURE", "MAIN"} <= set(step["env"])
    assert all(
        f"${{{name}" in script or f"${name}" in script for name in ("CONFIG", "MAX_DROP", "MIN", "MAIN")
    )
