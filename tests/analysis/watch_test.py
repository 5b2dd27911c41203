"""The display of running programs: curves as text, and the page that reloads itself."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

import synthetic
from bathline.terminal_plot import braille_curve
from bathline.liveness import is_abandoned

WATCH = synthetic.SOURCE / "analysis" / "watch.py"
PROGRAM = os.environ.get("BATHLINE", str(synthetic.SOURCE / "build" / "bathline"))

# More steps than any machine computes within the test, and enough rows that the file is written several times a second; its
# figure is small.
ENDLESS = """
title = "an endless oscillator"
[system]
kind = "single-oscillator"
m = 1.0
k = 4.0
q0 = [0.5]
damping = 0.1
[time]
step = 0.01
end = 1e7
[[integrators]]
method = "stoermer-verlet"
name = "verlet"
on = "open"
[output]
every = 1000
[[figure.panels]]
series = [{ of = "verlet.energy_total" }]
"""


class CurveTest(unittest.TestCase):
    def test_dots_of_a_diagonal(self):
        # Four columns of four dots: 7; then 6 and 8, down to the level of the first; then 2 and 3; then 1 and 4.
        self.assertEqual(braille_curve([0, 1, 2, 3], [0, 1, 2, 3], 2, 1), ["\u28e0\u281e"])

    def test_dots_of_a_fall(self):
        # Dot 1; nothing; then 1 to 3 and 7, down from the level of the first; and 8.
        self.assertEqual(braille_curve([0, 2, 3], [3, 0, 0], 2, 1), ["\u2801\u28c7"])

    def test_gaps_and_constants(self):
        self.assertEqual(braille_curve([0, 1, 2, 3], [np.nan] * 4, 2, 1), ["\u2800\u2800"])
        (line,) = braille_curve([0, 1, 2, 3], [5.0] * 4, 2, 1)
        self.assertEqual(line, "\u2812\u2812")
        rows = braille_curve(np.arange(100), np.sin(np.arange(100) / 5), 30, 4)
        self.assertEqual((len(rows), {len(row) for row in rows}), (4, {30}))


class WatchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.result, self.page = self.folder / "x.h5", self.folder / "pages" / "x.html"

    def start(self, *command):
        process = subprocess.Popen(
            [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def watch(self, *options):
        return self.start(sys.executable, WATCH, self.result, "--every", "0.1", *options)

    def write(self, status, more=""):
        """Replace the result by another file, because h5py cannot write a file that is being read."""
        other = self.folder / "other.h5"
        synthetic.trajectory(other, '[[integrators]]\nmethod = "rk4"\nname = "open"\n' + more, status=status)
        os.replace(other, self.result)

    def test_a_complete_result_is_shown_once(self):
        self.write("complete")
        text, _ = self.watch().communicate(timeout=600)
        self.assertEqual(text.count("A small result: complete"), 1)
        self.assertIn("open: at 10 s", text)
        self.assertIn("open: position (m)", text)
        self.assertRegex(text, r"\n +0\.99\d+ [\u2800-\u28ff]{20}")

    def test_watch_waits_for_the_file_and_ends_with_the_run(self):
        watch = self.watch()
        self.assertIn("x.h5: no such file; trying again", watch.stdout.readline())
        self.result.write_bytes(b"half of a header")
        self.assertIn("x.h5: not a readable HDF5 file", watch.stdout.readline())
        self.write("partial")
        while "partial" not in watch.stdout.readline():
            pass
        self.assertIsNone(watch.poll())
        self.write("failed")
        self.assertIn("failed", watch.communicate(timeout=600)[0])
        self.assertEqual(watch.returncode, 0)

    def test_the_progress_of_a_run_is_shown(self):
        recipe = self.folder / "endless.toml"
        recipe.write_text(ENDLESS)
        run = self.start(PROGRAM, "run", recipe, "-o", self.result, "--progress", "none")
        watch, times = self.watch(), set()
        deadline = time.monotonic() + 600
        while len(times) < 2:
            self.assertLess(time.monotonic(), deadline, times)
            line = watch.stdout.readline()
            times.update(re.findall(r"verlet: at (\S+) s", line))
        self.assertIsNone(run.poll())

    def test_killed_runs_are_distinguished_from_running_ones(self):
        recipe = self.folder / "endless.toml"
        recipe.write_text(ENDLESS)
        run = self.start(PROGRAM, "run", recipe, "-o", self.result, "--progress", "none")
        watches = self.watch(), self.watch("--page", self.page)
        self.wait_for(lambda: "verlet: at" in watches[0].stdout.readline())
        self.wait_for(self.page.exists)
        time.sleep(0.5)
        self.assertEqual([watch.poll() for watch in watches], [None, None])
        run.kill()
        run.wait()
        text, _ = (watch.communicate(timeout=600)[0] for watch in watches)
        page = self.page.read_text()
        self.assertNotIn("refresh", page)
        for shown in (text, page):
            self.assertIn("endless oscillator: partial, no longer written by a running program", shown)
        self.assertEqual([watch.returncode for watch in watches], [0, 0])

    def test_writers_on_other_hosts_or_without_a_lock_count_as_running(self):
        self.write("partial")
        lock = self.result.with_name("x.h5.lock")
        since = "since 2026-01-01T00:00:00Z\n"
        self.assertFalse(is_abandoned(self.result))
        for text, abandoned in (
            (f"bathline writes: process 1 on {socket.gethostname()} {since}", True),
            (f"bathline writes: process 1 on not-{socket.gethostname()} {since}", False),
            ("", False),
            ("dear diary", False),
        ):
            lock.write_text(text)
            self.assertEqual(is_abandoned(self.result), abandoned, text)

    def wait_for(self, condition):
        deadline = time.monotonic() + 600
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_the_page_reloads_until_the_end_of_the_run(self):
        self.write("partial")
        watch = self.watch("--page", self.page)
        self.assertIn(f"open file://{self.page}", watch.stdout.readline())
        while not self.page.exists():
            time.sleep(0.05)
        before = self.page.read_text()
        self.assertIn('<meta http-equiv="refresh" content="0.1">', before)
        self.assertIn('src="data:image/png;base64,', before)
        self.write("complete")
        watch.communicate(timeout=600)
        after = self.page.read_text()
        self.assertNotIn("refresh", after)
        self.assertIn("A small result: complete", after)
        for text in (before, after):
            # The page makes no network requests.
            self.assertEqual(re.findall(r'(?:src|href)="(?!data:)', text), [])

    def test_the_page_shows_the_default_figure_until_the_recipes_can_be_drawn(self):
        later = '[[integrators]]\nmethod = "rk4"\nname = "later"\n'
        figure = '[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{ of = "later.q[0][0]" }]\n'
        self.write("partial", later + figure)
        self.watch("--page", self.page)
        self.wait_for(self.page.exists)
        self.assertIn("A small result: partial", self.page.read_text())

    def test_the_page_reports_a_figure_that_cannot_be_drawn_at_the_end(self):
        figure = '[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{ of = "open.q[0][7]" }]\n'
        self.write("complete", figure)
        watch = self.watch("--page", self.page)
        watch.communicate(timeout=600)
        page = self.page.read_text()
        self.assertIn("The recipe's figure cannot be drawn: ", page)
        self.assertIn("open.q[0][7]", page)
        self.assertIn('src="data:image/png;base64,', page)

    def test_an_unwritable_page_is_an_error(self):
        self.write("complete")
        self.page.parent.write_text("a file")
        watch = self.watch("--page", self.page)
        self.assertIn("watch: ", watch.communicate(timeout=600)[0])
        self.assertEqual(watch.returncode, 2)


if __name__ == "__main__":
    unittest.main()
