"""`harness completion`: what the shells themselves offer, asked in the shells."""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time

import pytest

from harness.cli import main
from tests.command import printed, write_files

BASH = """
source "$1"
shift
for line in "$@"; do
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _harness
  echo "${COMPREPLY[*]}"
done
"""
# a line that is typed, what is offered for it, and what is not
LINES = {
    "harness be": ({"bench"}, {"judge"}),
    "harness ": ({"bench", "judge", "completion", "testset"}, {"--help"}),
    "harness bench --e": ({"--engine"}, {"--quiet"}),
    "harness bench --engine ": ({"local", "ray"}, {"mine.yaml"}),
    "harness bench mi": ({"mine.yaml"}, {"mine.csv"}),
    "harness judge a": ({"agreement", "answers"}, {"export"}),
    "harness testset my-set st": ({"status"}, {"propose"}),
    "harness compare results --measure ndcg_ex": ({"ndcg_exp@10"}, {"recall@10"}),
    "harness show re": ({"results"}, {"mine.yaml"}),
    "harness score --hits mi": ({"mine.csv"}, {"results"}),
}


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path, {"mine.yaml": "", "mine.csv": "", "results/mine/summary.csv": ""})
    return tmp_path


def saved(folder, capsys, shell):
    """The script of a shell, in a file."""
    import harness.cli

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        harness.cli.main(["completion", shell])
    assert ended.value.code == 0
    path = folder / f".{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def check(offers):
    """Compare what was offered, a set of words by line, with what has to be."""
    for line, (wanted, refused) in LINES.items():
        words = {word.rstrip("/") for word in offers[line]}
        assert wanted <= words, (line, words)
        assert not refused & words, (line, words)


def test_bash_offers_commands_options_files_and_measures(folder, capsys):
    script = saved(folder, capsys, "bash")
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", str(script), *LINES],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    check({line: row.split() for line, row in zip(LINES, done.stdout.splitlines(), strict=True)})


def test_fish_offers_them_too(folder, capsys):
    script = saved(folder, capsys, "fish")
    if shutil.which("fish") is None:
        pytest.skip("needs fish, a shell")
    words = " ".join(f'"{line}"' for line in LINES)
    ask = f'source {script}; for line in {words}; echo "> $line"; complete -C "$line"; end'
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask], cwd=folder, capture_output=True, text=True, check=True
    )
    offers = {}
    for row in done.stdout.splitlines():
        if row.startswith("> "):
            words = offers[row[2:]] = set()
        else:
            words.add(row.split("\t")[0])
    # fish sorts files of the right kind first, and offers the others too
    offers["harness bench mi"].discard("mine.csv")
    offers["harness score --hits mi"].discard("results")
    check(offers)


