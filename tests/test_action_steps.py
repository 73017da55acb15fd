"""The action as a whole: every step of action.yml that is shell, run in a repository with two commits."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.command import DROPPED, REPEATED, write_files
from tests.forge_server import forge, write_tools

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# the programs of a runner: gh finds the runs and artifacts that are kept here; what pip is given is noted
GH = """
case "$1 $2" in
  "run list") python -c 'import json, sys; print(json.load(open(sys.argv[1]))["run"])' "$RUNNER/runs.json" ;;
  "run download") cp -R "$RUNNER/artifacts/$3/$5/." "$7" ;;
  *) exit 9 ;;
esac
"""
PYTHON = f"""
if [ "$1 $2" = "-m pip" ]; then echo "$@" >>"$RUNNER/pip.log"; exit; fi
exec {sys.executable} "$@"
"""


class Runner:
    """A runner that follows a composite action: inputs, expressions, conditions, outputs, and shell.

    Of the actions that it uses, `actions/upload-artifact` keeps a folder; the others prepare a machine.
    """

    def __init__(self, home, server):
        self.home, self.server = home, server
        self.repository = home / "repository"
        (home / "artifacts").mkdir(parents=True)
        self.path = write_tools(
            home / "tools", gh=GH, python=PYTHON, harness=f'exec {sys.executable} -m harness "$@"'
        )
        self.number = 0
        self.last_good = ""

    def run(self, event, **inputs):
        """Run the action on what is checked out; returns whether its steps passed, and what they printed."""
        self.number += 1
        values = {
            **{f"inputs.{name}": str(told.get("default", "")) for name, told in ACTION["inputs"].items()},
            **{f"inputs.{name}": value for name, value in inputs.items()},
            "github.run_id": str(self.number),
            "github.token": "secret-of-the-test",
            "github.event.repository.default_branch": "main",
        }
        # a default may be an expression
        values = {name: self.filled(text, values) for name, text in values.items()}
        (self.home / "runs.json").write_text(json.dumps({"run": self.last_good}), encoding="utf-8")
        passed, printed = True, ""
        for step in ACTION["runs"]["steps"]:
            condition = EXPRESSION.sub(r"\1", step.get("if", "success()"))
            if not self.holds(condition, passed, values):
                continue
            if "run" in step:
                done = self.shell(step, values, event)
                passed, printed = passed and done.returncode == 0, printed + done.stdout + done.stderr
            elif step["uses"].startswith("actions/upload-artifact@"):
                self.keep(**{key: self.filled(str(text), values) for key, text in step["with"].items()})
            else:
                assert step["uses"].split("@")[0] in ("actions/setup-python", "actions/cache")
        if passed and event == "push":
            self.last_good = str(self.number)
        return passed, printed

    def filled(self, text, values):
        """A text with the values of its expressions; one that names nothing is empty, as it is there."""
        return EXPRESSION.sub(lambda match: values.get(match[1], ""), text)

    def holds(self, condition, passed, values):
        """Whether a step runs: `success()`, or terms of which each is not empty, whatever failed before."""
        if condition == "success()":
            return passed
        first, *terms = condition.split(" && ")
        assert first == "!cancelled()"
        return all(values.get(term, "") for term in terms)

    def shell(self, step, values, event):
        """Run a step of shell, as `shell: bash` does, and take its outputs."""
        assert step["shell"] == "bash"
        output = self.home / f"output-{self.number}"
        output.write_text("")
        environment = {
            **os.environ,
            **{name: self.filled(text, values) for name, text in step.get("env", {}).items()},
            "PATH": self.path,
            "PYTHONPATH": str(ROOT),
            "RUNNER": str(self.home),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": self.server.url,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REF": "refs/pull/12/merge" if event == "pull_request" else "refs/heads/main",
            "GITHUB_REPOSITORY": "ours/search",
            "GITHUB_RUN_ID": str(self.number),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_STEP_SUMMARY": str(self.home / f"summary-{self.number}.md"),
        }
        environment.pop("GITLAB_CI", None)
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.filled(step["run"], values)]
        done = subprocess.run(
            script, cwd=self.repository, env=environment, capture_output=True, text=True, check=False
        )
        for line in output.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            values[f"steps.{step['id']}.outputs.{name}"] = value
        return done

    def keep(self, name, path, **_):
        """Keep a folder of the repository as an artifact of this run."""
        shutil.copytree(self.repository / path, self.home / "artifacts" / str(self.number) / name)


def git(folder, *words):
    options = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *options, *words], cwd=folder, check=True, capture_output=True)


def commit(folder, branch, files):
    """Commit files on a branch that begins where the folder is."""
    write_files(folder, files)
    git(folder, "checkout", "-q", "-B", branch)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", branch)


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A runner beside a repository whose main branch has been run, and left its results."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_"))]:
        monkeypatch.delenv(name)
    with forge() as server:
        runner = Runner(tmp_path, server)
        runner.repository.mkdir()
        git(runner.repository, "init", "-q")
        ignored = {".gitignore": "results\n.cache\n"}
        commit(runner.repository, "main", {**REPEATED, **ignored})
        passed, printed = runner.run("push", config="c.yaml")
        assert passed, printed
        assert "becomes the baseline" in printed
        assert server.comments == []
        yield runner


@pytest.mark.slow
def test_a_commit_that_ranks_worse_fails_the_action_and_the_comment_says_by_how_much(runner):
    commit(runner.repository, "worse", {"c.yaml": DROPPED})
    passed, printed = runner.run("pull_request", config="c.yaml")
    assert not passed
    assert len(runner.server.comments) == 1, printed
    (comment,) = runner.server.comments
    assert comment["body"].startswith("<!-- ndcg-harness: one -->")
    assert "❌ Failed" in comment["body"]
    # second of two, and then lost: 1 / log2(3) = 0.631
    assert "| 0.631 | 0.000 | -0.631 |" in comment["body"]
    assert "Where are otters?" in comment["body"]
    assert "```mermaid" in comment["body"]
    assert f"https://github.example/ours/search/actions/runs/{runner.number}" in comment["body"]
    # what failed is kept for a look, and is no baseline
    kept = runner.home / "artifacts" / "2" / "ndcg-harness-one"
    assert "0.0" in (kept / "summary.csv").read_text(encoding="utf-8")
    assert (runner.home / "summary-2.md").read_text(encoding="utf-8").strip() == comment["body"].strip()
    # the branch is mended, and its comment replaced
    commit(runner.repository, "worse", {"c.yaml": REPEATED["c.yaml"]})
    passed, printed = runner.run("pull_request", config="c.yaml")
    assert passed, printed
    (comment,) = runner.server.comments
    assert "✅ Passed" in comment["body"]
    assert comment["id"] == 1


@pytest.mark.slow
def test_a_commit_that_ranks_as_well_passes(runner):
    commit(runner.repository, "same", {"README.md": "Only words."})
    passed, printed = runner.run("pull_request", config="c.yaml")
    assert passed, printed
    (comment,) = runner.server.comments
    assert "✅ Passed" in comment["body"]
    assert "❌" not in comment["body"]


@pytest.mark.slow
def test_the_inputs_decide_what_is_tolerated_and_installed(runner):
    commit(runner.repository, "worse", {"c.yaml": DROPPED})
    tolerant = {"config": "c.yaml", "max-drop": "0.7", "extras": "pdfium,xlsx", "measure": "ndcg_exp@10"}
    passed, printed = runner.run("pull_request", **tolerant)
    assert passed, printed
    assert (runner.home / "pip.log").read_text(encoding="utf-8").splitlines() == [
        f"-m pip install --quiet {ROOT}",
        f"-m pip install --quiet {ROOT}[pdfium,xlsx]",
    ]
    passed, printed = runner.run("pull_request", **tolerant, min="0.5")
    assert not passed
    assert "below the 0.5 required" in runner.server.comments[0]["body"]
    # without a way to write, it says which permission the workflow needs
    passed, printed = runner.run("pull_request", **tolerant, token="wrong")
    assert not passed
    assert "401" in printed
