"""The Python package: runs, results as datasets, claims as a table, sweeps, errors, and installation."""

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
        with bathline.run(RECIPE.replace("verlet.q.max", "trajectory.speed.max"), progress=False) as result:
            swing = result.claims.loc["swing"]
            self.assertTrue(np.isnan(swing["measured"]))
            self.assertIn("no group `trajectory` in the file; it has verlet", swing["problem"])
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
        bad = RECIPE + '[figure]\nkind = "lines"\n[[figure.panels]]\nseries = [{of = "trajectory.none"}]\n'
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
        for _ in range(60000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("not within ten minutes")

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
