"""The page of claims: each figure is where its command puts it, and five tools give the same NDCG."""

import os
import re
import subprocess
from math import log2

import pytest
import yaml

from benchmarks import chunklab_sizes, same_ndcg
from harness.running import load_config, quick_part, run_bench
from harness.values import Silent
from tests.command import table
from tests.docs_commands import INLINE, ROOT
from tests.figures_of_claims import PLACES, faults
from tests.test_docs_pages import LINK

PAGE = ROOT / "docs" / "claims.md"
CLAIMS = re.findall(r"^\*\*.+?(?=^\*\*|^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
# these print what the page says, and are asked below
BY_COMMAND = ("same_ndcg", "chunklab_sizes")


def title(claim):
    return " ".join(claim[2:].split("**")[0].split())[:40]


def claim_of(word):
    (claim,) = (claim for claim in CLAIMS if word in claim)
    return claim


@pytest.mark.parametrize("claim", CLAIMS, ids=title)
def test_a_claim_has_a_command_and_links_to_its_page(claim):
    assert INLINE.search(claim)
    assert LINK.findall(claim)


@pytest.mark.parametrize("beginning", PLACES)
def test_every_figure_of_a_claim_is_at_its_place_on_the_page_of_its_command(beginning):
    (claim,) = (claim for claim in CLAIMS if claim[2:].startswith(beginning))
    assert faults(claim, PLACES[beginning]) == []


def test_no_claim_is_left_out():
    begun = [claim for claim in CLAIMS if any(claim[2:].startswith(beginning) for beginning in PLACES)]
    assert len(begun) == len(PLACES)
    assert [
        title(claim)
        for claim in CLAIMS
        if claim not in begun and not any(word in claim for word in BY_COMMAND)
    ] == []


def test_a_figure_of_elsewhere_on_the_page_is_a_fault():
    claim, places = claim_of("Smaller chunks"), PLACES["Smaller chunks rank better"]
    # both figures are on the page, each in the cell of the other
    swapped = claim.replace("0.433 and 0.499", "0.499 and 0.433")
    assert swapped != claim
    assert len(faults(swapped, places)) == 1
    assert faults(claim.replace("1,000 characters 0.410", "1,000 characters 0.411"), places) != []
    assert faults(claim + " It gains 0.263.", places) == ["0.263 has no place"]


def test_there_are_four_findings_and_four_comparisons():
    assert len(CLAIMS) == 8


def test_the_claim_of_chunklab_says_what_its_command_does_and_its_own_ratio():
    claim = " ".join(claim_of("chunklab_sizes").split())
    *sizes, last = map(str, chunklab_sizes.SIZES)
    assert (
        f"(130 questions on 14 documents; sizes of {', '.join(sizes)} and {last} tokens; ten chunks" in claim
    )
    assert chunklab_sizes.DEPTH == 10
    # seconds of one machine, which no other repeats; the title is their ratio
    seconds = re.search(
        r"takes (\d+\.\d) CPU seconds, .* and chunklab 0\.5 takes (\d+\.\d) in three runs", claim
    )
    assert 1 / 3.5 < float(seconds[1]) / float(seconds[2]) < 1 / 2.5
    assert claim.startswith("**Three chunk sizes by keyword search in a third of the CPU time of chunklab.**")


@pytest.mark.slow
def test_the_comparison_with_chunklab_runs(tmp_path, monkeypatch):
    peer = os.environ.get("HARNESS_PEERS", "")
    if not peer or subprocess.run([peer, "-c", "import chunklab"], check=False).returncode:
        pytest.skip("set HARNESS_PEERS to a Python that has chunklab")
    runs = chunklab_sizes.measure(peer, queries=4, repeats=1)
    assert list(runs) == ["this harness", "chunklab"]
    assert all(run.cpu > 0 and run.megabytes > 20 for run in runs.values())


def test_both_tools_are_given_the_same_texts_queries_and_passages(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    chunklab_sizes.write_inputs(tmp_path, queries=3)
    (questions,) = yaml.safe_load((tmp_path / "questions.yaml").read_text(encoding="utf-8")).values()
    rows, texts = table(tmp_path / "labels.csv"), tmp_path / "texts"
    assert [question["id"] for question in questions] == [
        row["query_id"] for row in table(tmp_path / "queries.csv")
    ]
    for question in questions:
        spans = [row for row in rows if row["query_id"] == question["id"]]
        assert question["gold_snippets"] == [
            (texts / f"{row['document']}.txt").read_bytes().decode()[int(row["start"]) : int(row["end"])]
            for row in spans
        ]


RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 2.0, "e": 1.0}}
QRELS = {"q1": {"b": 4, "c": 1, "z": 2}, "q2": {"e": 3, "d": 0, "y": 4}}


@pytest.mark.slow
@pytest.mark.parametrize("tool", same_ndcg.TOOLS)
def test_five_tools_give_the_same_ndcg(tool):
    # the first of q1 is unjudged, z and y were not retrieved but are in the ideal
    first = (4 / log2(3) + 1 / 2) / (4 + 2 / log2(3) + 1 / 2)
    second = (3 / log2(3)) / (4 + 3 / log2(3))
    assert same_ndcg.TOOLS[tool](RUN, QRELS) == pytest.approx((first + second) / 2)


@pytest.fixture(scope="module")
def rankings(tmp_path_factory):
    """The name, rankings and grades of each setting of `harness bench configs/quickstart.yaml --quick`."""
    folder = tmp_path_factory.mktemp("quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        places = {"cache": folder / "cache", "results": folder / "results"}
        config = quick_part(load_config(ROOT / "configs/quickstart.yaml")).model_copy(update=places)
        return list(same_ndcg.rankings_of(run_bench(config, Silent())[1]))


def test_keyword_search_over_the_included_collection_has_the_ndcg_of_the_claim(rankings):
    claim = " ".join(claim_of("same_ndcg").split())
    number = r"(\d\.\d{6})"
    words = (
        rf"\((\d+) queries, linear gains\) have an NDCG@10 of {number} with chunks of 500 characters "
        rf"and of {number} with 1,000,"
    )
    queries, *means = re.search(words, claim).groups()
    assert {
        name: f"{same_ndcg.by_harness(run, qrels):.6f} of {len(run)}" for name, run, qrels in rankings
    } == {
        f"chunk={size}-0_bm25.retrieve": f"{mean} of {queries}"
        for size, mean in zip((500, 1000), means, strict=True)
    }


@pytest.mark.slow
def test_five_tools_differ_by_no_more_than_the_claim_says(rankings):
    claim = " ".join(claim_of("same_ndcg").split())
    (said,) = re.findall(r"the largest difference between two of them is (\S+)\.", claim)
    assert len(same_ndcg.TOOLS) == 5
    values = [[tool(run, qrels) for tool in same_ndcg.TOOLS.values()] for _, run, qrels in rankings]
    # as the command prints it; the last bit depends on how a processor sums
    assert float(f"{max(max(row) - min(row) for row in values):.1e}") <= float(said)
