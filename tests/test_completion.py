"""`harness completion`: what the shells themselves offer, asked in the shells."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

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
