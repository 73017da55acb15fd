"""Every command that README, CONTRIBUTING and docs/ print: it exists, its options do, and it runs."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from harness.cli.commands.usage import parser
from tests.docs_commands import PAGES, ROOT, ran, shown
from tests.docs_folder import Folder
from tests.places import shared_place
from tests.test_help import commands

ALL = [one for page in PAGES for one in shown(page)]
PARSERS = dict(commands(parser()))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
OTHERS = {"export", "printf", "git", ".ci/run", "cd", "mkdir", "cp", "pipx", "uvx", "docker"}

# commands that no page's test runs, by why; the fast test still checks their words
NOT_RUN = {
    "of the shell, or runs commands that are run themselves": (
        r"make (?!(bench|validate) CONFIG)|\.ci/run|(export|printf|git|cd) "
    ),
    "runs tests that CI runs: tests/external": r"python -m benchmarks.stores --table",
    "prints a figure: tests/mission/test_page.py": r"python -c ",
    "needs pipx, uv or Docker; tests/test_core_install.py installs the wheel by pip alone": (
        r"(pipx|uvx|docker) "
    ),
    "a whole run, from a wheel: tests/test_demo.py": r"harness demo",
    "CI runs `make soak`": r"python -m tools.soak|python tools/concurrent_sessions",
    "asks a model: tests/judge, tests/llm": r"harness judge |harness bench my.yaml --dry-run",
    "needs a filing and an endpoint: tests/test_tesla_recipe.py": r"harness .*configs/tesla_10k.yaml",
    "asks a model, or is one: tests/test_recipes.py": (
        r"(harness|mkdir|cp) (bench )?(configs/recipes/"
        r"(ten_k|rag|batches|answer_|testset|abilities|aspects|judge_|tiers)|"
        r"(testset )?reviewed)"
        r"|python -m benchmarks.rule_endpoint"
    ),
    "an index and what reads it: tests/test_recipe_files.py, tests/external/test_existing_index.py": (
        r"python -m benchmarks.example_index|harness bench configs/recipes/existing-index"
    ),
    "serves until its client has gone: tests/test_mcp.py": r"harness mcp ",
    "serves a page until it is stopped: tests/label_page": r"harness label (?!.*--(merge|export|ratings))",
    "takes what people graded: tests/label_page, tests/labelling, tests/testset": (
        r"harness (label .*--(merge|export|ratings)|labels add)|harness testset DIR (export|answer)"
    ),
    "files of other tools: tests/testset, tests/corpus, tests/external": (
        r"harness import (beir|ragas|rgb|traces) "
    ),
    "two runs of one configuration: tests/compare, tests/test_pull_request.py": (
        r"harness gate (?!results/today --baseline results/main --max-drop)"
        r"|harness compare (baseline|results/monday)|harness comment"
    ),
    "answers that a model judges: tests/test_compare_answers.py": (
        r"harness compare results/mine --measure answer"
    ),
    "what production answered: tests/mission/test_ragas.py, tests/compare/test_trend.py": (
        r"harness score-answers (corpora/2026|before|after)|harness trend|harness gate results/after"
    ),
    "sweeps, searches and asks a judge for minutes: tests/bench/test_tune_prices.py": (
        r"python -m benchmarks.tune_saves"
    ),
    "needs the extra `screen`: tests/external/test_screen.py": r"python -m benchmarks.screen",
    "needs a cluster: tests/bench/test_ray.py": r"harness bench my.yaml --engine ray",
    "needs the vocabulary of tiktoken: tests/test_chunking_eval.py": (
        r"python benchmarks/chunking_eval|harness bench configs/chunking_eval"
    ),
}
QUARTER = "corpora/meridian/documents/meridian-q3-2025.pdf"
RECALL = "corpora/meridian/more/meridian-recall-24v-m07.pdf"
# what makes a command small, or gives it something to read
SMALLER = (
    (r"'docs/\*\.pdf'", "'contracts/*'"),
    (r"results/(today|main)\b", "results/quickstart"),
    (r"--trials \d+", "--trials 3"),
    (r"--worlds \d+", "--worlds 1"),
    (r"tune_sampled --worlds 1", "tune_sampled --worlds 1 --settings 12"),
    (r"--seeds \d+", "--seeds 2"),
    (r"trend_alarms .*", "trend_alarms --years 1 --queries 5"),
    (r"--questions \d+", "--questions 2 --chunkings 1"),
    (r"benchmarks.stores --vectors [\d ]+", "benchmarks.stores --vectors 300 "),
    (r"--document annual-report", "--document meridian-q3-2025"),
    (r"--query q1\b", "--query mq001"),
    (r"--queries 0 --repeats 2", "--queries 0 --slow-queries 40 --repeats 1 --tools ours ir_measures"),
    (r"(measures_speed.py --slow-queries 0)", r"\1 --queries 40 --repeats 1"),
    (r"score_speed.py --repeats 5", "score_speed.py --repeats 1 --queries 40"),
    (
        r"scale --chunks .*",
        "scale --queries 20 --chunks 300 --stages chunk vectors bm25 exact fusion run faiss",
    ),
    (r"(cold_speed.py) .*", r"\1 --config my.yaml"),
    (r"(scale_sample \w+) .*", r"\1 --words-only --pool 2 --sizes 0 1 --samples 1"),
    # two filings on the page; one small document, which is run once, stands for both
    (r"run_speed.py.*", f"run_speed.py --questions 4 --chunkings 2 --pdf {QUARTER}"),
    (r"help_speed( .*)?$", "help_speed --runs 1 bench"),
    (r"judged_speed.py", "judged_speed.py --queries 4 8"),
    (r"again_speed.py --repeats 3", "again_speed.py --repeats 1 timed.yaml"),
    # with and without a filing that is not shipped: so too
    (r"(changed_speed.py) .*", rf"\1 --repeats 1 --config timed.yaml --more {RECALL}"),
    # another sheet than that of a test set
    (r"(labels unjudged .*) sheet.xlsx", r"\1 unjudged.xlsx"),
    (
        r"compare_speed$",
        "compare_speed --settings 3 --queries 20 --measures 1 --resamples 100 --scipy-pairs 1",
    ),
)
MINE = """\
name: mine
documents: corpora/meridian/documents/*
queries: corpora/meridian/queries.csv
labels: corpora/meridian/labels.csv
chunk: {kind: sentence, chunk_size: [300, 600]}
retrieve: {kind: bm25}
"""
# what is timed runs again and again, while other pages read the results of the first
TIMED = """\
name: timed
documents: [corpora/meridian/documents/meridian-faq.md]
queries: faq_queries.csv
labels: faq_labels.csv
chunk: {kind: sentence, chunk_size: [300, 600]}
retrieve: {kind: bm25}
measures: [ndcg_evidence@5000, ndcg_exp@10]
"""
BEFORE = {
    "study-measure.md": (
        "python -m benchmarks.public_data financebench DIR",
        "python -m benchmarks.public_data chunking_eval DIR",
    ),
    "scale.md": ("python -m benchmarks.public_data financebench DIR",),
    "retrieval.md": ("harness bench configs/meridian_retrieval.yaml",),
    "report.md": ("harness bench configs/meridian.yaml",),
    "README.md": ("harness bench configs/quickstart.yaml", "harness bench my.yaml"),
    "labelling.md": ("harness bench my.yaml",),
}
# what a reader does between two commands of a page, as the first one says
NEXT = {
    ("README.md", "harness testset contracts-bench status"): (
        "harness testset contracts-bench propose --from questions.csv",
        "harness testset contracts-bench choose --auto",
        "harness testset contracts-bench gather",
        "harness testset contracts-bench grade --sheet sheet.xlsx",
        "harness testset contracts-bench grade --from sheet.xlsx --by Ann",
        "harness testset contracts-bench export",
    ),
}


@pytest.mark.parametrize("command", ALL, ids=lambda one: f"{one.page}: {one.line}")
def test_what_a_command_names_exists(command):
    program, *words = command.words
    if program == "harness":
        fits(words, command.whole)
    elif program == "make":
        assert set(words[:1]) <= TARGETS
    elif program == "python" and words[0] == "-c":
        compile(words[1], command.line, "exec")
    elif program == "python":
        file = f"{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0]
        assert (ROOT / file).is_file() or (ROOT / file.removesuffix(".py") / "__main__.py").is_file()
    else:
        assert program in OTHERS
    for word in words:
        assert not word.startswith("configs/") or (ROOT / word).is_file()


def fits(words, whole):
    """Whether a command takes these words; in a sentence, some that it needs may be left out."""
    names = []
    while words and not words[0].startswith("-") and " ".join([*names, words[0]]) in PARSERS:
        names.append(words[0])
        words = words[1:]
    if names == ["testset"] and len(words) > 1:
        names, words = ["testset", words[1]], [words[0], *words[2:]]
        assert " ".join(names) in PARSERS
    assert names or words[0].startswith("-"), words
    own = PARSERS[" ".join(names)]
    if not whole:
        known = {name for action in own._actions for name in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= known
        return
    own = own if names[:1] != ["testset"] else parser(["testset"])
    _, unknown = own.parse_known_args(
        words if names[:1] != ["testset"] else [*names[:1], words[0], *names[1:], *words[1:]]
    )
    assert not unknown


def reason(command):
    """Why a command is not run; None if it is."""
    line = shlex.join(command.words)
    return next((why for why, what in NOT_RUN.items() if re.match(what, line)), None)


TO_RUN = {
    page.name: lines
    for page in PAGES
    if (lines := [one for one in shown(page) if one.whole and reason(one) is None])
}


def test_no_reason_is_left_over():
    lines = [shlex.join(one.words) for one in ALL if one.whole]
    assert [why for why, what in NOT_RUN.items() if not any(re.match(what, line) for line in lines)] == []


def test_a_command_that_runs_names_documents_that_are_shipped():
    """Else only the long test of its page finds that a file is a reader's own."""
    lines = [small(shlex.join(one.words)) for page in TO_RUN.values() for one in page]
    # what a command writes need not be there
    words = (re.sub(r" --output \S+", "", line) for line in lines)
    named = {word for line in words for word in shlex.split(line) if re.search(r"\.(pdf|md)$|\{", word)}
    assert named
    assert [word for word in named if not (ROOT / word).is_file()] == []


@pytest.fixture(scope="session")
def folder(tmp_path_factory, computed):
    """One folder for the commands of all pages, which may share what they compute."""
    return Folder.made(
        shared_place(tmp_path_factory) / "docs", {"my.yaml": MINE, "timed.yaml": TIMED}, computed
    )


@pytest.mark.docs
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", TO_RUN)
def test_the_commands_of_a_page_run_on_small_inputs(page, folder):
    shared = Path(os.environ.get("HARNESS_SHARED", ROOT.parent / "shared"))
    for line in BEFORE.get(page, ()):
        folder.run(placed(line, folder))
    for command in TO_RUN[page]:
        if "HARNESS_SHARED" in command.line and not shared.is_dir():
            continue
        line = shlex.join(command.words)
        for one in (line, *NEXT.get((page, line), ())):
            folder.run(placed(one, folder), HARNESS_SHARED=str(shared))


@pytest.mark.docs
@pytest.mark.timeout(1800)
def test_the_python_of_the_readme_runs(folder):
    folder.run(["harness", "bench", "my.yaml"])
    monday = folder.path / "results" / "monday"
    shutil.copytree(folder.path / "results" / "mine", monday)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert "ndcg" in ran(["python", "-c", block], folder.path)


def small(line):
    """A command with less to do, on files that are shipped."""
    for what, smaller in SMALLER:
        line = re.sub(what, smaller, line)
    return line


def placed(line, folder):
    """A command with small inputs where the page has a placeholder or a large number."""
    words = shlex.split(small(line))
    if words[0] == "make":
        words = ["harness", words[1], words[2].removeprefix("CONFIG=")]
    if "DIR" in words:
        at = words.index("DIR")
        words[at] = str(folder.source(words[at - 1]))
    return words
