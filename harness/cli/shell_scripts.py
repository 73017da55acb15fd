"""Scripts by which a shell completes the words of `harness`, made from the parser of its commands."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Place = Literal["", "file", "folder", "yaml"]
SHELLS = ("bash", "zsh", "fish", "powershell")
_PLACES: dict[str, Place] = {"config": "yaml", "results": "folder"}
_MEASURES = {"--measure", "--measures"}


@dataclass(frozen=True, slots=True)
class Words:
    """What may follow a command: parts and options with a line of help, what an option takes, and files.

    ``values`` are those of options with choices or measures, ``takes`` all options with a value.
    """

    path: str
    parts: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    place: Place = ""


def script(shell: str, parser: argparse.ArgumentParser, measures: Iterable[str]) -> str:
    """The script for ``shell``, one of ``SHELLS``; ``measures`` are the names that options of them offer."""
    commands = list(_words(parser, "", tuple(measures)))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish, "powershell": _powershell}[shell](commands)


def _words(parser: argparse.ArgumentParser, path: str, measures: tuple[str, ...]) -> Iterator[Words]:
    parts: dict[str, str] = {}
    options: dict[str, str] = {}
    values: dict[str, tuple[str, ...]] = {}
    takes: list[str] = []
    place: Place = ""
    deeper: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            deeper = dict(action.choices)
            parts = {listed.dest: _short(listed.help) for listed in action._choices_actions}
        elif action.option_strings:
            long = max(action.option_strings, key=len)
            options[long] = _short(action.help)
            if action.nargs != 0:
                takes.append(long)
                named = tuple(map(str, action.choices or ()))
                values |= {long: measures if long in _MEASURES else named}
        elif not place:
            place = _PLACES.get(action.dest, "file")
    yield Words(
        path, parts, options, {name: some for name, some in values.items() if some}, tuple(takes), place
    )
    for name, inner in deeper.items():
        yield from _words(inner, f"{path} {name}".strip(), measures)


def _short(text: str | None) -> str:
    """The first clause of a line of help, without what a shell would read."""
    clause = " ".join((text or "").replace("%%", "%").split()).split(";")[0].split(". ")[0]
    return "".join(letter for letter in clause if letter not in "'\"`$\\:[]")[:70].strip()


def _walk(commands: list[Words]) -> str:
    """The alternatives of a ``case`` that goes from one command to a part of it."""
    return "|".join(shlex.quote(words.path) for words in commands if words.path)


_BASH = """\
# completion of harness for bash: source this file, or save it as
# ~/.local/share/bash-completion/completions/harness
_harness() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${at:+$at }${COMP_WORDS[i]}" in
      %(walk)s) at="${at:+$at }${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at:$prev" in
%(values)s
%(takes)s
  esac
  local parts= options= place=
  case "$at" in
%(commands)s
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  COMPREPLY=($(compgen -W "$parts" -- "$cur"))
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  case "$place" in
    folder) COMPREPLY+=($(compgen -d -- "$cur")) ;;
    yaml) COMPREPLY+=($(compgen -f -X '!*.y*ml' -- "$cur") $(compgen -d -- "$cur")) ;;
    file) COMPREPLY+=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _harness harness
