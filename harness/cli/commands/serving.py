"""`harness mcp`: tools for an agent, by the Model Context Protocol over standard input and output."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from harness.cli.commands.declaring import command, flag, number, path, several
from harness.values import ConfigError, real_path

_MCP = """\
Serve the tools of the harness to an agent, by the Model Context Protocol over standard input and
output: check a configuration, estimate its price, run it, and read its verdict, its worst queries
and passages of its documents. Needs the extra `mcp`.

  harness mcp --root contracts-bench
  harness mcp --root . --budget 2 --endpoints https://api.openai.com

Only files below --root are read and written, links followed. Nothing is paid for without --budget,
and no endpoint is asked but those named. A configuration with a function of yours, a service or a
class of a library is refused without --allow-code.
"""


@command(
    _MCP,
    path(
        "--root",
        "the folder that may be read and written; default: the working folder",
        "FOLDER",
        default=Path(),
    ),
    number("--budget", 0.0, "what all runs together may spend, in the currency of the prices", "AMOUNT"),
    several("--endpoints", "addresses that may be asked, and all below them", "URL"),
    flag("--allow-code", "run configurations with functions of yours, services and classes of libraries"),
)
def mcp(args: argparse.Namespace) -> int:
    """Serve until the client closes the connection."""
    from harness.cli.agents.mcp_tools import serve
    from harness.cli.agents.permits import Permits

    root = real_path(args.root)
    if not root.is_dir():
        raise ConfigError(f"--root {args.root} is no folder. Name the one that may be read.")
    if args.budget < 0:
        raise ConfigError(f"--budget is an amount of money, not {args.budget:g}.")
    # paths of a configuration are relative to the working folder
    os.chdir(root)
    serve(Permits(root, args.budget, tuple(args.endpoints), args.allow_code))
    return 0
