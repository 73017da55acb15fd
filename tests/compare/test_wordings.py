"""The table of sentences: each is whole, and every conclusion finds its own."""

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import get_args

import numpy as np
import pytest

import harness
from harness.comparison import MOST_WORDS, Options, Scores, sentence, sentence_of, verdict_json, verdict_of
from harness.comparison.conclusion import conclusion_of
from harness.comparison.wordings import NAMES, sentences_said
from harness.store.artifacts import FAULTS_OF_CACHE
from harness.values import WarningKind, worded
from tests.compare.build import matrix

HARNESS = Path(harness.__path__[0])
# every table of every module of sentences, by its name
NAMED_TABLES = {
    name: table
    for path in sorted(HARNESS.rglob("*wordings.py"))
    for module in [import_module(".".join(path.relative_to(HARNESS.parent).with_suffix("").parts))]
    for name, table in vars(module).items()
    if name.isupper() and not name.startswith("_") and isinstance(table, Mapping)
}
PARTS = [
    NAMED_TABLES.pop(name) for name in ("VERDICTS", "LINES", "STEPS", "CHECKS", "FAULTS", "WARNINGS", "HINTS")
]
VERDICTS, *_, WARNINGS, HINTS = PARTS
SENTENCES = NAMED_TABLES["SENTENCES"]
TABLES = (*NAMED_TABLES.values(), FAULTS_OF_CACHE)
SLOTS = {
    slot: "X"
    for table in TABLES
    for text in table.values()
    for _, slot, _, _ in Formatter().parse(text)
    if slot is not None and slot not in NAMES
}
NAMED = dict.fromkeys(NAMES, "A")


@pytest.mark.parametrize(("table", "code"), [(table, code) for table in TABLES for code in table])
def test_every_sentence_can_be_made_and_reads_whole(table, code):
    text = worded(table, code, **SLOTS, **NAMED)
    # a step whose sentence ends with a colon is followed by what to copy
    ending = {"text.skipped": "X", "runs.unjudged": "?", "runs.unjudged.file": "?"}.get(code, ".")
    assert text.endswith((".", ":") if code.startswith(("step.", "try.", "quick.")) else (".", ending))
    # the key that a note is about comes as it is written, and so does what is left to do
    begins = ("precision: fast: ", "embed by ", "score by ")
    assert text[0].isupper() or text[0].isdigit() or text.startswith(begins)
    # within, a sentence ends before a capital, a number or the name of a program
    assert not re.search(r"\. (?!trec_eval )[a-z(]", text)
    assert "  " not in text
    assert text == text.strip()
    assert text.count("(") == text.count(")")
    # of braces only those of a line of YAML are left
    assert "{" not in re.sub(r"\{(labels|clusters|unit): \w+\}", "", text)


def test_one_of_something_has_its_own_sentence_and_words_keep_what_they_are_made_of():
    single, several = (sentence_of("hits.missed", setting="a", count=count) for count in (1, 2000))
    assert single.startswith("a: 1 piece of relevant evidence is in no passage")
    assert several.startswith("a: 2,000 pieces of relevant evidence are in no passage")
    copied = deepcopy(several)
    assert (copied.code, copied.values) == ("hits.missed", {"setting": "a", "count": 2000})


def test_no_code_is_in_two_parts_of_the_table_and_no_two_codes_say_the_same():
    assert len(SENTENCES) == sum(map(len, PARTS))
    assert len(NAMED_TABLES) >= 11
    texts = Counter(text for table in TABLES for text in table.values())
    assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize("code", VERDICTS)
def test_a_verdict_is_short_enough_for_names(code):
    text = sentences_said([code], SLOTS, NAMED, ["A"])
    assert len(text.split()) <= MOST_WORDS


def test_a_conclusion_is_data_and_the_sentence_comes_from_it():
    rng = np.random.default_rng(1)
    codes = set()
    for n, spread in ((12, 0.1), (60, 0.01), (60, 0.3)):
        for ahead in (0.0, 0.01, 0.3):
            rows = {
                name: 0.4 + shift + rng.normal(0, spread, n) for name, shift in (("a", ahead), ("b", 0.0))
            }
            scores = matrix(rows, "ndcg_evidence@5000")
            verdict = verdict_of(Scores(matrices={scores.measure: scores}, options=Options(resamples=200)))
            found = conclusion_of(verdict)
            codes.update(found.codes)
            plain = json.loads(json.dumps(verdict_json(verdict)))["conclusion"]
            assert tuple(plain["codes"]) == found.codes
            names = {slot: verdict.words(name) for slot, name in plain["settings"].items()}
            said = sentences_said(plain["codes"], plain["values"], names, ["a", "b"])
            assert said == sentence(verdict) == verdict.said
    assert {"few", "best"} < codes


def test_only_a_name_that_begins_with_a_size_is_that_of_chunks():
    names = ("500 characters, keyword search", "keyword search")
    values = {"bound": "0.05", "level": "95%"}
    sized, bare = (sentences_said(["open"], values, {"setting": name}, names) for name in names)
    assert sized.startswith("Use chunks of 500 characters, keyword search.")
    assert bare.startswith("Use keyword search.")


def test_names_are_cut_so_that_they_still_tell_settings_apart():
    many = [f"{size} characters, keyword search, reranked by a model of {size} words" for size in (500, 900)]
    long = "overlap 50, header of the table, " * 3 + "keyword search"
    text = sentences_said(["open"], {"bound": "0.05", "level": "95%"}, {"setting": long}, [long, *many])
    assert len(text.split()) <= MOST_WORDS
    assert "…" in text


