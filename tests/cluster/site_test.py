"""The documentation site: built without warnings, complete, and readable without a network."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
CHROMIUM = shutil.which("chromium")


def has_sphinx():
    python = os.environ.get("BATHLINE_PYTHON", "/usr/bin/python3")
    modules = "import myst_parser, sphinx, numpydoc, furo"
    return subprocess.run([python, "-c", modules], capture_output=True).returncode == 0


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

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed")
    def test_formulas_are_typeset_in_a_browser(self):
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
        with tempfile.TemporaryDirectory() as profile:
            page = (self.site / "experiments/guide/concepts.html").as_uri()
            words = [CHROMIUM, *options, f"--user-data-dir={profile}", "--virtual-time-budget=30000", "--dump-dom", page]
            dom = subprocess.run(words, capture_output=True, text=True, timeout=120).stdout
        self.assertIn("mjx-math", dom)
        self.assertIn("Closed and open systems", dom)


if __name__ == "__main__":
    unittest.main()
