"""Sweeps from Python: points, results as a dataset, tables and pictures."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import synthetic
import bathline
from package_test import RECIPE, verlet


def legend_names(figure):
    (legend,) = [legend for legend in [*figure.legends, figure.axes[0].get_legend()] if legend]
    return [text.get_text() for text in legend.get_texts()]


class SweepsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_sweeps_are_returned_in_order(self):
        sweep = bathline.sweep(RECIPE, over={"time.step": [0.1, 0.05, 0.02]}, progress=False)
        self.assertEqual(list(sweep.table["time.step"]), [0.1, 0.05, 0.02])
        self.assertEqual(len(sweep), 3)
        for step, path in zip((0.1, 0.05, 0.02), sweep.gather("verlet.q[0]"), strict=True):
            np.testing.assert_allclose(path, verlet(step, round(1 / step)), rtol=0, atol=1e-14)
        self.assertAlmostEqual(sweep.table["swing"][1], max(verlet(0.05, 20)))

    def test_a_sweep_is_a_dataset_over_the_swept_keys(self):
        over = {"time.step": [0.1, 0.05], "integrators.0.method": ["stoermer-verlet", "rk4"], "system.q0": [[0.5], [0.25]]}
        sweep = bathline.sweep(RECIPE, over=over, progress=False)
        data = sweep.dataset
        self.assertEqual(dict(data.swing.sizes), {"integrators.0.method": 2, "system.q0": 2, "time.step": 2})
        self.assertEqual(list(data["system.q0"].values), ["[0.5]", "[0.25]"])
        last = sweep.select("verlet.q[0].last")
        for step in (0.1, 0.05):
            point = {"integrators.0.method": "stoermer-verlet", "system.q0": "[0.5]", "time.step": step}
            path = verlet(step, round(1 / step))
            self.assertAlmostEqual(float(last["verlet.q[0].last"].sel(point)), path[-1], places=13)
            self.assertAlmostEqual(float(data.swing.sel(point)), max(path), places=13)
        np.testing.assert_array_equal(data.swing_error, np.full((2, 2, 2), 0.1))
        self.assertEqual(last["verlet.q[0].last"].attrs["units"], "m")
        with self.assertRaisesRegex(bathline.AnalysisError, r"'verlet.q\[0\]' is a series whose length differs"):
            sweep.select("verlet.q[0]")
        series = bathline.sweep(RECIPE, over={"system.k": [4.0, 1.0]}, progress=False).select("verlet.q[0]")["verlet.q[0]"]
        np.testing.assert_allclose(series.sel({"system.k": 4.0}), verlet(0.1, 10), rtol=0, atol=1e-14)
        np.testing.assert_allclose(series["verlet.q[0].time"], np.linspace(0.0, 1.0, 11))
        self.assertIn("swing", sweep._repr_html_())

    def test_errors_stand_beside_their_variables(self):
        recipe = RECIPE.replace('"trajectory"', '"ensemble"\nrealisations = 8').replace("damping = 0.0", "damping = 0.1\nkT = 1.0")
        recipe = recipe.replace("verlet.q.max", "ensemble.verlet.mean_energy[10]").replace("stoermer-verlet", "baoab")
        sweep = bathline.sweep(recipe, over={"system.k": [4.0, 1.0]}, progress=False)
        result = sweep.results[0]
        quantity = next(
            f"ensemble.verlet.{name}" for name in result.variables("ensemble/verlet") if result.has_variable(f"ensemble.verlet.{name}_error")
        )
        rank = len(result.shape(quantity))
        series = quantity + "[0]" * (rank - 1)
        data = sweep.select(series)
        np.testing.assert_array_equal(data[f"{series}_error"][0], result.quantity(f"{quantity}_error" + "[0]" * (rank - 1)))
        self.assertEqual(data[f"{series}_error"].attrs["units"], data[series].attrs["units"])
        number = f"{series}.last"
        (bars,) = sweep.plot(number, against="system.k").axes[0].collections
        heights = [float(np.diff(segment[:, 1])[0]) for segment in bars.get_segments()]
        errors = [result.quantity(f"{quantity}_error" + "[0]" * (rank - 1))[-1] for result in sweep]
        np.testing.assert_allclose(heights, 2 * np.array(errors)[::-1], rtol=1e-9)
        self.assertEqual(sweep.errors(number), errors)
        self.assertTrue(np.isnan(sweep.errors(f"{series}.mean")).all())

    def test_points_and_keys_that_change_together(self):
        points = [{"time.step": 0.1, "system.k": 4.0}, {"time.step": 0.05, "system.k": 1.0}, {"time.step": 0.1, "system.k": 4.0},
                  {"system.k": 4.0, "time.step": 0.05}]
        with tempfile.TemporaryDirectory() as folder:
            sweep = bathline.sweep(RECIPE, points=points, folder=folder, progress=False)
            self.assertEqual(list(sweep.table["time.step"]), [0.1, 0.05, 0.1, 0.05])
            self.assertEqual(list(sweep.table["system.k"]), [4.0, 1.0, 4.0, 4.0])
            self.assertEqual((sweep.paths[0], len(list(Path(folder).glob("*.h5")))), (sweep.paths[2], 3))
            self.assertEqual(dict(bathline.open_sweep(folder).dataset.swing.sizes), {"system.k": 2, "time.step": 2})
        over = {"time.step": [0.1, 0.05, 0.02], "system.k": [4.0, 1.0, 2.0], "system.m": [1.0, 3.0]}
        sweep = bathline.sweep(RECIPE, over=over, zip=[["time.step", "system.k"]], progress=False)
        self.assertEqual(len(sweep), 6)
        self.assertEqual(dict(sweep.dataset.swing.sizes), {"system.k": 3, "system.m": 2})
        self.assertEqual(list(sweep.dataset["time.step"].values), [0.1, 0.05, 0.02])
        names = legend_names(sweep.plot("swing", against="time.step"))
        self.assertEqual(names, ["system.m = 1.0", "system.m = 3.0"])
        with self.assertRaisesRegex(bathline.UsageError, r"^points\.1: has the keys system.m, but needs system.k"):
            bathline.sweep(RECIPE, points=[{"system.k": 1.0}, {"system.m": 1.0}], progress=False)
        self.assertEqual(len(bathline.sweep(RECIPE, points=[], progress=False)), 0)

    def test_results_of_a_sweep_have_the_names_of_the_command_line_and_are_not_computed_twice(self):
        recipe = self.folder / "many.toml"
        recipe.write_text(RECIPE + "[sweep]\ntime.step = [0.1, 0.05]\n")
        out = self.folder / "out"
        sweep = bathline.sweep(recipe, folder=out, progress=False)
        times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
        self.assertEqual(set(times), set(sweep.paths))
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = [os.environ.get("BATHLINE", synthetic.SOURCE / "build/bathline"), "run", recipe, "-o", out / "many.h5"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.stdout.count("already complete"), 2, done.stdout + done.stderr)
        bathline.sweep(recipe, folder=out, progress=False)
        self.assertEqual({path: path.stat().st_mtime_ns for path in out.iterdir()}, times)
        opened = bathline.open_sweep(str(out / "many.*.h5"))
        self.assertEqual((opened.paths, list(opened.table["time.step"])), (sweep.paths, [0.1, 0.05]))
        with self.assertRaisesRegex(bathline.AnalysisError, "no result files"):
            bathline.open_sweep(str(out / "none.*.h5"))

    def test_pictures_of_sweeps_refuse_what_has_no_value(self):
        recipe = RECIPE.replace("verlet.q.max", "trajectory.speed.max")
        sweep = bathline.sweep(recipe, over={"time.step": [0.1, 0.05]}, progress=False)
        with self.assertRaisesRegex(bathline.AnalysisError, "'swing' is not a finite number in any result: .*no group `trajectory`"):
            sweep.plot("swing", against="time.step")
        with self.assertRaisesRegex(bathline.AnalysisError, "no positive value, which a logarithmic axis needs"):
            sweep.plot("verlet.energy_dissipated.max", against="time.step", yscale="log")
        curves = sweep.plot("verlet.q[0].last", "verlet.q[0].min", against="time.step").axes[0].lines
        self.assertEqual(len({line.get_color() for line in curves}), 2)
        self.assertEqual(len({line.get_marker() for line in curves}), 2)

    def test_a_different_result_in_the_path_of_a_sweep_element_is_refused(self):
        over = {"time.step": [0.1, 0.05]}
        path = bathline.sweep(RECIPE, over=over, folder=self.folder, progress=False).results[0].path
        bathline.run(RECIPE, output=path, overwrite=True, overrides={"time.end": 2.0}, progress=False).close()
        with self.assertRaisesRegex(bathline.UsageError, rf"{path.name} .* \(in Python remove that file first\)$"):
            bathline.sweep(RECIPE, over=over, folder=self.folder, progress=False)

    def test_sweeps_are_plotted(self):
        over = {"time.step": [0.1, 0.05, 0.02], "system.m": [1.0, 2.0]}
        sweep = bathline.sweep(RECIPE, over=over, progress=False)
        (axes,) = sweep.plot("verlet.q[0].last", against="time.step", xscale="log").axes
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("time.step", "position, last (m)"))
        self.assertEqual(axes.get_xscale(), "log")
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        self.assertEqual(names, ["system.m = 1.0", "system.m = 2.0"])
        longer = sweep.plot("verlet.energy_total.peak_to_peak", against="time.step").axes[0]
        self.assertEqual(longer.get_ylabel(), "verlet.energy_total.peak_to_peak (J)")
        both = sweep.plot("verlet.q[0].last", "verlet.q[0].min", "swing", against="time.step").axes[0]
        self.assertEqual((len(both.lines), both.get_ylabel()), (6, "values"))
        units = sweep.plot("verlet.energy_particles.last", "verlet.energy_total.max", against="time.step").axes[0]
        self.assertEqual(units.get_ylabel(), "values (J)")
        first = [(step, verlet(step, round(1 / step))[-1]) for step in (0.02, 0.05, 0.1)]
        np.testing.assert_allclose(axes.lines[0].get_xydata(), first, rtol=0, atol=1e-14)
        self.assertEqual(list(sweep.tabulate("verlet.q[0].last")["verlet.q[0].last"]), sweep.gather("verlet.q[0].last"))
        with self.assertRaisesRegex(bathline.AnalysisError, "'time.end' was not swept; the swept keys are: system.m, time.step"):
            sweep.plot("swing", against="time.end")
        with self.assertRaisesRegex(bathline.AnalysisError, r"a series; a statistic makes it a number, as in 'verlet.q\[0\].last'"):
            sweep.plot("verlet.q[0]", against="time.step")

    def test_a_claim_is_plotted_over_texts(self):
        recipe = RECIPE.replace("damping = 0.0", "damping = 0.1")
        sweep = bathline.sweep(recipe, over={"integrators.0.method": ["stoermer-verlet", "rk4"]}, progress=False)
        (axes,) = sweep.plot("swing", against="integrators.0.method").axes
        self.assertEqual([text.get_text() for text in axes.get_xticklabels()], ["stoermer-verlet", "rk4"])
        self.assertEqual(list(axes.lines[0].get_ydata()), list(sweep.table["swing"]))
        self.assertEqual((axes.get_ylabel(), axes.get_legend()), ("swing", None))

    def test_scripts_draw_and_list_results_of_a_sweep_in_order(self):
        recipe = RECIPE + "[sweep]\ntime.step = [0.05, 0.1, 0.02]\n"
        sweep = bathline.sweep(recipe, folder=self.folder, progress=False)
        paths = sorted((str(result.path) for result in sweep), reverse=True)
        for script, options, files in (
            ("sweep_table.py", ["--of", "verlet.energy_total.peak_to_peak", "-o", self.folder / "t.csv"], ["t.csv"]),
            ("sweep_figure.py", ["--of", "swing", "--against", "time.step", "-o", self.folder / "f"], ["f.png", "f.pdf"]),
        ):
            done = subprocess.run(
                [sys.executable, synthetic.SOURCE / "analysis" / script, *paths, *options], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in files:
                self.assertTrue((self.folder / name).is_file())
            # A folder stands for the results in it.
            of_folder = subprocess.run(
                [sys.executable, synthetic.SOURCE / "analysis" / script, self.folder, *options], capture_output=True, text=True
            )
            self.assertEqual((of_folder.returncode, of_folder.stderr), (0, ""))
        with open(self.folder / "t.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["time.step"] for row in rows], ["0.05", "0.1", "0.02"])
        energies = [np.ptp(result["verlet"].energy_total.values) for result in sweep]
        self.assertEqual([float(row["verlet.energy_total.peak_to_peak"]) for row in rows], energies)

    def test_values_that_are_no_numbers_are_names_on_the_axis(self):
        over = {"output.work_rules": [True, False], "system.q0": [[0.5], [0.25]], "system.k": [1.0, 1.9090909090909092]}
        sweep = bathline.sweep(RECIPE, over=over, progress=False)
        for key, names in (("output.work_rules", ["true", "false"]), ("system.q0", ["[0.5]", "[0.25]"])):
            axes = sweep.plot("swing", against=key).axes[0]
            self.assertEqual([text.get_text() for text in axes.get_xticklabels()], names)
            self.assertEqual({line.get_linestyle() for line in axes.lines}, {"None"})
            with self.assertRaisesRegex(bathline.AnalysisError, f"'{key}' has values that are no numbers"):
                sweep.plot("swing", against=key, xscale="log")
        names = legend_names(sweep.plot("swing", against="output.work_rules"))
        self.assertIn("system.k = 1.90909, system.q0 = [0.5]", names)
        with self.assertRaisesRegex(bathline.AnalysisError, "'lg' is not a scale"):
            sweep.plot("swing", against="system.k", yscale="lg")

    def test_curves_without_values_are_left_out(self):
        recipe = RECIPE.replace("verlet.q.max", "trajectory.speed.max")
        sweep = bathline.sweep(recipe, over={"time.step": [0.1, 0.05]}, progress=False)
        sweep.numbers = lambda quantity: [np.nan, np.nan] if quantity == "verlet.q[0].min" else [1.0, 2.0]
        self.assertEqual(len(sweep.plot("verlet.q[0].last", "verlet.q[0].max", against="time.step").axes[0].lines), 2)
        with self.assertRaisesRegex(bathline.AnalysisError, "not a finite number"):
            sweep.plot("verlet.q[0].last", "verlet.q[0].min", against="time.step")

    def test_legends_cover_no_error_bars(self):
        sweep = bathline.sweep(RECIPE, over={"system.k": [1.0, 2.0, 4.0], "system.m": [1.0, 2.0]}, progress=False)
        figure = sweep.plot("swing", against="system.k")
        figure.canvas.draw()
        (axes,) = figure.axes
        (box,) = [legend.get_window_extent() for legend in [*figure.legends, axes.get_legend()] if legend]
        for bars in axes.collections:
            for path in bars.get_paths():
                self.assertFalse(axes.transData.transform_path(path).intersects_bbox(box, filled=False))

    def test_the_command_says_what_it_needs(self):
        for words, code, text in (([], 2, "begin with table or figure"), (["tabel"], 2, "unknown word 'tabel'"), (["-h"], 0, "many.csv")):
            command = [sys.executable, "-c", "from bathline.sweep_command import main; raise SystemExit(main())", *words]
            environment = {**os.environ, "PYTHONPATH": str(synthetic.SOURCE / "analysis")}
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, code)
            self.assertIn(text, done.stdout + done.stderr)

    def test_sweeps_of_one_folder_are_one_over_all_their_keys(self):
        for over in ({"system.k": [4.0, 1.0]}, {"integrators.verlet.method": ["rk4"]}):
            bathline.sweep(RECIPE, over=over, folder=self.folder, progress=False)
        bathline.sweep(RECIPE[: RECIPE.index("[[claims]]")], over={"system.k": [2.0]}, folder=self.folder, progress=False)
        sweep = bathline.open_sweep(self.folder)
        methods = ["stoermer-verlet", "stoermer-verlet", "stoermer-verlet", "rk4"]
        points = sorted(zip(sweep.table["system.k"], sweep.table["integrators.verlet.method"], sweep.numbers("swing")), key=str)
        self.assertEqual([point[:2] for point in points], sorted(zip([1.0, 2.0, 4.0, 4.0], sorted(methods, reverse=True)), key=str))
        # A claim that a result does not make has no value there.
        self.assertEqual([bool(np.isnan(swing)) for *_, swing in points], [False, True, False, False])
        data = sweep.dataset
        self.assertEqual(dict(data.swing.sizes), {"integrators.verlet.method": 2, "system.k": 3})
        self.assertEqual(int(data.swing.notnull().sum()), 3)
        self.assertEqual(len(sweep.plot("swing", against="system.k").axes[0].lines), 2)

    def test_no_points_are_an_empty_dataset(self):
        sweep = bathline.sweep(RECIPE, points=[], progress=False)
        self.assertEqual((len(sweep.dataset), len(sweep.table)), (0, 0))


if __name__ == "__main__":
    unittest.main()
