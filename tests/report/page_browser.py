"""A browser that the tests of pages drive, and what must hold of report.html whatever they did."""

import json
import shutil

import pytest

MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="needs chromium and chromedriver on the path: apt-get install chromium chromium-driver",
    ),
]
VIEWS = ("glance", "compare", "losses", "queries", "run")


class Browser:
    """A driver with the few things that the tests do."""

    def __init__(self, driver):
        self.driver = driver
        self.run = driver.execute_script

    def open(self, url, width=1440, theme="light", every=True, height=900):
        """Open a page; ``every`` shows all views of a report below each other until one is chosen."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        # a window in the background, or one just opened, has no focus of its own
        self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        # without smooth scrolling, so that a click hits what was scrolled to
        wanted = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
        media = {"features": [{"name": name, "value": value} for name, value in wanted.items()]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get(url)
        self.until("return 'ready' in document.documentElement.dataset")
        if every:
            self.run(
                "for (const view of document.querySelectorAll('.view')) view.hidden = false;"
                "for (const one of document.querySelectorAll('#controls')) one.hidden = false"
            )

    def until(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 600).until(lambda driver: driver.execute_script(script))

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def keys(self, *names):
        from selenium.webdriver.common.keys import Keys

        element = self.driver.switch_to.active_element
        element.send_keys(*(getattr(Keys, name, name) for name in names))

    def choose(self, selector, value):
        self.run(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change', {bubbles: true}))",
            selector,
            value,
        )

    def names(self, selector):
        """The technical names of the settings that elements show in words."""
        return self.run(
            "return [...document.querySelectorAll(`${arguments[0]} .foreign[title]`)].map(n => n.title)",
            selector,
        )

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def violations(self, axe, *more):
        """The findings of axe on the page as it stands: rule, help, the elements.

        ``more`` are rules that axe does not apply unless they are named.
        """
        rules = json.dumps({rule: {"enabled": True} for rule in more})
        self.run(axe)
        found = self.driver.execute_async_script(
            "const done = arguments[0];"
            f"axe.run(document, {{resultTypes: ['violations'], rules: {rules}}})"
            ".then(r => done(JSON.stringify("
            "r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))]))))"
        )
        return json.loads(found)

    def requests(self):
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [
            url
            for url in asked
            if not url.startswith(("file:", "data:", "chrome:", "chrome-untrusted:", "about:"))
        ]


def check(browser):
    assert browser.errors() == []
    assert browser.requests() == []
    assert browser.run("return window.hit") is None
