"""The layout of `--help`: prose wraps to the terminal, examples stay on their lines."""

from __future__ import annotations

import argparse
import re
import textwrap

_COMMENT = re.compile(r"^(?P<indent> +)(?P<command>\S.*?) {2,}(?P<comment>\S.*)$")


class Help(argparse.RawDescriptionHelpFormatter):
    """Wraps paragraphs; the comment of an example that is too wide comes first, on a line of its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        out: list[str] = []
        prose: list[str] = []
        for line in [*text.splitlines(), ""]:
            if line[:1].strip():
                prose.append(line)
                continue
            if prose:
                out += textwrap.wrap(" ".join(prose), width, break_long_words=False, break_on_hyphens=False)
                prose = []
            out += _example(line, width)
        return "\n".join(indent + line for line in out).rstrip() + "\n"

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


def _example(line: str, width: int) -> list[str]:
    # a line of data is pasted as it stands
    if len(line) <= width or line.lstrip().startswith("{"):
        return [line]
    parts = _COMMENT.match(line)
    if parts is None:
        return _folded(line, width)
    comment = f"# {parts['comment'].removeprefix('# ')}"
    wrapped = textwrap.wrap(comment, width - len(parts["indent"]), subsequent_indent="# ")
    command = parts["indent"] + parts["command"]
    return [parts["indent"] + one for one in wrapped] + (
        [command] if len(command) <= width else _folded(command, width)
    )


def _folded(command: str, width: int) -> list[str]:
    """A command over several lines, as a shell takes it."""
    indent = " " * (len(command) - len(command.lstrip()))
    lines = textwrap.wrap(
        command.strip(),
        width - len(indent) - 2,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    joined = [indent + line for line in lines]
    return [line + " \\" for line in joined[:-1]] + joined[-1:]
