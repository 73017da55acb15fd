"""`harness completion`: a script by which a shell completes commands, options, files and measures."""

from __future__ import annotations

import argparse

from harness import measures, running
from harness.cli import shell_scripts as scripts
from harness.cli.commands.declaring import command, option
from harness.cli.terminal import write_lines

_COMPLETION = """\
Print the script by which a shell completes commands, options, configurations, results and the names of
measures. For bash, zsh, fish or PowerShell:

  source <(harness completion bash)       # in ~/.bashrc
  harness completion zsh > ~/.zfunc/_harness
  harness completion fish > ~/.config/fish/completions/harness.fish
  harness completion powershell | Out-String | Invoke-Expression    # in $PROFILE
"""


@command(_COMPLETION, option("shell", choices=scripts.SHELLS, help="bash, zsh, fish or powershell"))
def completion(args: argparse.Namespace) -> int:
    """Print the script."""
    from harness.cli.commands.usage import parser

    usual = running.BenchConfig.model_fields["measures"].default
    names = dict.fromkeys((*usual, *measures.FAMILIES))
    write_lines(scripts.script(args.shell, parser(), names), None)
    return 0
