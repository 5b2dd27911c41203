"""Result files: layout, records, provenance, and the files of runs that fail."""

import contextlib
import re
import shutil
import subprocess
import time
import unittest

import h5py
import numpy as np
import xarray

from program import KEPLER, OSCILLATOR, FolderTest, ask, changed, end, kill, start, variables, write_recipe

TEXTS = [
    "title",
    "recipe",
    "recipe_resolved",
    "status",
    "bathline_version",
    "git_commit",
    "compiler",
    "compiler_flags",
    "petsc_version",
    "hdf5_version",
    "started",
]
NUMBERS = ["git_dirty", "mpi_ranks", "seed", "wall_time_s"]

TIME = ("time",)
LAYOUT = {
    "time": TIME,
    "q": ("time", "particle", "axis"),
    "p": ("time", "particle", "axis"),
    "energy_particles": TIME,
    "energy_environment": TIME,
    "energy_interaction": TIME,
    "energy_total": TIME,
    "energy_dissipated": TIME,
}

PASSING = {"name": "start", "quantity": "closed.q.first", "expect": 1.0, "tolerance": 0.0, "source": "the recipe"}
FAILING = {"name": "too-large", "quantity": "closed.q.max", "bounds": [5.0, 6.0]}

# Explicit and unstable, with `allow_unstable`: not finite after about 90 steps.
BLOW_UP = changed(
    OSCILLATOR,
    environments=[{"name": "line", "kind": "spring-mass-line", "sites": 45, "M": 0.02, "lambda": 8.0}],
    time={"step": 0.2, "steps": 400},
    integrators=[OSCILLATOR["integrators"][0] | {"allow_unstable": True}],
)

# An implicit step that has a linear system to solve on a line.
IMPLICIT = changed(
    BLOW_UP,
    time={"steps": 50},
    integrators=[{"method": "gamma", "gamma": 0.5, "on": "closed", "name": "closed"}],
)


class ResultTest(FolderTest):
    """Common functions of the tests of this file."""

    @classmethod
    def run_recipe(cls, name, recipe, *arguments, ranks=None):
        """Runs a recipe with a result named `name`."""
        path = write_recipe(cls.folder / f"{name}.toml", recipe)
        return ask(["run", path, "-o", cls.folder / f"{name}.h5", "--progress", "none", *arguments], ranks)

    @classmethod
    def must_run(cls, name, recipe, *arguments, ranks=None):
        """Runs a recipe, which must succeed, and returns the path of its result."""
        outcome = cls.run_recipe(name, recipe, *arguments, ranks=ranks)
        if outcome.code != 0:
            raise AssertionError(f"exit code {outcome.code}: {outcome.text}")
        return cls.folder / f"{name}.h5"


