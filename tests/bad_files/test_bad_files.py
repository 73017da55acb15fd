"""What a bad file says: its name, the place, what is wrong and what to do, on one line, for every reader."""

import re
from pathlib import Path

import pytest

from harness.values.errors import HarnessError
from tests.bad_files import benchmark, collections, kept, people, scored, settings, tools
from tests.command import one_line, run

MODULES = (benchmark, settings, scored, collections, tools, people, kept)
KINDS = {name: kind for module in MODULES for name, kind in module.KINDS.items()}
ROWS = [(name, *row) for module in MODULES for name, rows in module.ROWS.items() for row in rows]
assert len(KINDS) == sum(len(module.KINDS) for module in MODULES)

READ = "{file}: cannot be read (No such file or directory). Check that it is there."
SPECIAL = "{file}: is a folder, not a file. Write the content to a file and name that."
EMPTY = "{file}: the file is empty. Fill it, or point to another file."
BARE = "{file}: there is no row below the header. Add some, or point to another file."
CODED = (
    "{file}: byte 0xe9 at offset … is not UTF-8 (line …); the file is in another encoding. Save it as UTF-8."
)
NUL = "{file}: 1 of its … bytes are NUL, the first at offset … Save it as text in UTF-8"
OF_YAML = {
    "missing": "There is no configuration file {file}.",
    "a folder": "{file} is a folder, not a configuration file. Name one.",
    "empty": "{file}:1: a configuration is a mapping of keys to values, such as `name: quickstart`.",
    "only a header": "{file}:1: … this key is missing; docs/configuration.md describes it.",
    "not UTF-8": "{file}:…: this is not UTF-8 text; save the file as UTF-8.",
    "NUL bytes": "{file}:…: this is not valid YAML: the character '\\x00' is not allowed. Remove it.",
}
OF_TABLES = {
    "missing column": "{file}: there is no column … Add or rename one.",
    "a row too short": "{file}, line {last}: 1 field where the header has … Add the others.",
}
OF_LINES = {
    "damaged JSON": "{file}, line {last}: … (Expecting … Write",
    "wrong type in a row": "{file}, line {last}: '5' is not an object. Write one per line.",
}
FAULTS = {
    "missing": READ,
    "a folder": SPECIAL,
    "empty": EMPTY,
    "only a header": BARE,
    "not UTF-8": CODED,
    "NUL bytes": NUL,
}
REMEDY = re.compile(
    r"\b(?:Add|Check|Choose|Convert|Correct|Count|Download|Export|Fetch|Fill|Give|Grade|Import|Keep|Leave|Lower"
    r"|Make|Name|Number|Point|Remove|Rename|Save|Separate|Shorten|Take|Translate|Use|Write)\b"
    r"|[;:] (?:add|check|convert|correct|fill|give|keep|leave|name|remove|save|write)\b|or (?:give|write)\b"
    r"|[Dd]id you mean|such as|known keys|Known kinds|docs/|should be|should have|must be|needs|from 1 to"
    r"|spelled the same way\?"
)


def faults_of(kind):
    """The faults that any file of this kind may have, with the messages that they are met with."""
    says = dict(FAULTS)
    ending = Path(kind.file).suffix
    if ending in (".csv", ".tsv"):
        says |= OF_TABLES if ending == ".csv" else {}
    elif ending == ".jsonl":
        del says["only a header"]
        says |= OF_LINES
    elif ending == ".yaml":
        says |= OF_YAML
    return says | kind.says


def damaged(content, fault):
    """The content of a file with a fault."""
    first, _, rest = content.partition(b"\n")
    # at the second line, where there is one
    place = len(first) + 2 if rest else 1
    inside = {"not UTF-8": b"\xe9\xff\xe4\xb8\xe4\xb8", "NUL bytes": b"\0"}
    added = {"a row too short": b"zz\n", "damaged JSON": b'{"a": [1, 2\n', "wrong type in a row": b"5\n"}
    if fault in inside:
        return content[:place] + inside[fault] + content[place:]
    if fault in added:
        return content + added[fault]
    if fault == "missing column":
        return b"zz" + content[content.index(b",") :]
    return {"empty": b"", "only a header": first + b"\n"}[fault]


