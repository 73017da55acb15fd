"""Whatever has become of a folder of results, a command shows it or says which file is damaged, and how."""

import json
import pickle
import random
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

from harness.cli import main
from harness.report import TABLES, read_graded_spans, read_summary, stored_tables
from harness.values import HarnessError
from tests.command import refused
from tests.report.damages import all_damages, damaged_copy
from tests.report.page_results import rewrite, write_folder

COMMANDS = {
    "show": "show {result}",
    "show the worst": "show {result} --worst 3",
    "show as CSV": "show {result} --format csv",
    "list": "show {root}",
    "report": "report {result} --output {root}/page.html",
    "compare": "compare {result} --format markdown",
    "compare with a whole one": "compare {whole} {result}",
    "gate": "gate {result} --baseline {whole} --junit {root}/junit.xml",
    "gate against it": "gate {whole} --baseline {result}",
}
# Enough to meet every kind of damage; the slow test tries all of them.
QUICKLY = 20
FILES = (
    *("answer_losses", "answer_scores", "answer_summary", "answerability", "chunk_offsets", "chunks"),
    *("documents", "judgments", "passages", "per_query", "prices", "queries", "rankings", "replies"),
    *("reply_passages", "summary", "waterfall", "record"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A whole result with every table, small enough to be read some thousand times."""
    folder = write_folder(tmp_path_factory.mktemp("whole") / "whole", queries=4, ranks=3)
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    record["config"] |= {"queries": "docs/a.pdf", "labels": None, "relevance": {}, "anchor": {}, "parser": {}}
    record["date"] = "2026-03-01T10:20:30+00:00"
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def outcome(words, capsys):
    """The exit code and what was printed; anything but an exit is the traceback a user would see."""
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    return stopped.value.code, capsys.readouterr()


class Opened:
    """The names of the files that this process opens while it watches; a hook can never be removed."""

    def __init__(self):
        self.names = None
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if event == "open" and self.names is not None and isinstance(arguments[0], str):
            self.names.add(Path(arguments[0]).name)


@pytest.fixture(scope="module")
def opened():
    return Opened()


def readers(whole, tmp_path, capsys, opened):
    """Per file of a result the commands that read it; what is inside cannot matter to the others."""
    result = damaged_copy(whole, tmp_path / "result", lambda folder: None)
    found = {path.name: [] for path in whole.iterdir()}
    for command, words in COMMANDS.items():
        opened.names = set()
        code, printed = outcome(words.format(result=result, whole=whole, root=tmp_path), capsys)
        assert code == 0, printed.err
        assert "error" not in printed.err
        for name in opened.names & found.keys():
            found[name].append(command)
        opened.names = None
    return found


@pytest.fixture
def read_once(whole, monkeypatch):
    """Tables that are whole are parsed once, for all commands; those that are damaged each time."""
    read, contents, rows = stored_tables._rows, {path.name: path.read_bytes() for path in whole.iterdir()}, {}

    def reading(path, spec, keep):
        if not path.is_file() or path.read_bytes() != contents[path.name]:
            return read(path, spec, keep)
        key = path.name, str(keep)
        if key not in rows:
            rows[key] = list(read(path, spec, keep))
        return ((number, dict(cells)) for number, cells in rows[key])

    monkeypatch.setattr(stored_tables, "_rows", reading)


@pytest.fixture
def tested_once(monkeypatch):
    """What the same scores come to is computed once, whatever else is damaged; so is how words are read."""

    def once(function):
        results = {}

        def remembered(*arguments):
            key = pickle.dumps(arguments)
            if key not in results:
                results[key] = pickle.dumps(function(*arguments))
            return pickle.loads(results[key])

        return remembered

    for path in ("harness.comparison.paired.decide", "harness.comparison.conclusions.needed_for"):
        monkeypatch.setattr(path, once(resolve_name(path)))
    path = "harness.cli.commands.usage.parser"
    parser = cache(resolve_name(path))
    monkeypatch.setattr(path, lambda words: parser(tuple(words)))


def refusal(result, file):
    """Why the one function that reads a file refuses it, without row and cell; None if it does not."""
    table = file.partition(".")[0]
    try:
        if table in TABLES:
            stored_tables.read_rows(result, table)
    except HarnessError as error:
        why = str(error)
        assert why.isprintable(), why
        return re.sub(r"row \d+|'.*'|\".*\"", "", why)
    return None


def check(whole, tmp_path, damages, capsys, opened):
    reading = readers(whole, tmp_path, capsys, opened)
    assert all(reading.values()), "every file is read by a command"
    refusals = Counter()
    for name, damage in damages:
        result = damaged_copy(whole, tmp_path / "result", damage)
        # "FILE: …" is inside the file; what befalls a file as a whole is tried on every command
        file, inside, _ = name.partition(": ")
        commands = reading[file] if inside else [*COMMANDS]
        if inside and (why := refusal(result, file)):
            # the same error whatever the cell: the first is for all commands, the next for each in turn
            refusals[file, why] += 1
            if times := refusals[file, why] - 1:
                commands = commands[times % len(commands) :][:1]
        for command in commands:
            words = COMMANDS[command]
            code, printed = outcome(words.format(result=result, whole=whole, root=tmp_path), capsys)
            case = f"{command}: {name}\n{printed.err}"
            assert code in (0, 1), case
            assert "Traceback" not in printed.err, case
            # a gate that finds a drop exits with 1 too, and says so in its results
            assert code == 0 or printed.err.startswith("error: ") or "FAILED" in printed.out, case


def test_no_damage_gives_a_traceback(read_once, tested_once, whole, tmp_path, capsys, opened):
    damages = list(all_damages(whole))
    check(whole, tmp_path, random.Random(1).sample(damages, QUICKLY), capsys, opened)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("file", FILES)
def test_none_of_all_damages_gives_a_traceback(read_once, tested_once, whole, tmp_path, capsys, opened, file):
    assert {path.stem for path in whole.iterdir()} == {*FILES}
    damages = (damage for damage in all_damages(whole) if re.match(rf"{file}\.\w+\b", damage[0]))
    check(whole, tmp_path, damages, capsys, opened)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("summary.csv", ",0.", ",O.", "row 1, mean: 'O\\..* a finite number"),
        ("summary.csv", "validation", "train", "repeats one above it"),
        ("summary.csv", "validation", "dev", "is missing for validation"),
        ("summary.csv", ",human", "", "row 1 has 12 cells, the header 13"),
        ("summary.csv", "setting", "\udcff", ""),
        ("summary.csv", None, "setting\na\n", ""),
        ("record.json", '"level": 0.95', '"level": "x"', "bootstrap\\.level"),
        ("record.json", '"name": "made"', '"name": null', "config\\.name has the wrong type"),
        ("record.json", None, "x", ""),
        ("record.json", None, "{}", ""),
    ],
)
def test_the_message_names_file_place_and_remedy(whole, tmp_path, file, old, new, message):
    def damage(folder):
        text = (folder / file).read_text(encoding="utf-8")
        assert old is None or old in text
        changed = new if old is None else text.replace(old, new)
        (folder / file).write_bytes(changed.encode("utf-8", "surrogateescape"))

    result = damaged_copy(whole, tmp_path / "result", damage)
    with pytest.raises(HarnessError, match=rf"{file} is damaged: .*{message}.* Run the benchmark again"):
        read_summary(result)


@pytest.mark.parametrize("answer", ["12", "a-b", "1-2-3"])
def test_a_part_that_answers_without_two_ends_is_damage(whole, tmp_path, answer):
    def damage(folder):
        rewrite(folder / "judgments.csv", lambda row: row | {"answer": answer, "scored_on": "yes"})

    result = damaged_copy(whole, tmp_path / "result", damage)
    with pytest.raises(HarnessError, match=r"judgments\.csv is damaged"):
        read_graded_spans(result)


def test_a_file_in_place_of_a_folder_is_not_called_damaged(whole):
    with pytest.raises(HarnessError, match=r"record\.json is a file, not a folder of results"):
        read_summary(whole / "record.json")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("waterfall.csv", "show {}"),
        ("waterfall.csv", "report {}"),
        ("per_query.csv", "report {}"),
        ("per_query.csv", "compare {}"),
    ],
)
def test_a_file_of_another_run_is_refused_by_its_name(whole, tmp_path, capsys, file, words):
    def other_settings(folder):
        rewrite(folder / file, lambda row: row | {"setting": f"other {row['setting']}"})

    folder = damaged_copy(whole, tmp_path / "result", other_settings)
    assert f"{file} is damaged" in refused(capsys, *words.format(folder).split())
