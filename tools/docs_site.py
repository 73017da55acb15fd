"""Build the docs as a site in build/site/html: ``python -m tools.docs_site``, which `make site` calls.

README, CONTRIBUTING, CHANGELOG and docs/ are copied with their links put right, the groups of
docs/README.md become the navigation, and Zensical renders them (requirements-docs.lock; the program that
--zensical names). Then every link of every page is followed: the build fails on one that leads to no file or
to no heading.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from harness.cli.docs_page import index_groups
from tools.gallery import write_gallery
from tools.site_links import dead_links

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "site"
# pages beside docs/, by their place on the site
PLACES = {
    "README.md": "index.md",
    "README.zh.md": "zh/index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/README.md": "pages.md",
    "corpora/meridian/README.md": "corpora/meridian.md",
    "corpora/lanchuan/README.md": "corpora/lanchuan.md",
}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *```")
ITEM = re.compile(r"^( *)([-*]|\d+\.) ")

CONFIG = """\
[project]
site_name = "harness"
site_description = "Which chunk size, retriever and reranker ranks best on your documents?"
docs_dir = "pages"
site_dir = "html"
use_directory_urls = false
nav = {nav}

[project.theme]
language = "en"
# nothing is fetched from anywhere
font = false
features = ["content.code.copy", "navigation.footer", "navigation.indexes", "navigation.path",
  "navigation.sections", "navigation.top", "navigation.tracking", "search.highlight", "toc.follow"]
icon.logo = "lucide/list-ordered"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light mode"

[project.extra]
polyfills = ["assets/iframe-worker.js"]

[project.plugins.search]
[project.plugins.offline]

[project.markdown_extensions]
attr_list = {{}}
sane_lists = {{}}
tables = {{}}
toc.permalink = true
# headings are named as Markdown on code hosts names them
toc.slugify.object = "pymdownx.slugs.slugify"
toc.slugify.kwds.case = "lower"
pymdownx.highlight.pygments_lang_class = true
pymdownx.superfences.custom_fences = [
  {{ name = "mermaid", class = "mermaid", format = "pymdownx.superfences.fence_code_format" }},
]
"""


def place_of(path: str) -> str | None:
    """Where a file of the repository lies on the site; None for one that is not on it."""
    if path in PLACES:
        return PLACES[path]
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        return path.replace(".ipynb", ".md")
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def pages() -> list[str]:
    """The files of the repository that are on the site, relative to its root."""
    patterns = ("docs/*.md", "docs/*.png", "docs/*.svg", "docs/*/*.md", "notebooks/*.ipynb")
    docs = [path for pattern in patterns for path in ROOT.glob(pattern)]
    beside = [path for path in PLACES if (ROOT / path).is_file()]
    return sorted({*beside, *(str(path.relative_to(ROOT)) for path in docs)})


def on_site(path: str, text: str) -> str:
    """A page with its links as they are on the site; raises ValueError for one that leads off it."""
    here = PurePosixPath(place_of(path) or "").parent

    def moved(link: re.Match[str]) -> str:
        target, hash_, heading = link[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return link[0]
        named = os.path.normpath(PurePosixPath(path).parent / target)
        if (ROOT / named).is_dir():
            named = f"{named}/README.md"
        place = place_of(named)
        if place is None or not (ROOT / named).is_file():
            raise ValueError(
                f"{path}: the link {link[2]} leads to no page of the site (tools/docs_site.py, PLACES)"
            )
        return f"{link[1]}{os.path.relpath(place, here)}{hash_}{heading}{link[3]}"

    return indented(LINK.sub(moved, text))


def notebook_text(source: str) -> str:
    """The cells of a notebook as Markdown, code in blocks."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(source)["cells"]]
    return "\n\n".join(f"```python\n{text}\n```" if kind == "code" else text for kind, text in cells) + "\n"


def indented(text: str) -> str:
    """What belongs to an item of a list four columns in, as the renderer needs it; code as it is."""
    lines: list[str] = []
    in_code, width = False, 0
    for line in text.splitlines():
        item = None if in_code else ITEM.match(line)
        if item and not item[1]:
            width = len(item[0])
        elif line.strip() and not line.startswith(" ") and not in_code:
            width = 0
        belongs = width and not (item and not item[1]) and line.startswith(" " * width)
        lines.append(" " * (4 - width) + line if belongs and width < 4 else line)
        if FENCE.match(line):
            in_code = not in_code
    return "\n".join(lines) + "\n"


def navigation(index: str) -> list[dict[str, object]]:
    """Home, and the groups of docs/README.md with their pages, by the titles that these have."""
    groups: list[dict[str, object]] = [{"Home": "index.md"}]
    for title, entries in index_groups(index):
        places = [
            (text, place_of(os.path.normpath(PurePosixPath("docs") / target))) for text, target in entries
        ]
        # what has a place twice, such as the README, is home already
        groups.append({title: [{text: place} for text, place in places if place != "index.md"]})
    groups.append({"Project": [{"Changes": "changelog.md"}]})
    return groups


def toml(value: object) -> str:
    """Lists, tables and texts on one line of TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def stage(gallery: bool) -> None:
    """Write the pages and the configuration from which Zensical builds."""
    shutil.rmtree(BUILD, ignore_errors=True)
    for path in pages():
        target = BUILD / "pages" / (place_of(path) or "")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            text = (ROOT / path).read_text(encoding="utf-8")
            text = notebook_text(text) if path.endswith(".ipynb") else text
            target.write_text(on_site(path, text), encoding="utf-8")
        else:
            shutil.copy(ROOT / path, target)
    shutil.copytree(ROOT / "tools" / "site_assets", BUILD / "pages" / "assets")
    nav = navigation((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    if gallery:
        write_gallery(BUILD / "pages" / "gallery")
        nav.append({"Examples": [{"Example pages": "gallery/index.md"}]})
    (BUILD / "zensical.toml").write_text(CONFIG.format(nav=toml(nav)), encoding="utf-8")


def main() -> None:
    """Stage, build, and follow the links."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zensical", default="zensical", help="the program; default: the one on the path")
    parser.add_argument(
        "--no-gallery", action="store_true", help="leave out the example pages, which take runs"
    )
    args = parser.parse_args()
    stage(not args.no_gallery)
    built = subprocess.run(
        [args.zensical, "build", "--clean", "--strict", "-f", str(BUILD / "zensical.toml")],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        sys.exit(f"Zensical found faults:\n{built.stdout[-6000:]}{built.stderr[-6000:]}")
    dead = dead_links(BUILD / "html")
    for line in dead:
        sys.stdout.write(f"{line}\n")
    if dead:
        sys.exit(f"{len(dead)} dead links")
    count = len(list((BUILD / "html").rglob("*.html")))
    sys.stdout.write(
        f"{count} pages without a dead link: {BUILD.relative_to(ROOT) / 'html' / 'index.html'}\n"
    )


if __name__ == "__main__":
    main()