def as_bytes(content):
    return content if isinstance(content, bytes) else content.encode()


def written(folder, kind):
    """The folder of a kind as it works; the path of its file."""
    for name, content in kind.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(content))
    return folder / kind.file


def outcome(kind, capsys):
    """The exit code, what was printed to stdout, and the error on one line."""
    if isinstance(kind.command, str):
        code, out, err = run(capsys, *kind.command.split())
        return code, out, err
    try:
        kind.command()
        return 0, "", ""
    except HarnessError as error:
        return 1, "", f"error: {error}"


def check(kind, says, capsys):
    """The command succeeds where ``says`` is '', and else fails with that message."""
    code, out, err = outcome(kind, capsys)
    assert code == (1 if says else 0), out + err
    assert "internal fault" not in err
    assert "Traceback" not in err
    if not says:
        return
    assert len(re.findall(r"^error: ", err, re.MULTILINE)) == 1, err
    shown = one_line(err)
    message = shown[shown.index("error: ") :]
    file = kind.file
    last = as_bytes(kind.files[file]).count(b"\n") + 1
    named = {"file": file, "name": Path(file).name, "stem": Path(file).stem, "last": last}
    for name, value in named.items():
        says = says.replace(f"{{{name}}}", str(value))
    pieces = [re.escape(piece.strip()) for piece in says.split("…")]
    assert re.match(r"error: (?:\d+ rows cannot be used: )?" + ".*".join(pieces), message), message
    assert REMEDY.search(message), message


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path, monkeypatch, cache):
    """Where a command is run; what it reads is as new, but parsed once."""
    (tmp_path / ".cache").symlink_to(cache)
    monkeypatch.chdir(tmp_path)
    return tmp_path


EVERY = [(name, fault, says) for name, kind in KINDS.items() for fault, says in faults_of(kind).items()]


@pytest.mark.parametrize(
    ("name", "fault", "says"), EVERY, ids=[f"{name}: {fault}" for name, fault, _ in EVERY]
)
def test_a_fault_that_any_file_may_have(name, fault, says, folder, capsys):
    kind = KINDS[name]
    path = written(folder, kind)
    content = path.read_bytes()
    path.unlink()
    if fault == "a folder":
        path.mkdir()
    elif fault != "missing":
        path.write_bytes(damaged(content, fault))
    check(kind, says, capsys)


@pytest.mark.parametrize(
    ("name", "fault", "content", "says"), ROWS, ids=[f"{name}: {fault}" for name, fault, _, _ in ROWS]
)
def test_a_fault_of_its_own(name, fault, content, says, folder, capsys):
    kind = KINDS[name]
    path = written(folder, kind)
    if isinstance(content, tuple):
        old, new = content
        whole = kind.files[kind.file]
        assert old in whole
        content = whole.replace(old, new, 1)
    assert content != kind.files[kind.file]
    path.write_bytes(as_bytes(content))
    check(kind, says, capsys)


# A document is as it is; what the harness alone writes and reads is never saved by a spreadsheet.
AS_THEY_ARE = ("document", "step of a test set")


def results(kind, folder, capsys):
    """What a command prints and writes."""
    code, out, err = outcome(kind, capsys)
    assert code == 0, err
    made = [path for path in sorted((folder / "out").rglob("*")) if path.is_file()]
    return out, [(path.relative_to(folder), path.read_bytes()) for path in made]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in AS_THEY_ARE])
def test_line_ends_blank_lines_and_a_byte_order_mark_change_nothing(name, tmp_path, monkeypatch, capsys):
    kind = KINDS[name]
    found = []
    for folder, change in ((tmp_path / "plain", False), (tmp_path / "windows", True)):
        path = written(folder, kind)
        monkeypatch.chdir(folder)
        if change:
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
        found.append(results(kind, folder, capsys))
    assert found[0] == found[1]
