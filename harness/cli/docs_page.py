"""The docs that are installed with the package, as one HTML file that works offline."""

from __future__ import annotations

import base64
import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from harness.values import ConfigError, guide

if TYPE_CHECKING:
    from markdown_it.token import Token

_START = "start"
_ENTRY = re.compile(r"- \[(.+?)\]\(([^)#]+)")


@dataclass(frozen=True)
class DocsPage:
    """A page: its name as ``harness docs NAME`` takes it, the group of the index it is in, title and file."""

    name: str
    group: str
    title: str
    path: Path


def docs_folder() -> Path:
    """Where the Markdown is: docs/ of a checkout, or what the wheel brought."""
    return Path(guide("README.md")).absolute().parent


def docs_pages() -> list[DocsPage]:
    """README as ``start``, then the pages in the order of the index, docs/README.md."""
    folder = docs_folder()
    found = [DocsPage(_START, "", "Overview", folder.parent / "README.md")]
    for group, entries in index_groups((folder / "README.md").read_text(encoding="utf-8")):
        for title, target in entries:
            if not target.startswith(".."):
                found.append(DocsPage(target.removesuffix(".md"), group, title, folder / target))
    return found


def index_groups(index: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The groups of an index in Markdown, each with the titles and targets of its entries."""
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        entries = [(match[1], match[2]) for match in re.finditer(_ENTRY, text)]
        if entries:
            yield title.strip(), entries


def page_named(name: str, pages: Sequence[DocsPage]) -> DocsPage:
    """The page with that name, with or without ``.md``; raises ConfigError that names the nearest."""
    wanted = name.removeprefix("docs/").removesuffix(".md")
    names = [page.name for page in pages]
    if wanted in names:
        return pages[names.index(wanted)]
    near = difflib.get_close_matches(wanted, names, 3, 0.5) or [n for n in names if wanted.lower() in n]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise ConfigError(f"There is no page {name!r}. {hint}`harness docs --list` lists them.")


def docs_html(pages: Sequence[DocsPage]) -> str:
    """All pages as one HTML file, with navigation and search; nothing in it is fetched from elsewhere."""
    places = {_key(page): page.name for page in pages}
    assets = files("harness.cli") / "assets"
    groups: dict[str, list[str]] = {}
    for page in pages:
        groups.setdefault(page.group, []).append(f'<li><a href="#{page.name}">{escape(page.title)}</a></li>')
    listed = "".join(
        f"{f'<h2>{escape(group)}</h2>' if group else ''}<ul>{''.join(links)}</ul>"
        for group, links in groups.items()
    )
    articles = "\n".join(f'<article id="{page.name}">{_rendered(page, places)}</article>' for page in pages)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>harness</title>'
        f"<style>{(assets / 'docs.css').read_text(encoding='utf-8')}</style></head><body>"
        '<nav aria-label="Pages"><input type="search" placeholder="Search" aria-label="Search all pages">'
        f'<p id="search-count" role="status"></p><ol id="search-hits"></ol>{listed}</nav>\n'
        f"<main>{articles}</main>"
        f"<script>{(assets / 'docs.js').read_text(encoding='utf-8')}</script></body></html>\n"
    )


def _key(page: DocsPage) -> str:
    """The file of a page relative to the folder of docs, as links resolve to it."""
    return Path(os.path.relpath(page.path, docs_folder())).as_posix()


def _rendered(page: DocsPage, places: Mapping[str, str]) -> str:
    """The HTML of a page, whose headings and links have addresses within the one file."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(page.path.read_text(encoding="utf-8"))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", f"{page.name}--{slug(inline.content)}")
        for token in inline.children or ():
            if token.type == "image":
                _embed(token, page.path.parent)
        if inline.children:
            inline.children = list(_with_links(inline.children, _key(page), places))
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def slug(title: str) -> str:
    """What a link to a heading ends with, as code hosts name it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def _with_links(tokens: Sequence[Token], key: str, places: Mapping[str, str]) -> Iterator[Token]:
    """The tokens of a paragraph with links into the file; those to files that are not in it become text."""
    dropped = False
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), key, places)
            dropped = address is None
            if address is not None:
                token.attrSet("href", address)
                yield token
        elif token.type != "link_close" or not dropped:
            yield token


def _address(href: str, key: str, places: Mapping[str, str]) -> str | None:
    """Where a link leads within the file; None if the file has no such page."""
    if "://" in href or href.startswith("mailto:"):
        return href
    target, _, heading = unquote(href).partition("#")
    named = os.path.normpath(PurePosixPath(key).parent / target) if target else key
    name = places.get(Path(named).as_posix())
    if name is None:
        return None
    return f"#{name}--{heading}" if heading else f"#{name}"


def _embed(token: Token, folder: Path) -> None:
    """Put a picture into the page, where it is there."""
    path = folder / str(token.attrGet("src"))
    if path.is_file():
        kind, _ = guess_type(path.name)
        token.attrSet("src", f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}")
