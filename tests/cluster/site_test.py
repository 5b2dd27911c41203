"""The documentation site: built without warnings, complete, and readable without a network."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
CHROMIUM = shutil.which("chromium")


def has_sphinx():
    python = os.environ.get("BATHLINE_PYTHON", "/usr/bin/python3")
    modules = "import myst_parser, sphinx, numpydoc, furo"
    return subprocess.run([python, "-c", modules], capture_output=True).returncode == 0


class Page(HTMLParser):
    """The links of a page, and the anchors that links can name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes.get("id"), attributes.get("name")}
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]


@unittest.skipUnless(has_sphinx(), "Sphinx is not installed: cluster/install-dependencies --site installs it")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name) / "site"
        cls.outcome = subprocess.run(
            [SOURCE / "cluster" / "site", "-o", cls.site], capture_output=True, text=True, timeout=600
        )

    def test_builds_without_warnings(self):
        self.assertEqual((self.outcome.returncode, self.outcome.stderr), (0, ""))

    def test_every_document_and_recipe_has_a_page(self):
        documents = [*(SOURCE / "experiments/guide").glob("*.md"), *(SOURCE / "experiments/reference").glob("*.md")]
        recipes = list((SOURCE / "experiments").glob("*/*.toml"))
        self.assertGreater(min(len(documents), len(recipes)), 15)
        for path in documents + recipes:
            page = self.site / path.relative_to(SOURCE).with_suffix(".html")
            self.assertTrue(page.is_file(), page)
        self.assertIn("run", (self.site / "python.html").read_text())

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in self.site.rglob("*.html"):
            loaded = re.findall(r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(\w+://[^"]*)"', page.read_text())
            self.assertEqual(loaded, [], page)

    def test_links_lead_somewhere(self):
        pages = {page.resolve(): Page(page) for page in self.site.rglob("*.html") if "mathjax" not in page.parts}
        for path, page in pages.items():
            for link in map(urlsplit, page.links):
                if link.scheme:
                    continue
                target = (path.parent / unquote(link.path)).resolve() if link.path else path
                self.assertTrue(target.is_file(), f"{path}: {link.geturl()}")
                if link.fragment and target in pages:
                    self.assertIn(unquote(link.fragment), pages[target].anchors, f"{path}: {link.geturl()}")

    def test_methods_of_results_are_documented(self):
        anchors = Page(self.site / "python.html").anchors
        self.assertLessEqual({f"bathline.RunResult.{name}" for name in ("quantity", "read", "plot", "claims")}, anchors)

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed")
    def test_formulas_are_typeset_in_a_browser(self):
        dom = self.opened("experiments/guide/concepts.html")
        self.assertIn("mjx-math", dom)
        self.assertIn("Closed and open systems", dom)

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed")
    def test_search_finds_pages_in_a_browser(self):
        self.assertRegex(self.opened("search.html", "?q=echo"), r'<a href="experiments/guide/concepts\.html[^>]*>')

    def opened(self, page, query=""):
        """The page after its scripts have run."""
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
        with tempfile.TemporaryDirectory() as profile:
            address = (self.site / page).as_uri() + query
            words = [CHROMIUM, *options, f"--user-data-dir={profile}", "--virtual-time-budget=30000", "--dump-dom", address]
            return subprocess.run(words, capture_output=True, text=True, timeout=600).stdout


if __name__ == "__main__":
    unittest.main()
