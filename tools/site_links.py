"""Dead links of a folder of HTML pages: to files that are not there, and to headings that no page has."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKING = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}


class _Page(HTMLParser):
    """The links of a page, and what links to places within it can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the link, the id and, of an anchor, the name."""
        values = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := values.get(key))}
        link = values.get(LINKING.get(tag, ""))
        if link:
            self.links.append(link)


def dead_links(folder: Path) -> list[str]:
    """A line for every link within ``folder`` that leads nowhere: page, link and what is missing, sorted."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    dead = set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            # a path from the root, as the page for missing ones has it, begins at the folder
            base = folder if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            name = str(path.relative_to(folder.resolve()))
            if not target.is_file():
                dead.add(f"{name}: {link}: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                dead.add(f"{name}: {link}: no such place on that page")
    return sorted(dead)
