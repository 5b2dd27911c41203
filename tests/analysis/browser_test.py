"""The pages in a browser, if one is installed: no errors in its console and no network requests."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import synthetic
import report
import watch
from bathline.result_file import RunResult
from bathline.figure import draw, save

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@unittest.skipIf(BROWSER is None, "no Chromium is installed to open the pages in")
class BrowserTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.html"

    def open(self):
        """The loaded page, the messages of its console, and the requested addresses other than the page."""
        log = self.folder / "net.json"
        profile = self.folder / "profile"
        done = subprocess.run(
            [
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                # Disable requests of the browser itself.
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--enable-logging=stderr",
                f"--user-data-dir={profile}",
                f"--log-net-log={log}",
                "--dump-dom",
                self.page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        # One event per line. Requests of a page from a file have the initiator `null`, those of the browser have none.
        events = [line for line in log.read_text().splitlines() if '"initiator":"null"' in line]
        return done.stdout, console, [re.search(r'"url":"([^"]*)"', event)[1] for event in events]

    def test_requests_and_console_errors_are_detected(self):
        self.page.write_text('<title>x</title><img src="http://127.0.0.1:9/x.png"><script>console.error("oh")</script>')
        dom, console, asked = self.open()
        self.assertIn("<title>x</title>", dom)
        self.assertTrue(any("oh" in line for line in console), console)
        self.assertIn("http://127.0.0.1:9/x.png", asked)

    def test_the_report(self):
        result = self.folder / "paper" / "recipe" / "result.h5"
        recipe = "[figure]\ncaption = 'What is <seen>: $q_0$'\n[[integrators]]\nmethod = 'rk4'\nname = 'open'\n"
        synthetic.trajectory(result, recipe)
        with RunResult(result) as opened:
            save(draw(opened), result.with_name("recipe"))
        self.assertEqual(report.main([str(self.folder), "-o", str(self.page)]), 0)
        dom, console, asked = self.open()
        self.assertIn("conserved &lt;exactly&gt;", dom)
        self.assertIn("data:image/png;base64,", dom)
        self.assertEqual((console, asked), ([], []))

    def test_the_live_page(self):
        result = self.folder / "x.h5"
        synthetic.trajectory(result, '[[integrators]]\nmethod = "rk4"\nname = "open"\n')
        self.assertEqual(watch.main([str(result), "--page", str(self.page)]), 0)
        dom, console, asked = self.open()
        self.assertIn("A small result: complete", dom)
        self.assertEqual((console, asked), ([], []))


if __name__ == "__main__":
    unittest.main()