def test_powershell_offers_them_too(folder, capsys):
    script = saved(folder, capsys, "powershell")
    if shutil.which("pwsh") is None:
        pytest.skip("needs pwsh, a shell")
    ask = [f". {script}"]
    for line in LINES:
        matches = f"[Management.Automation.CommandCompletion]::CompleteInput('{line}', {len(line)}, $null)"
        ask += [f"'> {line}'", f"{matches}.CompletionMatches.ListItemText"]
    done = subprocess.run(
        ["pwsh", "-NoProfile", "-Command", "; ".join(ask)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    offers = {}
    for row in done.stdout.splitlines():
        if row.startswith("> "):
            words = offers[row[2:]] = set()
        else:
            words.add(row)
    check(offers)


# a text in single quotes, where two are one; none of the curly quotes that PowerShell takes for them
TEXT = re.compile(r"'((?:[^'\u2018-\u201b]|'')*)'")
ENTRY = re.compile(rf"{TEXT.pattern} = (?:@\((.*?)\)|{TEXT.pattern})(?:; |$)")


def powershell_words(script):
    """What follows each command, by the tables of the script: (parts, options, values, takes, place)."""
    table = script.partition("$commands = @{\n")[2].partition("\n  }\n")[0]
    block = re.compile(
        rf"    {TEXT.pattern} = @{{\n"
        r"      'parts' = \[ordered\]@{(.*)}\n"
        r"      'options' = \[ordered\]@{(.*)}\n"
        r"      'values' = @{(.*)}\n"
        r"      'takes' = @\((.*)\)\n"
        r"      'place' = '(file|folder|yaml|)'\n"
        r"    }(?:\n|$)"
    )
    # nothing stands between the tables, and nothing between the entries of one
    assert block.sub("", table) == ""
    commands = {}
    for path, *rows, takes, place in block.findall(table):
        assert [ENTRY.sub("", row) for row in rows] == ["", "", ""]
        parts, options, values = (ENTRY.findall(row) for row in rows)
        assert path not in commands
        commands[path] = (
            {name: about for name, _, about in parts},
            {name: about for name, _, about in options},
            {name: tuple(TEXT.findall(listed)) for name, listed, _ in values},
            TEXT.findall(takes),
            place,
        )
    return commands


def test_the_script_for_powershell_has_the_words_of_every_command(folder, capsys):
    script = saved(folder, capsys, "powershell").read_text(encoding="utf-8")
    commands = powershell_words(script)
    bash = saved(folder, capsys, "bash").read_text(encoding="utf-8")
    row = re.compile(
        r"^    (\S+|'[^']*')\) parts=('[^']*'|\S+) options=('[^']*'|\S+) place=(\w*) ;;$", re.MULTILINE
    )
    by_bash = {
        f"harness {shlex.split(path)[0]}".strip(): (
            *(shlex.split(words)[0].split() for words in lists),
            place,
        )
        for path, *lists, place in row.findall(bash)
    }
    assert len(by_bash) > 40
    assert {
        path: (list(parts), list(options), place) for path, (parts, options, _, _, place) in commands.items()
    } == by_bash
    for path, (parts, options, values, takes, _) in commands.items():
        # PowerShell does not tell upper from lower case in names of a table
        assert len({name.casefold() for name in (*parts, *options)}) == len(parts) + len(options), path
        assert values.keys() | {*takes} <= options.keys()
        assert not values.keys() & {*takes}
        assert {f"{path} {part}" for part in parts} <= commands.keys()
        # words that need no quotes on the line, and descriptions that are not empty
        offered = (*parts, *options, *(name for some in values.values() for name in some))
        assert [name for name in offered if not re.fullmatch(r"[\w.:+/-][\w.:+/@-]*", name)] == []
        assert all((*parts.values(), *options.values()))


@pytest.mark.parametrize("path", ["harness", "harness bench", "harness score", "harness judge answers"])
def test_the_script_for_powershell_has_the_options_of_the_help(path, folder, capsys):
    commands = powershell_words(saved(folder, capsys, "powershell").read_text(encoding="utf-8"))
    with pytest.raises(SystemExit):
        main([*path.split()[1:], "--help"])
    shown = capsys.readouterr().out
    parts, options, *_ = commands[path]
    assert options.keys() == set(re.findall(r"^ +(?:-\w(?: [A-Z]+)?, )?(--[\w-]+)", shown, re.MULTILINE))
    assert {part for part in parts if not re.search(rf"^ +{part}\b", shown, re.MULTILINE)} == set()


def test_quotes_and_brackets_of_the_script_for_powershell_are_closed(folder, capsys):
    script = saved(folder, capsys, "powershell").read_text(encoding="utf-8")
    # a console of Windows may read other letters as quotes
    assert script.isascii()
    code = re.sub(r"^\s*#.*", "", script, flags=re.MULTILINE)
    code = re.sub(r'"[^"\n]*"', "", TEXT.sub("", code))
    assert not set("'\"`") & set(code)
    open_ones = []
    for letter in code:
        if letter in "([{":
            open_ones.append(letter)
        elif letter in ")]}":
            assert open_ones.pop() + letter in ("()", "[]", "{}")
    assert open_ones == []


@pytest.mark.slow
def test_zsh_offers_them_too(folder, capsys):
    script = saved(folder, capsys, "zsh")
    if shutil.which("zsh") is None:
        pytest.skip("needs zsh, a shell")
    subprocess.run(["zsh", "-n", str(script)], check=True)
    zsh = Terminal("zsh", "-f", "-i", folder=folder)
    zsh.types(f"autoload -Uz compinit; compinit -u -D; source {script}\n")
    zsh.read(quiet=3.0)
    for line, (wanted, refused) in LINES.items():
        zsh.types("\x15")
        zsh.read()
        # the first tab completes what all have in common, a second one lists them
        zsh.types(f"{line}\t")
        offers = words_in(zsh.read())
        if not wanted <= offers:
            zsh.types("\t")
            offers |= words_in(zsh.read())
        assert wanted <= offers, (line, offers)
        assert not refused & offers, (line, offers)
    zsh.close()


def words_in(screen):
    """The words of what a terminal is sent, without colours and movements."""
    plain = re.sub(r"\x1b\[[0-9;?]*m|\x07", "", screen)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x08", " ", plain)
    return {word.rstrip("/") for word in plain.split()}


class Terminal:
    """An interactive program in a terminal of its own."""

    def __init__(self, *command, folder):
        ours, its = pty.openpty()
        self._ours = ours
        environment = {**os.environ, "TERM": "xterm", "PS1": "$ ", "COLUMNS": "200", "LINES": "200"}
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True
        )
        os.close(its)

    def types(self, text):
        os.write(self._ours, text.encode())

    def read(self, quiet=1.0):
        """What is written until nothing comes for a while."""
        written, last = b"", time.monotonic()
        while time.monotonic() - last < quiet:
            if select.select([self._ours], [], [], 0.1)[0]:
                written += os.read(self._ours, 65536)
                last = time.monotonic()
        return written.decode(errors="replace")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


def test_help_says_where_scripts_go(capsys):
    assert "~/.config/fish/completions/harness.fish" in printed(capsys, "completion", "--help")