CODE = {
    path.relative_to(HARNESS).as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for path in sorted(HARNESS.rglob("*.py"))
    if not path.stem.endswith("wordings")
}


def calls_of(name):
    """Every call in the code of a function or method of this name, with its file."""
    return [
        (file, node)
        for file, nodes in CODE.items()
        for node in nodes
        if isinstance(node, ast.Call) and name == getattr(node.func, "attr", getattr(node.func, "id", ""))
    ]


def test_every_call_of_a_sentence_gives_its_values():
    calls = [call for _, call in calls_of("sentence_of") if isinstance(call.args[0], ast.Constant)]
    assert len(calls) > 50
    for call in calls:
        slots = {slot for _, slot, _, _ in Formatter().parse(SENTENCES[call.args[0].value]) if slot}
        values = {keyword.arg for keyword in call.keywords}
        assert slots <= values or None in values, ast.unparse(call)


def test_every_warning_is_said_somewhere_and_its_kind_is_known():
    nodes = [node for nodes in CODE.values() for node in nodes]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    codes = {code: code.removesuffix(".one").removesuffix(".zero") for code in {**WARNINGS, **HINTS}}
    # of a judge by scores, what is known of its agreement is put behind the code
    stems = {code: re.sub(r"^(judge\.\w+)\.(kappa|one grade)$", r"\1", stem) for code, stem in codes.items()}
    assert [code for code, stem in stems.items() if stem not in texts] == []
    assert {code.partition(".")[0] for code in WARNINGS} <= {*get_args(WarningKind)}


# Words that were made elsewhere, by the file that hands them on.
HANDED_ON = {
    "values/progress.py": {"text"},
    "running/notes.py": {"sentence"},
    "running/session.py": {"sentence"},
    "running/search.py": {"sentence"},
    "running/suspect_text.py": {"line"},
    "running/evaluate/warnings.py": {"alike"},
    "judge/scored.py": {"self._worth(calibration, agreement)"},
    # codes, which functions of these files make sentences of
    "running/hits/scoring_of_hits.py": {"code"},
    "running/chunks.py": {"code"},
    # an error has words of its own, and so has what a configuration lacks
    "running/bench/page.py": {"str(error)"},
    "running/bench/flow.py": {"str(error)"},
    "running/readiness.py": {"problem"},
    # the warnings of an earlier run
    "running/bench/job.py": {"str(error)", "warning"},
    # what steps say, which may be of another package
    "running/meeting.py": {"text"},
}


def test_no_warning_is_worded_where_it_arises():
    strangers = {}
    for file, call in calls_of("warn"):
        words = call.args[0]
        made = isinstance(words, ast.Call) and ast.unparse(words.func).endswith(("sentence_of", "worded"))
        code = isinstance(call.func, ast.Name) and isinstance(words, ast.Constant) and words.value in WARNINGS
        if not made and not code and ast.unparse(words) not in HANDED_ON.get(file, ()):
            strangers[file] = ast.unparse(words)
    assert strangers == {}


# Notes that were worded elsewhere, by the file that hands them on.
NOTES_HANDED_ON = {
    "values/progress.py": {"text"},
    "running/suspect_text.py": {"line"},
    "running/hits/scoring_of_hits.py": {"placed"},
    "running/evaluate/evaluating.py": {"clustered_sentence(clusters)"},
    "running/evaluate/warnings.py": {"assumed"},
    "running/tuning/sampling.py": {"_line(sampled, count)"},
    "running/fast_int8.py": {"_outcome(config.model, trial, probe, most)"},
    "running/bench/quick.py": {"self.rest()", "sentence()"},
    "running/stored_oddities.py": {"held", "passing"},
    "running/existing.py": {"reading"},
    "running/compute.py": {"waiting"},
    "labels/label_page/answer_service.py": {"line"},
    "cli/commands/score_runs.py": {"about + note"},
    # an estimate has words of its own
    "running/judging/pool.py": {"f'{name}: {estimate}'"},
    "running/resources.py": {"f'{_title(request)}: {estimate}'"},
    "running/bench/plan.py": {"line"},
    # what steps say, which may be of another package
    "running/meeting.py": {"text"},
}
# What other things than reporters are told.
NOT_SAID = {"graded", "fault"}


def test_no_note_is_worded_where_it_arises():
    strangers, made = {}, 0
    for file, call in calls_of("note"):
        words = call.args[0]
        if isinstance(words, ast.Name) and words.id in NOT_SAID:
            continue
        told, maker = ast.unparse(words), ast.unparse(getattr(words, "func", words))
        if maker.endswith(("sentence_of", "worded", "_line")):
            made += 1
        elif told not in NOTES_HANDED_ON.get(file, ()):
            strangers[file] = told
    assert strangers == {}
    assert made > 30


def test_every_note_is_said_somewhere():
    texts = {
        node.value
        for nodes in CODE.values()
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    notes = [name for name in NAMED_TABLES if name not in ("SENTENCES", "FAILURES")]
    codes = {code.removesuffix(".one") for name in notes for code in NAMED_TABLES[name]}
    # put behind a code where a key helps, or by where something was measured
    stems = {re.sub(r"\.(key|ray|process|unmeasured)$", "", code) for code in codes}
    assert stems - texts == set()


def test_no_step_words_a_warning_where_it_arises():
    lists = [call.args[0] for name in ("Warned", "Noted") for _, call in calls_of(name)]
    assert len(lists) >= 9
    for words in lists:
        made = [ast.unparse(word).startswith(("worded(", "altered")) for word in getattr(words, "elts", ())]
        assert all(made) if made else ast.unparse(words) == "heard.warnings", ast.unparse(words)
