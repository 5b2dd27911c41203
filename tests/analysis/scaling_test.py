"""The scaling model recovers the coefficients of synthetic times, and the table contains the efficiencies."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import synthetic  # noqa: F401  (finds the analysis)
import scaling

SITE, STEP, WAIT = 1.5e-10, 3e-7, 2e-6


def time_of(ranks, sites):
    """The model, implemented independently."""
    cut = 128 if ranks > 1 else 0
    doublings = {1: 0, 2: 1, 4: 2, 8: 3}[ranks]
    return SITE * (sites + cut) + STEP + WAIT * doublings


class ScalingTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, ranks, sites, repeat, time):
        rate = ranks * sites / time
        text = json.dumps({"benchmarks": [{"name": "line", "items_per_second": rate}]})
        (self.path / f"explicit.{ranks}.{sites}.{repeat}.json").write_text(text)

    def fill(self):
        for ranks in (1, 2, 4, 8):
            for sites in (16000 << k for k in range(11)):
                self.write(ranks, sites, 1, 1.7 * time_of(ranks, sites))
                self.write(ranks, sites, 2, time_of(ranks, sites))

    def test_recovers_the_three_coefficients(self):
        self.fill()
        model = scaling.Model(scaling.read(self.path))
        self.assertAlmostEqual(model.site / SITE, 1.0, 6)
        self.assertAlmostEqual(model.step / STEP, 1.0, 6)
        self.assertAlmostEqual(model.wait / WAIT, 1.0, 6)
        self.assertLess(model.misfit, 1e-9)
        self.assertAlmostEqual(float(model(64, 1e5)), SITE * (1e5 + 128) + STEP + 6 * WAIT, 15)

    def test_coefficients_are_not_negative(self):
        for sites in (16000, 32000, 64000):
            self.write(1, sites, 1, SITE * sites)
            self.write(2, sites, 1, 0.9 * SITE * sites)
        model = scaling.Model(scaling.read(self.path))
        self.assertGreaterEqual(min(model.site, model.step, model.wait), 0.0)

    def test_table_and_figure(self):
        self.fill()
        done = subprocess.run(
            [sys.executable, scaling.__file__, str(self.path)], capture_output=True, text=True, timeout=600,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater((self.path / "scaling.png").stat().st_size, 10000)
        with open(self.path / "scaling.csv", newline="") as file:
            rows = {(int(row["ranks"]), int(row["sites_per_rank"])): row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 44)
        row = rows[4, 64000]
        self.assertAlmostEqual(float(row["weak_efficiency"]), time_of(1, 64000) / time_of(4, 64000), 3)
        self.assertAlmostEqual(float(row["strong_efficiency"]), time_of(1, 256000) / (4 * time_of(4, 64000)), 3)
        self.assertEqual(rows[8, 16000 << 10]["strong_efficiency"], "nan")

    def test_unreadable_measurements_are_reported(self):
        done = subprocess.run([sys.executable, scaling.__file__, str(self.path)], capture_output=True, text=True)
        self.assertIn("no measurements in", done.stderr)
        (self.path / "explicit.1.16000.1.json").write_text("{}")
        done = subprocess.run([sys.executable, scaling.__file__, str(self.path)], capture_output=True, text=True)
        self.assertIn("is not a measurement", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
