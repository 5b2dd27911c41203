"""The Python package: runs, results as datasets, claims as a table, sweeps, errors, and installation."""

import csv
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import matplotlib
import matplotlib.figure
import matplotlib.image
import numpy as np
import xarray

import synthetic
import bathline
from bathline import figure as figure_module
from bathline import server
from bathline.statistic import STATISTICS

RECIPE = """
title = "an oscillator"

[system]
kind = "single-oscillator"
m = 1.0
k = 4.0
q0 = [0.5]
damping = 0.0

[time]
step = 0.1
end = 1.0

[[integrators]]
method = "stoermer-verlet"
name = "verlet"
on = "open"

[study]
kind = "trajectory"

[[claims]]
name = "swing"
quantity = "verlet.q.max"
bounds = [0.0, 0.4]
uncertainty = 0.1
"""


def verlet(step, steps):
    """The same path by an independent implementation."""
    q, p, path = 0.5, 0.0, [0.5]
    for _ in range(steps):
        p -= 0.5 * step * 4.0 * q
        q += step * p
        p -= 0.5 * step * 4.0 * q
        path.append(q)
    return path


class PackageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_recipes_are_texts_dicts_and_paths(self):
        path = self.folder / "own.toml"
        path.write_text(RECIPE)
        for recipe in (RECIPE, tomllib.loads(RECIPE), path, str(path)):
            with bathline.run(recipe, progress=False) as result:
                np.testing.assert_allclose(result["verlet"].q[:, 0, 0], verlet(0.1, 10), rtol=0, atol=1e-14)
                self.assertEqual(result["verlet"].q.attrs["units"], "m")
                self.assertEqual(list(result), ["verlet"])
                self.assertEqual(result.status, "complete")

    def test_mistakes_in_dicts_are_named_by_their_keys(self):
        base = tomllib.loads(RECIPE)
        claim = {"name": "a", "quantity": "verlet.q.max", "bounds": [0.0, 2.0]}
        for change, message in (
            ({"system": base["system"] | {"kk": 1.0}}, r"^system\.kk: unknown key `kk`"),
            ({"time": base["time"] | {"step": -1.0}}, r"^time\.step: "),
            ({"claims": [claim, claim | {"name": "b", "quantity": "verlet.q.max["}]}, r"^claims\.1\.?(quantity)?: .*quantity"),
            ({"time": {}}, r"^time: "),
            ({"studies": {"kind": "wave"}}, r"^studies: "),
        ):
            for call in (bathline.check, bathline.run, bathline.sweep):
                with self.subTest(message=message, call=call.__name__):
                    with self.assertRaisesRegex(bathline.UsageError, message) as raised:
                        call(base | change)
                    self.assertNotIn("/", str(raised.exception))
        with self.assertRaisesRegex(bathline.UsageError, r"recipe:\d+:\d+: ") as raised:
            bathline.check(RECIPE.replace("step =", "stepp ="))
        self.assertNotIn("/", str(raised.exception))

    def test_set_ranks_and_output(self):
        output = self.folder / "x.h5"
        with bathline.run(RECIPE, ranks=2, overrides={"time.step": 0.05}, output=output, progress=False) as result:
            self.assertEqual(result.path, output)
            self.assertEqual(result.attributes["mpi_ranks"], 2)
            np.testing.assert_allclose(result["verlet"].q[:, 0, 0], verlet(0.05, 20), rtol=0, atol=1e-14)
        with self.assertRaisesRegex(bathline.UsageError, r"x.h5 exists already; .* \(in Python overwrite=True\)$"):
            bathline.run(RECIPE, output=output, progress=False)
        bathline.run(RECIPE, output=output, overwrite=True, progress=False).close()

    def test_baths_of_other_programs_are_environments_of_a_dict(self):
        bath = bathline.import_bath("qutip", drude=np.array([0.3, 1.5]), kT=0.5)
        self.assertEqual(bath.environments[0]["stiffness"], [0.6])
        self.assertIn("subtract 0.6/2 x^2 from V", " ".join(bath.notes))
        recipe = tomllib.loads(RECIPE)
        recipe["environments"] = [bath.environments[0] | {"kT": 0.0}]
        recipe["integrators"] = [{"method": "midpoint", "on": "closed", "name": "closed"}]
        del recipe["claims"], recipe["system"]["damping"]
        with bathline.run(recipe) as result:
            self.assertIn("closed", list(result))
        with self.assertRaisesRegex(bathline.UsageError, "--from: drude not in"):
            bathline.import_bath("drude")

    def test_claims_are_a_table(self):
        with bathline.run(RECIPE, progress=False) as result:
            claims = result.claims
            self.assertEqual(list(claims.index), ["swing"])
            self.assertAlmostEqual(claims.loc["swing", "measured"], max(verlet(0.1, 10)))
            self.assertFalse(claims.loc["swing", "passed"])
            self.assertEqual(result.quantity("verlet.q[0]").shape, (11,))

    def test_a_claim_that_cannot_be_measured_has_a_problem(self):
        with bathline.run(RECIPE.replace("verlet.q.max", "verlet.speed.max"), progress=False) as result:
            swing = result.claims.loc["swing"]
            self.assertTrue(np.isnan(swing["measured"]))
            self.assertIn("no variable `speed` in group `verlet`; it has axis, energy_dissipated", swing["problem"])
        with bathline.run(RECIPE, progress=False) as result:
            self.assertEqual(result.claims.loc["swing", "problem"], "")

    def test_statistics_are_those_of_claims(self):
        claim = '\n[[claims]]\nname = "{0}"\nquantity = "verlet.q[0].{0}"\nbounds = [0.0, 1.0]\nuncertainty = 0.1\n'
        with self.assertRaises(bathline.UsageError) as refused:
            bathline.check(RECIPE + claim.format("nonsense"))
        names = re.search(r"only a statistic \((.*)\)", str(refused.exception))[1].split(", ")
        self.assertEqual(set(names), set(STATISTICS))
        recipe = RECIPE.split("[[claims]]")[0] + "".join(map(claim.format, names))
        sweep = bathline.sweep(recipe, over={"time.step": [0.1, 0.03]}, overrides={"time.end": 7.0}, progress=False)
        for name in names:
            measured = sweep.table[name]
            tabulated = sweep.tabulate(f"verlet.q[0].{name}")[f"verlet.q[0].{name}"]
            np.testing.assert_allclose(tabulated, measured, rtol=1e-13, atol=1e-16, err_msg=name)

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
        names = [text.get_text() for text in sweep.plot("swing", against="time.step").axes[0].get_legend().get_texts()]
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
        recipe = RECIPE.replace("verlet.q.max", "verlet.speed.max")
        sweep = bathline.sweep(recipe, over={"time.step": [0.1, 0.05]}, progress=False)
        with self.assertRaisesRegex(bathline.AnalysisError, "'swing' is not a finite number in any result: .*no variable `speed`"):
            sweep.plot("swing", against="time.step")
        with self.assertRaisesRegex(bathline.AnalysisError, "no positive value, which a logarithmic axis needs"):
            sweep.plot("verlet.energy_dissipated.max", against="time.step", yscale="log")
        curves = sweep.plot("verlet.q[0].last", "verlet.q[0].min", against="time.step").axes[0].lines
        self.assertEqual(len({line.get_color() for line in curves}), 2)
        self.assertEqual(len({line.get_marker() for line in curves}), 2)

    def test_plots_are_drawn_into_axes_in_the_style_of_their_figure(self):
        figure = matplotlib.figure.Figure()
        left, right = figure.subplots(1, 2)
        with matplotlib.rc_context({"axes.labelsize": 17.0}):
            with bathline.run(RECIPE, progress=False) as result:
                self.assertIs(result.plot(ax=left), figure)
                with self.assertRaisesRegex(bathline.AnalysisError, "not panel 99"):
                    result.plot(ax=right, panel=99)
                self.assertRegex(result._repr_html_(), "(?s)an oscillator.*verlet.*swing")
            sweep = bathline.sweep(RECIPE, over={"time.step": [0.1, 0.05]}, progress=False)
            self.assertIs(sweep.plot("swing", against="time.step", ax=right), figure)
        self.assertTrue(left.lines)
        self.assertEqual(list(right.lines[0].get_ydata()), list(sweep.table["swing"])[::-1])

    def test_the_process_of_the_program_is_kept_between_runs_and_replaced_when_it_is_lost(self):
        def ids():
            bathline.check(RECIPE)
            with server.pool._lock:
                return {idle._process.pid for idle in server.pool._idle}

        first = ids()
        self.assertEqual(ids(), first)
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        self.assertFalse(ids() & first)
        with mock.patch.dict(os.environ, {"BATHLINE_EXPERIMENTS": str(self.folder)}):
            self.assertFalse(ids() & first)
        broken = self.folder / "program"
        broken.write_text("#!/bin/sh\nread line\necho lost >&2\nkill -SEGV $$\n")
        broken.chmod(0o755)
        with mock.patch.dict(os.environ, {"BATHLINE": str(broken)}), self.assertRaisesRegex(bathline.BathlineError, "lost"):
            bathline.check(RECIPE)
        bathline.check(RECIPE)

    def test_all_errors_have_one_base(self):
        for error in (bathline.AnalysisError, bathline.NumericalFailure, bathline.Stopped, bathline.UsageError):
            self.assertTrue(issubclass(error, bathline.BathlineError))

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
        self.assertEqual((len(both.lines), both.get_ylabel()), (6, ""))
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
        with open(self.folder / "t.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["time.step"] for row in rows], ["0.05", "0.1", "0.02"])
        energies = [np.ptp(result["verlet"].energy_total.values) for result in sweep]
        self.assertEqual([float(row["verlet.energy_total.peak_to_peak"]) for row in rows], energies)

    def test_errors_contain_the_messages_of_the_program(self):
        with self.assertRaisesRegex(bathline.UsageError, r"recipe:9:.*`dampping`.*did you mean"):
            bathline.run(RECIPE.replace("damping", "dampping"), progress=False)
        with self.assertRaisesRegex(bathline.UsageError, "no/such/recipe.toml: No such file"):
            bathline.check("no/such/recipe.toml")
        bathline.check(RECIPE)
        wild = RECIPE.replace("verlet", "euler").replace("stoermer-euler", "explicit-euler")
        with self.assertRaises(bathline.NumericalFailure) as caught:
            bathline.run(wild, overrides={"time.step": 1e3, "time.end": 1e6}, progress=False)
        with bathline.open(caught.exception.file) as result:
            self.assertEqual(result.status, "failed")

    def test_plot_draws_the_recipes_figure(self):
        figure = '\n[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{of = "verlet.q[0]"}]\n'
        with bathline.run(RECIPE + figure, progress=False) as result:
            line = result.plot().axes[0].lines[0]
            np.testing.assert_allclose(line.get_ydata(), verlet(0.1, 10), rtol=0, atol=1e-14)

    def test_figures_neither_use_nor_change_the_settings_of_the_session(self):
        sweep = bathline.sweep(RECIPE, over={"time.step": [0.1, 0.05]}, progress=False)
        bad = RECIPE + '[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{of = "verlet.none"}]\n'
        with matplotlib.rc_context({"text.usetex": True, "font.size": 20.0, "savefig.dpi": 50, "text.latex.preamble": "bad"}):
            before = dict(matplotlib.rcParams)
            with bathline.run(RECIPE, progress=False) as result:
                figure = result.plot()
            figure.savefig(self.folder / "a.png")
            figure_module.save(result_of_sweep := sweep.plot("swing", against="time.step"), self.folder / "b")
            result_of_sweep.canvas.draw()
            with bathline.run(bad, progress=False) as result, self.assertRaises(bathline.AnalysisError):
                result.plot()
            (self.folder / "r.toml").write_text(bad)
            figure_module.check_recipe(self.folder / "r.toml")
            self.assertEqual(dict(matplotlib.rcParams), before)
        axes = figure.axes[0]
        self.assertEqual((axes.xaxis.label.get_size(), axes.xaxis.label.get_usetex()), (9, False))
        self.assertEqual(matplotlib.image.imread(self.folder / "a.png").shape[1], round(200 * figure.get_size_inches()[0]))

    def test_numbers_with_units_of_time_remain_numbers(self):
        units = {"age": ("0.1234567890123*x + 1e-11", "days"), "lapse": ("x/3e9", "seconds"), "since": ("x", "hours since 2026-01-01")}
        recipe = {
            "title": "units of time",
            "system": {
                "kind": "formula",
                "coordinates": ["x"],
                "masses": [1.0],
                "V": "2*x^2",
                "q0": [0.5],
                "observables": {name: {"formula": formula, "units": unit} for name, (formula, unit) in units.items()},
            },
            "time": {"step": 0.1, "end": 1.0},
            "integrators": [{"method": "leapfrog", "name": "verlet", "on": "closed"}],
        }
        with bathline.run(recipe, progress=False) as result:
            q = result["verlet"].q[:, 0, 0].values
            for name, expected in (("age", 0.1234567890123 * q + 1e-11), ("lapse", q / 3e9), ("since", q)):
                np.testing.assert_allclose(np.ravel(result["verlet"][name].values), expected, rtol=1e-15)
                self.assertEqual(result["verlet"][name].dtype.kind, "f")
                if hasattr(xarray, "open_datatree"):
                    self.assertEqual(result.tree["verlet"][name].dtype.kind, "f")

    def test_texts_added_to_a_figure_change_its_layout(self):
        figure = '\n[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{of = "verlet.q[0]", name = "q"}]\n'
        with bathline.run(RECIPE + figure, progress=False) as result:
            drawn = result.plot()
        axes = drawn.axes[0]
        drawn.draw_without_rendering()
        before = axes.get_position().x0
        axes.set_ylabel("a label\nof several\nlines")
        drawn.draw_without_rendering()
        self.assertGreater(axes.get_position().x0, before + 0.02)

    def test_figures_import_neither_pandas_nor_xarray(self):
        script = "import sys, bathline.figure; print({'pandas', 'xarray'} & set(sys.modules))"
        environment = {**os.environ, "PYTHONPATH": str(synthetic.SOURCE / "analysis")}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("set()\n", ""))

    def test_progress_is_shown_on_request(self):
        script = f"import bathline; bathline.run({RECIPE!r}, progress=True, overrides={{'time.end': 2e5}})"
        environment = {**os.environ, "PYTHONPATH": str(synthetic.SOURCE / "analysis")}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("verlet", done.stderr)

    def test_ctrl_c_saves_the_run_and_the_progress_stays_on_its_line(self):
        script = f"""
import bathline
try:
    bathline.run({RECIPE!r}, ranks=2, overrides={{"time.end": 1e9, "output.every": 100000}}, output="long.h5")
except bathline.Stopped as stopped:
    print("said:", stopped, "left:", bathline.open(stopped.file).status)
"""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.environ["PYTHONPATH"] = str(synthetic.SOURCE / "analysis")
            os.execv(sys.executable, [sys.executable, "-c", script])
        self.addCleanup(os.close, terminal)
        shown, asked = b"", False
        while piece := self.read(terminal):
            shown += piece
            if not asked and shown.count(b"steps/s") > 2:
                asked = bool(os.write(terminal, b"\x03"))
        self.assertEqual(os.waitpid(child, 0)[1], 0, shown)
        self.assertRegex(shown.decode(), r"said: verlet: stopped at step \d+ by .*bathline resume long.* left: partial")
        self.assertEqual(len(list(self.folder.glob("long.checkpoint.*.h5"))), 1)
        bar = shown[: shown.rindex(b"steps/s")].partition(b"steps/s")[2]
        self.assertNotIn(b"\n", bar)

    def test_a_run_stops_with_the_process_that_started_it(self):
        for ranks, number in ((None, signal.SIGKILL), (2, signal.SIGTERM), (2, signal.SIGKILL)):
            with self.subTest(ranks=ranks, signal=number.name):
                name = f"orphan-{ranks}-{number.name}"
                # The thread that started the program may end before the run does.
                script = f"""
import bathline, threading, time
settings = {{"time.end": 1e9, "output.every": 100000}}
threading.Thread(target=bathline.run, args=({RECIPE!r}, {ranks}, settings, "{name}.h5"), daemon=True).start()
time.sleep(600)
"""
                environment = os.environ | {"PYTHONPATH": str(synthetic.SOURCE / "analysis")}
                python = subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=self.folder)
                self.addCleanup(python.kill)
                self.wait_until((self.folder / f"{name}.h5").exists)
                time.sleep(1.0)
                self.assertTrue(self.runs(name))
                python.send_signal(number)
                python.wait()
                self.wait_until(lambda name=name: not self.runs(name))
                self.assertEqual(len(list(self.folder.glob(f"{name}.checkpoint.*.h5"))), 1)

    def runs(self, name):
        """Whether a process has this result open."""
        return any(link.name.isdigit() and self.target(link).endswith(f"/{name}.h5") for link in Path("/proc").glob("[0-9]*/fd/*"))

    @staticmethod
    def target(link):
        try:
            return os.readlink(link)
        except OSError:  # the process has ended
            return ""

    def wait_until(self, condition):
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("not within 30 s")

    def read(self, terminal):
        """Read from a terminal; empty once its other side is closed."""
        self.assertTrue(select.select([terminal], [], [], 60)[0], "the run neither says anything nor ends")
        try:
            return os.read(terminal, 4096)
        except OSError:
            return b""

    def test_failed_launches_raise_the_messages_of_the_launcher(self):
        with self.assertRaisesRegex(bathline.UsageError, "ranks = 0: a run needs at least one"):
            bathline.run(RECIPE, ranks=0, progress=False)
        with mock.patch.dict(os.environ, {"OMPI_MCA_rmaps_base_oversubscribe": "0"}):
            with self.assertRaisesRegex(bathline.BathlineError, "not enough slots"):
                bathline.run(RECIPE, ranks=999, progress=False)

    def test_nested_groups_are_in_the_mapping_and_in_the_tree(self):
        recipe = RECIPE.replace('"trajectory"', '"convergence"\nstep_sizes = [0.1, 0.05]').split("[[claims]]")[0]
        with bathline.run(recipe, progress=False) as result:
            self.assertEqual(list(result), ["convergence", "convergence/verlet"])
            table = result["convergence"]
            self.assertEqual((table.error_q.dims, list(table.integrator.values)), (("integrator", "step"), ["verlet"]))
            np.testing.assert_array_equal(table.error_q.sel(integrator="verlet"), result["convergence/verlet"].error_q)
            with self.assertRaisesRegex(KeyError, "verlet; there are convergence, convergence/verlet"):
                result["verlet"]
            if hasattr(xarray, "open_datatree"):
                np.testing.assert_array_equal(result.tree["convergence/verlet"].error_q, table.error_q[0])
            else:
                with self.assertRaisesRegex(bathline.AnalysisError, "no DataTree"):
                    result.tree

    def test_installs_beside_the_packages_of_the_system(self):
        environment = self.folder / "venv"
        # The system's pip is used, because installing one takes longer than the rest of this test.
        options = ["--system-site-packages", "--without-pip"]
        subprocess.run([sys.executable, "-m", "venv", *options, environment], check=True)
        # setuptools builds in the folder of the package, so that a copy is installed.
        source = self.folder / "analysis"
        subprocess.run(["cp", "-r", synthetic.SOURCE / "analysis", source], check=True)
        install = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", source]
        done = subprocess.run([environment / "bin" / "python", *install], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        recipe = self.folder / "own.toml"
        recipe.write_text(RECIPE)
        script = f"import bathline; print(bathline.__file__); print(bathline.run({str(recipe)!r}, progress=False))"
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [environment / "bin" / "python", "-c", script], env=bare, cwd="/", capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(environment), done.stdout)
        results = self.folder / "results"
        bathline.sweep(recipe, over={"time.step": [0.1, 0.05]}, folder=results, progress=False)
        files = sorted(map(str, results.glob("*.h5")))
        for name, arguments, made in (
            ("figure", [files[0], "-o", results / "one"], "one.pdf"),
            ("report", [results, "-o", results / "report.html"], "report.html"),
            ("sweep", ["table", *files, "-o", results / "t.csv"], "t.csv"),
            ("sweep", ["figure", *files, "--of", "swing", "--against", "time.step", "-o", results / "f"], "f.png"),
            ("watch", [files[0]], "one.pdf"),
        ):
            command = [environment / "bin" / f"bathline-{name}", *arguments]
            finished = subprocess.run(command, env=bare, cwd="/", capture_output=True, text=True)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertTrue((results / made).is_file())
        (package,) = environment.glob("lib/python3*/site-packages/bathline")
        self.assertTrue((package / "py.typed").is_file())
        self.assertIn("an oscillator (complete)", done.stdout)


if __name__ == "__main__":
    unittest.main()
