"""What a bad file says: its name, the place and what to do, on one line, for every reader."""

import re
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from harness.values import HarnessError
from tests.bad_files import benchmark, people, scored
from tests.bad_files.kind import faults_of_columns
from tests.command import one_line, run, write_files

MODULES = (benchmark, people, scored)
KINDS = {name: kind for module in MODULES for name, kind in module.KINDS.items()}
OWN = {name: list(faults_of_columns(kind)) if kind.row else [] for name, kind in KINDS.items()}
for module in MODULES:
    for name, rows in module.ROWS.items():
        OWN[name] += rows
assert len(KINDS) == sum(len(module.KINDS) for module in MODULES)

FAULTS = ("missing", "a folder", "empty", "only a header", "not UTF-8", "NUL bytes")
OF_TABLES = ("missing column", "a row too short")
OF_LINES = ("damaged JSON", "wrong type in a row")
# the faults that have a place in the file
PLACED = ("not UTF-8", "NUL bytes", "a row too short", *OF_LINES)
PLACE = r"UTF-16|\b(?:line|offset|entry|column|position) #?\d|:\d+: "
REMEDY = re.compile(
    r"\b(?:Add|Check|Choose|Convert|Correct|Count|Download|Export|Fetch|Fill|Give|Grade|Import|Keep|Leave|Lower"
    r"|Make|Name|Number|Point|Remove|Rename|Save|Separate|Shorten|Take|Translate|Use|Write)\b"
    r"|[;:] (?:add|check|convert|correct|fill|give|keep|leave|name|remove|save|write)\b|or (?:give|write)\b"
    r"|[Dd]id you mean|such as|known keys|Known kinds|docs/|should be|should have|must be|needs|from 1 to"
    r"|spelled the same way\?"
)


def faults_of(kind):
    """The faults that any file of this kind may have."""
    ending = Path(kind.file).suffix
    more = {".csv": OF_TABLES, ".jsonl": OF_LINES}.get(ending, ())
    return [fault for fault in (*FAULTS, *more) if (ending, fault) != (".jsonl", "only a header")]


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
    write_files(folder, kind.files)
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


def failure(kind, capsys):
    """What a command says that fails as it should: one error, which names the file and the remedy."""
    code, out, err = outcome(kind, capsys)
    assert code == 1, out + err
    assert "internal fault" not in err
    assert "Traceback" not in err
    assert len(re.findall(r"^error: ", err, re.MULTILINE)) == 1, err
    shown = one_line(err)
    message = shown[shown.index("error: ") :]
    assert any(name in message for name in names_of(kind)), message
    assert REMEDY.search(message), message
    return message


def names_of(kind):
    """How a message may name where to look: the file, its folder, or the line that points to it."""
    path = Path(kind.file)
    pointing = [f"{Path(file).name}, line " for file in kind.files]
    return [path.name, f"{path.parent}: ", f"{path.parent}/", *pointing]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder_of(tmp_path, cache):
    """A folder for each fault, where a command is run; what it reads is as new, but parsed once."""

    @contextmanager
    def entered(fault):
        folder = tmp_path / fault.replace(" ", "_")
        folder.mkdir()
        (folder / ".cache").symlink_to(cache)
        try:
            with chdir(folder):
                yield folder
        except BaseException as error:
            error.add_note(f"with the fault: {fault}")
            raise

    return entered


def written_with_fault(folder, kind, fault):
    """The folder of a kind whose file has a fault that any file may have."""
    path = written(folder, kind)
    content = path.read_bytes()
    path.unlink()
    if fault == "a folder":
        path.mkdir()
    elif fault != "missing":
        path.write_bytes(damaged(content, fault))


def contents(kind, rows):
    """The faults of a kind's own: (fault, the bytes of the file, where it is)."""
    whole = kind.files[kind.file]
    for fault, content, place in rows:
        if isinstance(content, tuple):
            old, new = content
            assert old in whole, fault
            content = whole.replace(old, new, 1)
        assert content != whole, fault
        yield fault, as_bytes(content), place


@pytest.mark.parametrize("name", KINDS)
def test_a_fault_that_any_file_may_have(name, folder_of, capsys):
    kind = KINDS[name]
    for fault in faults_of(kind):
        with folder_of(fault) as folder:
            written_with_fault(folder, kind, fault)
            if fault in kind.fine:
                assert outcome(kind, capsys)[0] == 0
            else:
                message = failure(kind, capsys)
                assert fault not in PLACED or re.search(PLACE, message), message


@pytest.mark.parametrize("name", [name for name in KINDS if OWN[name]])
def test_a_fault_of_its_own(name, folder_of, capsys):
    """``place`` is the number of a line, or words that name another place; '' if the command succeeds."""
    kind = KINDS[name]
    for fault, content, place in contents(kind, OWN[name]):
        with folder_of(fault) as folder:
            written(folder, kind).write_bytes(content)
            if place == "":
                assert outcome(kind, capsys)[0] == 0
                continue
            message = failure(kind, capsys)
            if isinstance(place, int):
                assert re.search(rf"(?:\bline |:){place}\b", message), message
            else:
                assert place in message, message


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
