"""`harness docs`: the docs as one page in the browser, offline, or in the terminal."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from harness import store, values
from harness.cli.commands.common import can_show_pages
from harness.cli.commands.declaring import command, flag, one_of, option, path
from harness.cli.terminal import print_line, print_table, write_out

_DESCRIPTION = """\
Open the docs that are installed with the harness, of this very version: one HTML file with all pages and a
search, without network. Where no browser can open, the path of the file is printed.

  harness docs                    all pages
  harness docs judge              that page
  harness docs --list             the names of the pages
  harness docs judge --text       the page as Markdown, in the terminal or for a program
"""


@command(
    _DESCRIPTION,
    option("page", nargs="?", metavar="PAGE", help="the page to open, by its name"),
    one_of(
        flag("--list", "print the names and titles of the pages"),
        flag("--text", "print the page as Markdown; without PAGE, the index"),
    ),
    path("--output", "the file to write; default: docs.html in .cache/ndcg-harness of your home folder"),
)
def docs(args: argparse.Namespace) -> int:
    """Write the file and open it, or print what was requested."""
    from harness.cli.docs_page import docs_folder, docs_html, docs_pages, page_named

    pages = docs_pages()
    page = page_named(args.page, pages) if args.page else None
    if args.list:
        print_table("pages", ("name", "title", "group"), [(p.name, p.title, p.group) for p in pages])
        return 0
    if args.text:
        source = page.path if page else docs_folder() / "README.md"
        write_out(source.read_text(encoding="utf-8"))
        return 0
    target = args.output or Path.home() / ".cache" / "ndcg-harness" / "docs.html"
    store.write_text(target, docs_html(pages))
    address = values.real_path(target).as_uri() + (f"#{page.name}" if page else "")
    if not (can_show_pages() and webbrowser.open(address)):
        print_line(address if page else str(target))
    return 0
