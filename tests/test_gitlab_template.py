"""The template for GitLab: its job as written, by stand-ins and by the command itself."""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.command import DROPPED, REPEATED, bench, write_files
from tests.forge_server import JOB_TOKEN, forge, write_tools

ROOT = Path(__file__).parent.parent
TEMPLATE = (ROOT / ".ci" / "gitlab.yml").read_text(encoding="utf-8")
JOB = yaml.safe_load(TEMPLATE)["retrieval-quality"]
# what GitLab sets
OF_THE_RUNNER = {
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "",
    "CI_DEFAULT_BRANCH": "main",
    "CI_JOB_NAME": "retrieval-quality",
    "CI_JOB_TOKEN": JOB_TOKEN,
    "CI_JOB_URL": "https://gitlab.example/jobs/7",
    "CI_MERGE_REQUEST_IID": "3",
    "CI_PROJECT_ID": "7",
}
PACKAGE = {"HARNESS_PACKAGE": "ndcg-harness @ git+https://gitlab.example/ours/ndcg-harness"}


def run_job(folder, tools, **variables):
    """Run the script of the job as a runner does, in a folder, with ``tools`` found first."""
    return subprocess.run(
        ["bash", "-eo", "pipefail"],
        input="\n".join(JOB["script"]),
        cwd=folder,
        env={"PATH": tools, **JOB["variables"], **OF_THE_RUNNER, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_package_the_job_ends_with_what_to_set(tmp_path):
    done = run_job(tmp_path, write_tools(tmp_path / "tools", python="echo pip; exit 1"))
    assert done.returncode == 1
    assert done.stdout.startswith("Set the variable HARNESS_PACKAGE to what pip installs: ")
    assert PACKAGE["HARNESS_PACKAGE"].split("//")[0] in done.stdout
    assert "pip\n" not in done.stdout


def test_the_page_says_what_every_variable_is_for():
    rows = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([A-Z_]+)` \| \w", rows, re.MULTILINE))
    # whatever is not of the shell or of the runner is the user's
    used = set(re.findall(r"\b(?:HARNESS_[A-Z_]+|GITLAB_TOKEN)\b", TEMPLATE))
    assert used == named
    assert set(JOB["variables"]) <= named


@pytest.mark.parametrize(
    ("status", "source", "code", "words"),
    [
        (
            "200",
            "merge_request_event",
            0,
            f"comment results --link {OF_THE_RUNNER['CI_JOB_URL']} "
            "--baseline main/ndcg-harness/results --max-drop 0.02",
        ),
        ("404", "push", 0, f"comment results --link {OF_THE_RUNNER['CI_JOB_URL']} --output comment.md"),
        ("401", "merge_request_event", 1, "cannot be read (status 401), so nothing can be compared"),
    ],
)
def test_each_answer_of_gitlab_has_its_step(tmp_path, status, source, code, words):
    write_files(tmp_path, {"results/summary.csv": ""})
    tools = write_tools(
        tmp_path / "tools",
        curl=f"echo {status}",
        harness='echo "$@"',
        python='[ "$1" = -c ] && echo results; exit 0',
    )
    done = run_job(tmp_path, tools, CI_PIPELINE_SOURCE=source, **PACKAGE)
    assert done.returncode == code, done.stderr
    assert words in done.stdout


@pytest.mark.slow
def test_a_drop_fails_the_job_and_is_told_on_the_merge_request(tmp_path, monkeypatch):
    # the results of the main branch, as its job keeps them
    write_files(tmp_path, REPEATED)
    monkeypatch.chdir(tmp_path)
    _, results = bench(Path("c.yaml"))
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as archive:
        for path in results.iterdir():
            archive.write(path, f"ndcg-harness/one/{path.name}")
    Path("c.yaml").write_text(DROPPED)
    tools = write_tools(
        tmp_path / "tools",
        # all but pip is what it is; packages are installed where this test is run
        python=f'if [ "$2" = pip ]; then echo "$@" >>pip.log; exit; fi; exec {sys.executable} "$@"',
        harness=f'exec {sys.executable} -m harness "$@"',
    )
    with forge() as gitlab:
        address = "/api/v4/projects/7/jobs/artifacts/main/download?job=retrieval-quality"
        gitlab.artifacts[address] = kept.getvalue()
        done = run_job(
            tmp_path,
            tools,
            **PACKAGE,
            PYTHONPATH=str(ROOT),
            HOME=os.environ.get("HOME", ""),
            HARNESS_CONFIG="c.yaml",
            CI_API_V4_URL=f"{gitlab.url}/api/v4",
            CI_PIPELINE_SOURCE="merge_request_event",
            GITLAB_TOKEN="secret-of-the-test",
        )
        assert done.returncode == 1, done.stdout + done.stderr
        assert Path("pip.log").read_text() == f"-m pip install --quiet {PACKAGE['HARNESS_PACKAGE']}\n"
        assert len(gitlab.comments) == 1, done.stdout + done.stderr
        (comment,) = gitlab.comments
    assert [(method, path) for method, path, _ in gitlab.requests if method == "POST"] == [
        ("POST", "/api/v4/projects/7/merge_requests/3/notes")
    ]
    assert "❌ Failed" in comment["body"]
    # second of two, and then lost: 1 / log2(3) = 0.631
    assert "| 0.631 | 0.000 | -0.631 |" in comment["body"]
    assert OF_THE_RUNNER["CI_JOB_URL"] in comment["body"]
    # what the job leaves for others is the run that failed
    artifact = Path("ndcg-harness/one/summary.csv")
    assert artifact.read_bytes() == Path("results/one/summary.csv").read_bytes()
    assert artifact.read_bytes() != Path("main/ndcg-harness/one/summary.csv").read_bytes()