"""


def _bash(commands: list[Words]) -> str:
    values = [
        f"    {shlex.quote(f'{words.path}:{name}')}) COMPREPLY=($(compgen -W {shlex.quote(' '.join(some))} "
        '-- "$cur")); return ;;'
        for words in commands
        for name, some in words.values.items()
    ]
    takes = [
        f"    {shlex.quote(f'{words.path}:{name}')}) compopt -o filenames 2>/dev/null; "
        "local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;"
        for words in commands
        for name in words.takes
        if name not in words.values
    ]
    cases = [
        f"    {shlex.quote(words.path)}) parts={shlex.quote(' '.join(words.parts))} "
        f"options={shlex.quote(' '.join(words.options))} place={words.place} ;;"
        for words in commands
    ]
    return _BASH % {
        "walk": _walk(commands),
        "values": "\n".join(values),
        "takes": "\n".join(takes),
        "commands": "\n".join(cases),
    }


_ZSH = """\
#compdef harness
# completion of harness for zsh: save it as _harness in a folder of $fpath, or source it after compinit
_harness() {
  local at= word prev=$words[CURRENT-1] place=
  local -a parts options values
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      (%(walk)s) at="${at:+$at }$word" ;;
    esac
  done
  case "$at:$prev" in
%(values)s
%(takes)s
  esac
  case "$at" in
%(commands)s
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  (( $#parts )) && _describe command parts
  case "$place" in
    (folder) _files -/ ;;
    (yaml) _files -g '*.(yaml|yml)' ;;
    (file) _files ;;
  esac
}
compdef _harness harness
"""


def _zsh(commands: list[Words]) -> str:
    def described(entries: Mapping[str, str]) -> str:
        return " ".join(shlex.quote(f"{name}:{about}") for name, about in entries.items())

    values = [
        f"    ({shlex.quote(f'{words.path}:{name}')}) "
        f"values=({shlex.join(some)}); compadd -a values; return ;;"
        for words in commands
        for name, some in words.values.items()
    ]
    takes = [
        f"    ({shlex.quote(f'{words.path}:{name}')}) _files; return ;;"
        for words in commands
        for name in words.takes
        if name not in words.values
    ]
    cases = [
        f"    ({shlex.quote(words.path)}) parts=({described(words.parts)}) "
        f"options=({described(words.options)}) place={words.place} ;;"
        for words in commands
    ]
    return _ZSH % {
        "walk": _walk(commands),
        "values": "\n".join(values),
        "takes": "\n".join(takes),
        "commands": "\n".join(cases),
    }


_FISH = """\
# completion of harness for fish: save it as ~/.config/fish/completions/harness.fish
function __harness_at
  set -l at
  for word in (commandline -opc)[2..-1]
    set -l deeper (string trim "$at $word")
    contains -- "$deeper" %(walk)s; and set at "$deeper"
  end
  test "$at" = "$argv[1]"
end
complete -c harness -f
"""


def _fish(commands: list[Words]) -> str:
    walk = " ".join(shlex.quote(words.path) for words in commands if words.path)
    lines = []
    for words in commands:
        at = f"complete -c harness -n {shlex.quote(f'__harness_at {shlex.quote(words.path)}')}"
        lines += [f"{at} -a {name} -d {shlex.quote(about)}" for name, about in words.parts.items()]
        for name, about in words.options.items():
            line = f"{at} -l {name.removeprefix('--')} -d {shlex.quote(about)}"
            if name in words.values:
                line += f" -xa {shlex.quote(' '.join(words.values[name]))}"
            elif name in words.takes:
                line += " -rF"
            lines.append(line)
        found = {
            "folder": "-a '(__fish_complete_directories)'",
            "yaml": "-a '(__fish_complete_suffix .yaml)'",
            "file": "-F",
        }
        if words.place:
            lines.append(f"{at} {found[words.place]}")
    return _FISH % {"walk": walk} + "\n".join(lines) + "\n"


_POWERSHELL = """\
# completion of harness for PowerShell: in the file that $PROFILE names, write
# harness completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName harness -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = @{
%(commands)s
  }
  $at = 'harness'
  $prev = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    # the word at the cursor is what is completed
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $prev = $element.Extent.Text
    if ($commands.ContainsKey("$at $prev")) { $at = "$at $prev" }
  }
  $command = $commands[$at]
  function Select-Word($name, $about, $kind) {
    if ($name.StartsWith($wordToComplete, [System.StringComparison]::OrdinalIgnoreCase)) {
      [System.Management.Automation.CompletionResult]::new($name, $name, $kind, $about)
    }
  }
  function Select-File($place) {
    [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete) | Where-Object {
      $isFolder = $_.ResultType -eq 'ProviderContainer'
      $place -eq 'file' -or $isFolder -or ($place -eq 'yaml' -and $_.ListItemText -match '\\.ya?ml$')
    }
  }
  if ($command['values'].Contains($prev)) {
    $command['values'][$prev] | ForEach-Object { Select-Word $_ $_ 'ParameterValue' }
  } elseif ($command['takes'] -contains $prev) {
    Select-File 'file'
  } elseif ($wordToComplete.StartsWith('-')) {
    $command['options'].GetEnumerator() | ForEach-Object { Select-Word $_.Key $_.Value 'ParameterName' }
  } else {
    $command['parts'].GetEnumerator() | ForEach-Object { Select-Word $_.Key $_.Value 'Command' }
    if ($command['place']) { Select-File $command['place'] }
  }
}
"""


def _powershell(commands: list[Words]) -> str:
    def listed(names: Iterable[str]) -> str:
        return f"@({', '.join(map(_literal, names))})"

    def described(entries: Mapping[str, str]) -> str:
        # a word without help is its own: PowerShell takes no empty description
        return _table((name, _literal(about or name)) for name, about in entries.items())

    tables = [
        f"    {_literal(f'harness {words.path}'.strip())} = @{{\n"
        f"      'parts' = [ordered]{described(words.parts)}\n"
        f"      'options' = [ordered]{described(words.options)}\n"
        f"      'values' = {_table((name, listed(some)) for name, some in words.values.items())}\n"
        f"      'takes' = {listed(name for name in words.takes if name not in words.values)}\n"
        f"      'place' = {_literal(words.place)}\n"
        "    }"
        for words in commands
    ]
    return _POWERSHELL % {"commands": "\n".join(tables)}


def _table(entries: Iterable[tuple[str, str]]) -> str:
    return "@{" + "; ".join(f"{_literal(name)} = {value}" for name, value in entries) + "}"


def _literal(text: str) -> str:
    """A text in single quotes, in which PowerShell expands nothing.

    It takes curly quotes for straight ones, and reads what a command prints by the code page of the console:
    so letters beyond ASCII become question marks.
    """
    plain = text.replace("\u2026", "...").encode("ascii", "replace").decode("ascii")
    return "'" + plain.replace("'", "''") + "'"
