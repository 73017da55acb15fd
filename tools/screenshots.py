"""Make the pictures of the pages that README and docs show: docs/report.png and docs/label.png.

    python tools/screenshots.py                           # both, of a new run of the quickstart
    python tools/screenshots.py --only label
    python tools/screenshots.py --results results/mine    # report.png of other results

Needs chromium and chromedriver on the path, and selenium, of the dev extra.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
QUICKSTART = ROOT / "configs" / "quickstart.yaml"
WIDTH, HEIGHT = 1440, 900
# how long a page or a server may take to be there, in seconds
PATIENCE = 180
# as many passages are graded before the picture, so that the page says how long the rest takes
GRADED, MOST_PASSAGES = 8, 40
QUESTIONS = 12
BENCH = """\
name: pictures
documents: {root}/corpora/meridian/documents/*.pdf
queries: queries.csv
labels: labels.csv
chunk: {{kind: recursive, chunk_size: 500}}
retrieve: {{kind: bm25, top_k: 10}}
measures: [ndcg_exp@10]
"""


class NoBrowserError(Exception):
    """There is no browser to drive, or it does not start."""


@contextmanager
def chromium(profile: Path, logs: bool = False) -> Iterator[Any]:
    """A browser without a window, as a driver of selenium; ``logs`` keeps what it prints and asks for.

    Raises NoBrowserError with what to install.
    """
    try:
        from selenium import webdriver
    except ImportError:
        raise NoBrowserError("needs selenium: pip install selenium") from None
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    service = shutil.which("chromedriver")
    if browser is None or service is None:
        raise NoBrowserError("needs chromium and chromedriver on the path: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    if logs:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    except Exception as error:  # whatever it is, there is no browser
        raise NoBrowserError(f"chromium does not start here: {error}") from error
    try:
        yield driver
    finally:
        driver.quit()


def load(driver: Any, url: str) -> None:
    """Go to a page and wait until all of it is there: `get` may return while it is still being read."""
    driver.get(url)
    _until(driver, "return document.readyState === 'complete'")


def open_page(driver: Any, url: str) -> None:
    """Open a page in light colours, on a screen of the size of the pictures, and wait until it is there."""
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    wanted = {"prefers-color-scheme": "light", "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    load(driver, url)
    _until(driver, "return 'ready' in document.documentElement.dataset")


def take(driver: Any, target: Path) -> None:
    """Write what is on the screen, once its images are there; nothing has the focus."""
    driver.execute_script("document.activeElement.blur()")
    _until(driver, "return [...document.images].every((one) => one.complete && one.naturalWidth)")
    if not driver.save_screenshot(str(target)):
        raise SystemExit(f"{target} cannot be written.")
    # screens have few colours: 256 of them take half the space
    from PIL import Image

    with Image.open(target) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(target, optimize=True)
    print(f"Wrote {target}")


def grade(driver: Any, answer: str) -> None:
    """Grade some passages on the labelling page, and stop at one that says the ``answer``."""
    from selenium.webdriver.common.keys import Keys

    graded = 0
    for _ in range(MOST_PASSAGES):
        says = answer in driver.execute_script("return document.getElementById('passage').textContent")
        if says and graded >= GRADED:
            break
        _press(driver, Keys.ARROW_RIGHT if says else "01"[graded % 2])
        graded += not says


def _press(driver: Any, key: str) -> None:
    """Press a key that goes on to another passage, and wait for that one."""
    from selenium.webdriver.common.action_chains import ActionChains

    shown = "document.querySelector('.work')?.dataset.item"
    before = driver.execute_script(f"return {shown}")
    ActionChains(driver).send_keys(key).perform()
    _until(driver, f"return {shown} !== arguments[0]", before)


def _until(driver: Any, script: str, *given: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, PATIENCE).until(lambda browser: browser.execute_script(script, *given))


def report_picture(driver: Any, results: Path, target: Path) -> None:
    """The first screen of report.html, made anew from the tables of a folder of results."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        _harness("report", results, "--output", page)
        open_page(driver, page.as_uri())
        take(driver, target)


def label_picture(driver: Any, target: Path) -> None:
    """The labelling page, with some passages of the shipped collection graded."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "bench.yaml").write_text(BENCH.format(root=ROOT), encoding="utf-8")
        (home / "labels.csv").write_text("query_id,document,grade,quote\n", encoding="utf-8")
        with (ROOT / "corpora/meridian/queries.csv").open(encoding="utf-8", newline="") as file:
            rows = list(islice(csv.DictReader(file), QUESTIONS))
        with (home / "queries.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        with _served("bench.yaml", "--as-listed", "--rater", "Ada", cwd=home) as link:
            open_page(driver, link)
            grade(driver, rows[0]["answer"])
            take(driver, target)
            # nothing is asked of a server that is gone
            driver.get("about:blank")


@contextmanager
def _served(*words: str, cwd: Path) -> Iterator[str]:
    """The link of the labelling page, while it is served."""
    command = [sys.executable, "-u", "-m", "harness", "label", *words, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True) as process:
        # one that never prints its link holds nobody for ever
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            found = next(
                filter(None, map(re.compile(r"http://\S+token=\S+").search, process.stdout or ())), None
            )
            if found is None:
                raise SystemExit("harness label ended before it printed a link.")
            yield found[0]
        finally:
            timer.cancel()
            process.kill()


def _harness(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "harness", *map(str, words)], cwd=ROOT, check=True)


def main() -> None:
    """Make the pictures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("report", "label"), help="one of the two")
    parser.add_argument(
        "--results", type=Path, help="results for report.png; default: a new run of the quickstart"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs", help="the folder to write to; default: docs"
    )
    args = parser.parse_args()
    results = args.results
    with tempfile.TemporaryDirectory() as profile:
        try:
            with chromium(Path(profile)) as driver:
                if args.only != "label":
                    if results is None:
                        _harness("bench", QUICKSTART.relative_to(ROOT))
                        results = Path("results") / QUICKSTART.stem
                    report_picture(driver, results, args.out / "report.png")
                if args.only != "report":
                    label_picture(driver, args.out / "label.png")
        except NoBrowserError as error:
            sys.exit(f"No pictures: {error}")


if __name__ == "__main__":
    main()
