"""`harness check-kind`: does a step of your own keep the contract?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from harness import running
from harness.cli.commands.declaring import command, option, several
from harness.cli.terminal import print_line
from harness.values import ConfigError, counted

_ROLES = ("retriever", "reranker", "rewriter", "chunker", "parser")
_DESCRIPTION = """\
Try your own steps on small texts, and report for each rule of the contract whether they keep it.

  harness check-kind my.yaml                       all of kind python or http
  harness check-kind mine:search --as retriever    a function
  harness check-kind mine:read --as parser --file report.docx

Functions and services are called about twenty times; nothing is stored.
"""


@command(
    _DESCRIPTION,
    option("what", metavar="WHAT", help="a YAML file, or package.module:function with --as"),
    option("--as", dest="role", choices=_ROLES, help="what the function is"),
    option(
        "--arguments", default="{}", metavar="JSON", help="its keyword arguments, such as '{\"size\": 500}'"
    ),
    option(
        "--returns",
        choices=("rankings", "retriever"),
        default="rankings",
        help="for a retriever: whether it ranks, or builds a retriever of LangChain or LlamaIndex",
    ),
    several("--file", "for a parser: files to read", "FILE", type=Path),
)
def check_kind(args: argparse.Namespace) -> int:
    """Try every step and print what was found; 1 if a check fails."""
    failed = passed = 0
    for step in _steps(args):
        print_line(f"{step.role} {step.name}")
        for checked in running.run_checks(step.checks()):
            mark = {"ok": "ok    ", "failed": "FAILED", "note": "note  "}[checked.outcome]
            print_line(f"  {mark}  {checked.about}{': ' if checked.message else ''}{checked.message}")
            failed += checked.outcome == "failed"
            passed += checked.outcome != "failed"
    print_line(f"{counted(passed, 'check')} passed, {failed} failed.")
    return 1 if failed else 0


def _steps(args: argparse.Namespace) -> list[running.OwnStep]:
    if args.role is None:
        if ":" in args.what and not Path(args.what).exists():
            raise ConfigError(f"{args.what}: say what it is: --as {', '.join(_ROLES[:-1])} or {_ROLES[-1]}.")
        found = running.own_steps(running.load_config(Path(args.what)))
        if not found:
            raise ConfigError(f"{args.what} contains no step of kind python or http.")
        return found
    return [_named(args)]


def _named(args: argparse.Namespace) -> running.OwnStep:
    from pydantic import ValidationError

    try:
        arguments = json.loads(args.arguments)
    except ValueError as error:
        raise ConfigError(f"--arguments is not JSON: {error}.") from None
    if not isinstance(arguments, dict):
        raise ConfigError("--arguments must be an object, such as '{\"size\": 500}'.")
    try:
        return running.step_of_call(args.role, args.what, arguments, args.returns, args.file)
    except ValidationError as error:
        raise ConfigError(f"{args.what}: {error.errors()[0]['msg']}.") from None