class LayoutTest(ResultTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        recipe = changed(OSCILLATOR, output={"snapshots": 20}, seed=7, claims=[PASSING])
        cls.path = cls.must_run("layout", recipe, ranks=2)
        cls.recipe = cls.path.with_suffix(".toml").read_text()

    def test_attributes_of_the_root(self):
        with h5py.File(self.path) as file:
            for name in TEXTS:
                self.assertIsInstance(file.attrs[name], str, name)
                self.assertNotEqual(file.attrs[name], "", name)
            for name in NUMBERS:
                self.assertTrue(np.isscalar(file.attrs[name]), name)
            self.assertEqual(file.attrs["title"], "An oscillator")
            self.assertEqual(file.attrs["recipe"], self.recipe)
            self.assertEqual(file.attrs["status"], "complete")
            self.assertEqual(file.attrs["mpi_ranks"], 2)
            self.assertEqual(file.attrs["seed"], 7)
            self.assertRegex(file.attrs["git_commit"], r"\A[0-9a-f]{40}\Z")
            self.assertRegex(file.attrs["started"], r"\A20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
            self.assertGreater(file.attrs["wall_time_s"], 0.0)

    def test_a_group_for_each_label_and_one_for_claims(self):
        with h5py.File(self.path) as file:
            self.assertEqual(sorted(file), ["claims", "closed", "open"])
            for label in ("closed", "open"):
                self.assertEqual(file[label].attrs["on"], label)
                self.assertEqual(file[label].attrs["method"], "gamma")

    def test_every_variable_has_a_long_name_and_units(self):
        seen = 0
        with h5py.File(self.path) as file:
            for group in file.values():
                for name, variable in group.items():
                    self.assertIsInstance(variable.attrs["units"], str, name)
                    self.assertIsInstance(variable.attrs["long_name"], str, name)
                    self.assertNotEqual(variable.attrs["long_name"], "", name)
                    seen += 1
        self.assertGreater(seen, 30)

    def test_xarray_finds_dimensions_and_coordinates(self):
        for label, sites in (("closed", True), ("open", False)):
            with xarray.open_dataset(self.path, engine="h5netcdf", group=label) as data:
                for name, dimensions in LAYOUT.items():
                    self.assertEqual(data[name].dims, dimensions, name)
                self.assertEqual(data["q"].shape, (61, 1, 1))
                self.assertEqual(data["time"].dtype, np.float64)
                self.assertEqual(data["q"].attrs["units"], "m")
                self.assertEqual(float(data["q"].sel(time=0.0).squeeze()), 1.0)
                self.assertEqual("displacement" in data, sites)
                if sites:
                    self.assertEqual(data["displacement"].dims, ("snapshot_time", "site"))
                    self.assertEqual(data["displacement"].shape, (4, 45))
        with xarray.open_dataset(self.path, engine="h5netcdf", group="claims") as data:
            self.assertEqual(data["measured"].dims, data["name"].dims)

    def test_the_start_and_the_law_of_energy(self):
        data = variables(self.path)
        self.assertEqual(data["closed/q"][0].item(), 1.0)
        self.assertEqual(data["closed/p"][0].item(), 0.5)
        for label in ("closed", "open"):
            parts = [
                data[f"{label}/energy_{part}"]
                for part in ("particles", "environment", "interaction", "dissipated")
            ]
            np.testing.assert_allclose(sum(parts), data[f"{label}/energy_total"], rtol=1e-14)
        energy = 0.5 * data["closed/p"][:, 0, 0] ** 2 + 0.5 * data["closed/q"][:, 0, 0] ** 2
        np.testing.assert_allclose(data["closed/energy_particles"], energy, rtol=1e-14)
        # Closed and reduced are the same on the characteristic grid until the echo at step 92.
        np.testing.assert_allclose(data["closed/q"], data["open/q"], rtol=0.0, atol=1e-13)
        self.assertEqual(data["closed/energy_dissipated"].max(), 0.0)
        self.assertGreater(data["open/energy_dissipated"][-1], 0.01)

    def test_claims_with_their_numbers(self):
        with h5py.File(self.path) as file:
            claims = file["claims"]
            self.assertEqual([text.decode() for text in claims["name"][()]], ["start"])
            self.assertEqual([text.decode() for text in claims["source"][()]], ["the recipe"])
            for name in ("measured", "expected", "lower", "upper", "passed"):
                self.assertEqual(claims[name][()].tolist(), [1.0], name)


class RecordTest(ResultTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = cls.must_run("whole", changed(OSCILLATOR, output={"snapshots": 1}))

    def test_every_record_and_the_last_one_too(self):
        every_step = variables(self.whole)
        for every, rows in ((4, range(0, 61, 4)), (7, [*range(0, 57, 7), 60]), (1000, [0, 60])):
            path = self.must_run(f"every{every}", changed(OSCILLATOR, output={"every": every}))
            data = variables(path)
            for label in ("closed", "open"):
                for name in LAYOUT:
                    expected = every_step[f"{label}/{name}"][list(rows)]
                    self.assertEqual(data[f"{label}/{name}"].tobytes(), expected.tobytes(), (every, name))

    def test_times_are_multiples_of_the_step(self):
        times = variables(self.whole)["closed/time"]
        self.assertEqual(times.tolist(), [0.05 * step for step in range(61)])

    def test_a_run_of_no_steps_is_the_start(self):
        path = self.must_run("nothing", changed(OSCILLATOR, time={"steps": 0}))
        self.assertEqual(variables(path)["closed/q"].tolist(), [[[1.0]]])

    def test_end_and_steps_are_equivalent(self):
        path = self.must_run("end", OSCILLATOR, "--set", "time.end=2.0")
        self.assertEqual(variables(path)["closed/q"].tobytes(), variables(self.whole)["closed/q"][:41].tobytes())

    def test_snapshots_of_every_nth_site_on_any_number_of_ranks(self):
        whole = variables(self.whole)
        self.assertEqual(whole["closed/displacement"].shape, (61, 45))
        self.assertGreater(np.abs(whole["closed/displacement"][-1]).max(), 0.1)
        recipe = changed(OSCILLATOR, output={"snapshots": 25, "site_stride": 7})
        for ranks in (None, 2, 3, 5):
            data = variables(self.must_run(f"stride{ranks}", recipe, ranks=ranks))
            self.assertEqual(data["closed/snapshot_time"].tolist(), [0.0, 25 * 0.05, 50 * 0.05])
            self.assertEqual(data["closed/site"].tolist(), list(range(1, 46, 7)))
            expected = np.ascontiguousarray(whole["closed/displacement"][0:51:25, ::7])
            self.assertEqual(data["closed/displacement"].tobytes(), expected.tobytes(), ranks)

    def test_snapshots_of_several_lines(self):
        lines = [
            {"name": "short", "kind": "spring-mass-line", "sites": 9, "M": 0.1, "lambda": 8.0},
            {"name": "long", "kind": "spring-mass-line", "sites": 20, "M": 0.1, "lambda": 8.0},
        ]
        recipe = changed(KEPLER, environments=lines, output={"snapshots": 50})
        data = variables(self.must_run("several", recipe, ranks=2))
        shapes = {name.split("/")[1]: values.shape for name, values in data.items() if "/displacement" in name}
        self.assertEqual(
            shapes,
            {
                f"displacement_{name}_axis{axis}": (3, sites)
                for name, sites in (("short", 9), ("long", 20))
                for axis in (0, 1)
            },
        )

    def test_a_stride_beyond_the_line_leaves_its_first_site(self):
        recipe = changed(OSCILLATOR, output={"snapshots": 30, "site_stride": 100})
        data = variables(self.must_run("beyond", recipe, ranks=3))
        self.assertEqual(data["closed/site"].tolist(), [1])
        self.assertEqual(data["closed/displacement"].shape, (3, 1))


class ProvenanceTest(ResultTest):
    def test_the_resolved_recipe_gives_the_same_bits(self):
        recipe = changed(KEPLER, output={"snapshots": 50, "site_stride": 3})
        first = self.must_run(
            "first",
            recipe,
            "--set",
            "environments.0.sites=99",
            "--set",
            "integrators.0.gamma=0.25",
            "--set",
            "time.end=0.05",
            "--set",
            "output.every=7",
        )
        with h5py.File(first) as file:
            resolved = file.attrs["recipe_resolved"]
            self.assertIn("mu = 1000", file.attrs["recipe"])
            self.assertNotIn("99", file.attrs["recipe"])
        for words in ("sites = 99", "gamma = 0.25", "end = 0.05", "every = 7", "seed = 0"):
            self.assertIn(words, resolved)
        again = self.must_run("again", resolved)
        self.assert_same_bits(first, again)
        with h5py.File(again) as file:
            self.assertEqual(file.attrs["recipe_resolved"], resolved)

    def test_solver_options_are_kept(self):
        path = self.must_run("options", IMPLICIT, "--", "-ksp_type", "cg", "-pc_type", "jacobi")
        with h5py.File(path) as file:
            self.assertEqual(file.attrs["petsc_options"], "-ksp_type cg -pc_type jacobi")

    def test_warnings_are_kept(self):
        path = self.must_run("warnings", OSCILLATOR, "--set", "time.steps=100")
        with h5py.File(path) as file:
            self.assertIn("the echo of `line` returns at t_r = 4.5", file.attrs["warnings"])

    def test_warnings_of_the_run_itself_are_kept_through_a_resumption(self):
        falls = changed(
            KEPLER,
            system={"mu": 1.0, "q0": [[1.0, 0.0]], "v0": [[0.0, 0.0]], "alpha": 0.0},
            environments=None,
            time={"step": 0.01, "steps": 300},
            integrators=[{"method": "stoermer-verlet", "on": "open", "name": label} for label in ("first", "second")],
        )
        outcome = self.run_recipe("falls", falls, ranks=2)
        self.assert_code(outcome, 0)
        with h5py.File(self.folder / "falls.h5") as file:
            whole = file.attrs["warnings"]
        for label in ("first", "second"):
            self.assertIn(f"{label}: energy_total drifts by", whole)
            self.assertIn(f"{label}: energy_total drifts by", outcome.err)
        falls["output"] = {"checkpoint_every": 290, "keep_checkpoints": 9}
        self.assert_code(self.run_recipe("falls-again", falls), 0)
        for step in (290, 590):
            with self.subTest(step):
                resumed = ask(["resume", self.folder / f"falls-again.checkpoint.{step}.h5"])
                self.assert_code(resumed, 0)
                with h5py.File(self.folder / "falls-again.h5") as file:
                    self.assertEqual(file.attrs["warnings"], whole)

    def test_overwrite_replaces_the_whole_file(self):
        path = self.must_run("twice", changed(OSCILLATOR, claims=[PASSING]))
        outcome = self.run_recipe("twice", KEPLER, "--overwrite", ranks=3)
        self.assert_code(outcome, 0)
        with h5py.File(path) as file:
            self.assertEqual([name for name in file if name != "claims"], ["planet"])
            self.assertEqual(file.attrs["title"], "A planet")
        left = sorted(file.name for file in self.folder.glob("*twice*"))
        self.assertEqual(left, ["twice.h5", "twice.toml"])

    def test_the_result_is_named_after_the_recipe_by_default(self):
        folder = self.new_folder()
        recipe = write_recipe(folder / "by-name.toml", OSCILLATOR)
        (folder / "elsewhere").mkdir()
        outcome = ask(["run", recipe, "--progress", "none"], cwd=folder / "elsewhere")
        self.assert_code(outcome, 0)
        self.assertEqual([path.name for path in (folder / "elsewhere").iterdir()], ["by-name.h5"])


class ClaimsTest(ResultTest):
    def test_a_failed_claim_is_exit_1_of_a_complete_run(self):
        for ranks in (None, 3):
            outcome = self.run_recipe(
                "failing", changed(OSCILLATOR, claims=[PASSING, FAILING]), "--overwrite", ranks=ranks
            )
            self.assert_code(outcome, 1)
            self.assert_said_once(outcome, "too-large")
            with h5py.File(self.folder / "failing.h5") as file:
                self.assertEqual(file.attrs["status"], "complete")
                self.assertEqual(file["claims/passed"][()].tolist(), [1, 0])
                self.assertEqual(file["claims/lower"][1], 5.0)
                measured = file["closed/q"][()].max()
                self.assertEqual(file["claims/measured"][1], measured)

    def test_claims_choose_among_labels_by_number(self):
        # Variables over labels, which are not numbers, have statistics, too.
        study = {"kind": "convergence", "step_sizes": [0.1, 0.05, 0.025]}
        of = {"convergence.order_q[1]": [1.8, 2.2], "convergence.order_q.max": [1.8, 2.2], "convergence.error_q.count": [6, 6]}
        claims = [{"name": f"c{i}", "quantity": key, "bounds": of[key]} for i, key in enumerate(of)]
        integrators = [{"method": name, "on": "open", "name": name} for name in ("explicit-euler", "stoermer-verlet")]
        recipe = changed(OSCILLATOR, study=study, claims=claims, integrators=integrators)
        self.result(recipe, "labels")

    def test_a_claim_on_a_missing_variable_fails_with_a_reason(self):
        claim = FAILING | {"quantity": "trajectory.velocity.max"}
        outcome = self.run_recipe("absent", changed(OSCILLATOR, claims=[claim]))
        self.assert_code(outcome, 1)
        self.assertIn("no group `trajectory`", outcome.text)


class NumericalFailureTest(ResultTest):
    """Exit 3 with step, residual and reason; the file has the data up to the failure and is marked as failed."""

    def assert_failed(self, name, recipe, words, message):
        """Fails in the same step alone and on 3 ranks and leaves all steps before it in the file."""
        label = recipe["integrators"][0]["name"]
        recipe = changed(recipe, claims=[{"name": "c", "quantity": f"{label}.q.max", "bounds": [-1e3, 1e3]}])
        failing_steps = set()
        for ranks in (None, 3):
            with self.subTest(name, ranks=ranks):
                outcome = self.run_recipe(f"{name}{ranks}", recipe, "--", *words, ranks=ranks)
                self.assert_code(outcome, 3)
                errors = re.findall(r"(?m)^error: (.*)", outcome.err)
                self.assertEqual(len(errors), 1, outcome.text)
                self.assertRegex(errors[0], message)
                self.assertIn(f"{name}{ranks}.h5", errors[0])
                step = int(re.match(rf"{label}: step (\d+) failed: ", errors[0])[1])
                failing_steps.add(step)
                with h5py.File(self.folder / f"{name}{ranks}.h5") as file:
                    self.assertEqual(file.attrs["status"], "failed")
                    self.assertRegex(file.attrs["failure"], message)
                    self.assertGreater(file.attrs["wall_time_s"], 0.0)
                    group = file[label]
                    for variable in LAYOUT:
                        if variable != "time":
                            self.assertTrue(np.isfinite(group[variable][()]).all(), variable)
                        self.assertEqual(group[variable].shape[0], step, variable)
                    self.assertEqual(group["q"][0].ravel().tolist(), np.ravel(recipe["system"]["q0"]).tolist())
        self.assertEqual(len(failing_steps), 1, failing_steps)

    def test_newton_that_cannot_converge(self):
        # Steps so long that one iteration from the first guess is not enough.
        planet = changed(KEPLER, time={"step": 0.05, "steps": 100})
        words = ["-snes_max_it", "1", "-snes_rtol", "1e-30"]
        message = r"Newton.* after 1 iterations with residual \d\.\d+e-\d+: DIVERGED_MAX_IT"
        self.assert_failed("closed", planet, words, message)
        reduced = changed(planet, integrators=[KEPLER["integrators"][0] | {"on": "open"}])
        self.assert_failed("reduced", reduced, words, message)

    def test_a_linear_solver_that_cannot_converge(self):
        words = ["-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_max_it", "1"]
        message = r"linear solver.* after 1 iterations with residual \d\.\d+e-\d+: DIVERGED_ITS"
        self.assert_failed("linear", IMPLICIT, words, message)
        stages = changed(IMPLICIT, integrators=[IMPLICIT["integrators"][0] | {"method": "gauss", "stages": 2}])
        del stages["integrators"][0]["gamma"]
        words[1] = "gmres"
        self.assert_failed("stages", stages, words, message)

    def test_a_motion_that_is_no_longer_finite(self):
        self.assert_failed("blowup", BLOW_UP, [], r"no longer finite")

    def test_claims_of_a_failed_run_do_not_pass(self):
        outcome = self.run_recipe("claimed", changed(BLOW_UP, claims=[PASSING]))
        self.assert_code(outcome, 3)
        self.assertNotIn("PASS", outcome.out)
        self.assertNotEqual(ask(["claims", self.folder / "claimed.h5"]).code, 0)


class KilledRunTest(ResultTest):
    def test_what_was_flushed_is_readable_after_kill_9(self):
        recipe = changed(
            KEPLER,
            time={"steps": 10**9},
            integrators=[{"method": "gamma", "gamma": 0.0, "on": "closed", "name": "planet"}],
            output={"every": 1000},
            system={"M": 1e4},
        )
        path = self.folder / "killed.h5"
        recipe = write_recipe(self.folder / "killed.toml", recipe)
        process = start(["run", recipe, "-o", path, "--progress", "none"])
        self.addCleanup(end, process)
        # The file is flushed every 5 s; a copy of it in between is equivalent to the file after a crash.
        rows = self.rows_after(path, 600.0)
        kill(process)
        self.assertEqual(process.returncode, -9)
        with h5py.File(path) as file:
            self.assertEqual(file.attrs["status"], "partial")
            self.assertIn("A planet", file.attrs["recipe"])
            times = file["planet/time"][()]
            self.assertGreaterEqual(len(times), rows)
            np.testing.assert_allclose(times, np.arange(len(times)), rtol=1e-12)
            self.assertTrue(np.isfinite(file["planet/q"][()]).all())
        with xarray.open_dataset(path, engine="h5netcdf", group="planet") as data:
            self.assertEqual(data["q"].dims, ("time", "particle", "axis"))
        outcome = ask(["claims", path])
        self.assert_code(outcome, 0)

    def rows_after(self, path, patience):
        """Waits until a copy of the growing file has records and returns their number."""
        copy = path.with_suffix(".copy")
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            time.sleep(0.5)
            with contextlib.suppress(OSError, KeyError):
                shutil.copy(path, copy)
                with h5py.File(copy) as file:
                    rows = file["planet/time"].shape[0]
                if rows > 1:
                    return rows
        self.fail(f"nothing was flushed within {patience} s")


class FullDiskTest(ResultTest):
    def setUp(self):
        self.disk = self.new_folder()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(self.disk)],
            capture_output=True,
            text=True,
            check=False,
        )
        if mounted.returncode != 0:
            self.skipTest(f"needs the right to mount a small file system: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)], check=True)

    def test_in_the_middle_of_a_run(self):
        recipe = write_recipe(self.folder / "long.toml", changed(OSCILLATOR, time={"steps": 200000}))
        for ranks in (None, 3):
            path = self.disk / f"full{ranks}.h5"
            outcome = ask(["run", recipe, "-o", path, "--progress", "none"], ranks)
            self.assert_code(outcome, 3)
            errors = re.findall(r"(?m)^error: .*", outcome.err)
            self.assertEqual(len(errors), 1, outcome.text)
            self.assertIn("No space left on device", errors[0])
            self.assertIn(str(path), errors[0])
            with h5py.File(path) as file:
                self.assertEqual(file["closed/q"].shape[0], file["closed/time"].shape[0])
                self.assertGreater(file["closed/time"].shape[0], 1000)
                self.assertNotEqual(file.attrs["status"], "complete")
            path.unlink()

    def test_at_the_start(self):
        recipe = write_recipe(self.folder / "short.toml", OSCILLATOR)
        with open(self.disk / "ballast", "wb") as ballast, contextlib.suppress(OSError):
            ballast.write(bytes(4 << 20))
        outcome = ask(["run", recipe, "-o", self.disk / "none.h5", "--progress", "none"], ranks=3)
        self.assertIn(outcome.code, (2, 3), outcome.text)
        self.assert_said_once(outcome, "No space left on device")
        self.assertEqual([path.name for path in self.disk.iterdir()], ["ballast"])


if __name__ == "__main__":
    unittest.main()
