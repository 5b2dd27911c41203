"""Figures of diverging and failed runs, whose other paths stay visible."""

import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

import synthetic
from bathline.figure import draw
from bathline.result_file import RunResult
from bathline.axis_limits import common_limits


class AxisLimitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result.h5"

    def write(self, **paths):
        """Write a result with these positions (time, axis) by label, recorded at times 0, 1, ..."""
        tables = "".join(f'[[integrators]]\nmethod = "rk4"\nname = "{label}"\n' for label in paths)
        with synthetic.ResultWriter(self.path, tables) as writer:
            for label, values in paths.items():
                writer.scale(f"{label}/time", np.arange(len(values)), "s", "time")
                for name, size in ("particle", 1), ("axis", values.shape[1]):
                    writer.scale(f"{label}/{name}", np.arange(size))
                writer.variable(f"{label}/q", values[:, None, :], ("time", "particle", "axis"), "m", "position")
                writer.variable(f"{label}/energy_total", values[:, 0], ("time",), "J", "energy")

    def drawn(self):
        """The panels of the figure by their titles."""
        with RunResult(self.path) as result:
            figure = draw(result)
        figure.canvas.draw()
        return {axes.get_title(loc="left").partition(") ")[2]: axes for axes in figure.axes}

    def test_an_overflowing_run_is_drawn_up_to_the_largest_drawable_value(self):
        growing = (-(10.0 ** np.arange(0.0, 308.5, 0.5))).reshape(-1, 1) * (-1.0) ** np.arange(617).reshape(-1, 1)
        self.write(one=growing, other=growing)
        panels = self.drawn()
        self.assertEqual(list(panels), ["position", "sum of all energies"])
        for axes in panels.values():
            shown = np.abs(axes.lines[0].get_ydata())
            self.assertGreater(np.nanmax(shown), 1e190)
            self.assertTrue(np.isfinite(axes.get_ylim()).all())

    def test_an_overflowing_map_is_drawn(self):
        synthetic.wave(self.path)
        with h5py.File(self.path, "r+") as file:
            file["closed/displacement"][-1, -1] = 1e308
        self.drawn()

    def test_a_run_that_failed_early_does_not_determine_the_limits(self):
        time = np.arange(200.0)
        self.write(whole=np.stack([time, 100.0 * time], -1), failed=np.stack([time, 100.0 * time], -1)[:4])
        panels = self.drawn()
        for title, reach in ("axis 0", 199.0), ("axis 1", 19900.0):
            self.assertGreaterEqual(panels[title].get_ylim()[1], reach)
        self.assertGreaterEqual(panels["orbit"].get_xlim()[1], 199.0)

    def test_limits_include_bounded_and_linearly_growing_paths(self):
        time = np.linspace(0.0, 40.0, 200)
        bounded, large = np.sin(time), 40.0 * np.sin(time)
        for wide, shown in (
            (large, True),
            (large * time / 40.0, True),
            (large * (1.0 - np.exp(-time / 10.0)), True),
            (large * np.exp(0.2 * (time - 40.0)), False),
            (1e4 * large, False),
        ):
            limits = common_limits([(time, bounded), (time, 0.9 * bounded), (time, wide)])
            self.assertEqual(limits is None, shown)

    def test_an_elongated_orbit_fills_its_panel(self):
        phase = np.arange(200.0)
        bounded = np.stack([np.cos(phase), 100.0 * np.sin(phase)], -1)
        self.write(bounded=bounded, equal=bounded, diverging=1e6 * bounded)
        orbit = self.drawn()["orbit"]
        self.assertLess(orbit.get_xlim()[1], 2.0)
        self.assertEqual(orbit.get_aspect(), "auto")


if __name__ == "__main__":
    unittest.main()
