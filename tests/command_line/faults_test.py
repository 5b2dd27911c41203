"""Real faults: full and read-only disks, trajectories that diverge, and random bytes as a recipe.

Each ends in one clear message and the exit code that is promised, and what was good before still is.
"""

import os
import random
import resource
import signal
import subprocess
import unittest

import h5py

from program import KEPLER, OSCILLATOR, FolderTest, changed, run, signalled, toml, variables, write_recipe

# 1.6 MB of state in every checkpoint, and a small result.
STATE = changed(
    OSCILLATOR,
    environments=[OSCILLATOR["environments"][0] | {"sites": 100000}],
    integrators=OSCILLATOR["integrators"][:1],
    time={"steps": 100},
    output={"every": 10, "checkpoint_every": 10, "keep_checkpoints": 2},
)


class SmallDiskTest(FolderTest):
    """Runs on a disk of 12 MiB."""

    def setUp(self):
        self.disk = self.new_folder()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", self.disk], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small disk: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)
        self.result = self.disk / "run.h5"

    def names(self):
        return sorted(path.name for path in self.disk.iterdir())

    def fill_but(self, rest):
        space = os.statvfs(self.disk)
        (self.disk / "ballast").write_bytes(bytes(space.f_bavail * space.f_frsize - rest))

    def test_a_full_disk_for_checkpoints_does_not_end_the_run(self):
        path = write_recipe(self.folder / "state.toml", STATE)
        whole = self.folder / "whole.h5"
        self.assert_code(run(["run", path, "-o", whole, "--progress", "none"]), 0)
        for ranks in (None, 2):
            for path_of_old in self.disk.iterdir():
                path_of_old.unlink()
            self.fill_but(5 << 20)
            # One checkpoint fits on the disk, two do not.
            outcome = run(["run", path, "-o", self.result, "--progress", "none", "--overwrite"], ranks)
            self.assert_code(outcome, 0)
            self.assertIn("no checkpoint could be written; the run continues", outcome.err)
            self.assertIn("No space left on device", outcome.err)
            self.assert_same_bits(self.result, whole)
            self.assertEqual(self.names(), ["ballast", "run.checkpoint.10.h5", "run.h5"])
            (self.disk / "ballast").unlink()
            # The last intact one is resumed.
            checkpoint = self.disk / "run.checkpoint.10.h5"
            self.assert_code(run(["resume", checkpoint, "--progress", "none"], ranks), 0)
            self.assert_same_bits(self.result, whole)

    def test_a_stop_with_a_full_disk(self):
        recipe = changed(STATE)
        del recipe["output"]["checkpoint_every"]
        path = write_recipe(self.folder / "stop.toml", recipe)
        self.fill_but(2 << 20)
        outcome = run(["run", path, "-o", self.result, "--progress", "none"], env=signalled(signal.SIGUSR1, 50))
        self.assert_code(outcome, 3)
        self.assert_said_once(outcome, "No space left on device")
        self.assertEqual(self.names(), ["ballast", "run.h5"])
        self.assertTrue(variables(self.result))

    def test_a_read_only_folder(self):
        path = write_recipe(self.folder / "state.toml", changed(STATE, time={"steps": 20}))
        self.assert_code(run(["run", path, "-o", self.result, "--progress", "none"]), 0)
        subprocess.run(["mount", "-o", "remount,ro", self.disk], check=True)
        for ranks in (None, 2):
            for arguments in (
                ["run", path, "-o", self.disk / "new.h5"],
                ["run", path, "-o", self.result, "--overwrite"],
                ["resume", self.disk / "run.checkpoint.10.h5"],
                ["verify", self.result],
            ):
                outcome = run([*arguments, "--progress", "none"], ranks)
                self.assert_code(outcome, 2)
                self.assert_said_once(outcome, "Read-only file system")
        self.assertEqual(self.names(), ["run.checkpoint.10.h5", "run.h5"])


class SizeLimitTest(FolderTest):
    """`ulimit -f`: the limit on the size of files is reported like a full disk."""

    def test_a_checkpoint_that_does_not_fit(self):
        # The state (1.6 MB) and the copy of the result (11.4 MB) do not fit together; the result has a margin of 1 MiB.
        recipe = changed(STATE, time={"steps": 99}, output={"snapshots": 10, "checkpoint_every": 95})
        path = write_recipe(self.folder / "snapshots.toml", recipe)
        limit = 12750000
        for ranks in (None, 2):
            outcome = run(
                ["run", path, "-o", self.folder / "snapshots.h5", "--progress", "none", "--overwrite"],
                ranks,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )
            self.assert_code(outcome, 0)
            self.assert_said_once(outcome, "no checkpoint could be written; the run continues without it")
            self.assertIn("File too large", outcome.err)
            self.assertEqual(list(self.folder.glob("snapshots.*h5")), [self.folder / "snapshots.h5"])

    def test_a_result_that_may_not_grow(self):
        # Records are flushed by their number and, on a busy machine, sooner by the clock; those of the first time fit.
        recipe = changed(OSCILLATOR, time={"steps": 60000}, integrators=OSCILLATOR["integrators"][:1])
        path = write_recipe(self.folder / "long.toml", recipe)
        whole = self.folder / "whole.h5"
        self.assert_code(run(["run", path, "-o", whole, "--progress", "none"]), 0)
        limit = 4 << 20
        for ranks in (None, 2):
            result = self.folder / f"limited-{ranks}.h5"
            outcome = run(
                ["run", path, "-o", result, "--progress", "none"],
                ranks,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )
            self.assert_code(outcome, 3)
            self.assert_said_once(outcome, "File too large")
            self.assertLessEqual(result.stat().st_size, limit)
            with h5py.File(result) as file, h5py.File(whole) as other:
                rows = len(file["closed/time"])
                self.assertTrue(0 < rows < 60001, rows)
                self.assertEqual(file["closed/q"][:].tobytes(), other["closed/q"][:rows].tobytes())
                self.assertEqual(file.attrs["status"], "partial")


# A library that fails to create the first group of the results.
NO_GROUPS = """
#include <hdf5.h>
hid_t H5Gcreate2(hid_t place, const char* name, hid_t links, hid_t create, hid_t access) {
  hid_t (*real)(hid_t, const char*, hid_t, hid_t, hid_t) =
      (hid_t (*)(hid_t, const char*, hid_t, hid_t, hid_t))dlsym(RTLD_NEXT, "H5Gcreate2");
  return real(place, "", links, create, access);
}
"""


# Libraries that fail in checkpoints: to create a group on rank 1 alone, whose metadata then differ from those of the
# others, and to flush.
IN_CHECKPOINT = """
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
static int in_checkpoint(hid_t id) {
  char name[4096] = "";
  return H5Fget_name(id, name, sizeof name) > 0 && strstr(name, "checkpoint") != NULL;
}
"""
NO_GROUPS_ON_RANK_1 = IN_CHECKPOINT + """
hid_t H5Gcreate2(hid_t place, const char* name, hid_t links, hid_t create, hid_t access) {
  hid_t (*real)(hid_t, const char*, hid_t, hid_t, hid_t) =
      (hid_t (*)(hid_t, const char*, hid_t, hid_t, hid_t))dlsym(RTLD_NEXT, "H5Gcreate2");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  return real(place, rank && *rank == '1' && in_checkpoint(place) ? "" : name, links, create, access);
}
"""
NO_FLUSHES = IN_CHECKPOINT + """
herr_t H5Fflush(hid_t file, H5F_scope_t scope) {
  herr_t (*real)(hid_t, H5F_scope_t) = (herr_t (*)(hid_t, H5F_scope_t))dlsym(RTLD_NEXT, "H5Fflush");
  return real(in_checkpoint(file) ? -1 : file, scope);
}
"""


class FailingLibraryTest(FolderTest):
    def test_checkpoints_that_fail_inside_the_library_do_not_end_the_run(self):
        recipe = write_recipe(self.folder / "checkpoints.toml", STATE)
        whole = self.folder / "whole.h5"
        self.assert_code(run(["run", recipe, "-o", whole, "--progress", "none"]), 0)
        for name, text, all_ranks in (("group", NO_GROUPS_ON_RANK_1, (2, 3)), ("flush", NO_FLUSHES, (None, 2))):
            environment = self.shim(text)
            for ranks in all_ranks:
                with self.subTest(name, ranks=ranks):
                    folder = self.new_folder()
                    arguments = ["run", recipe, "-o", folder / "run.h5", "--progress", "none"]
                    outcome = run(arguments, ranks, env=environment)
                    self.assert_code(outcome, 0)
                    self.assertEqual(outcome.err.count("no checkpoint could be written; the run continues"), 9)
                    self.assertEqual([path.name for path in folder.iterdir()], ["run.h5"])
                    self.assert_same_bits(folder / "run.h5", whole)

    def test_a_group_that_cannot_be_created_gives_one_message(self):
        """HDF5 closes its open files before MPI_Finalize ends, which would otherwise print further messages."""
        environment = self.shim(NO_GROUPS)
        recipe = write_recipe(self.folder / "run.toml", STATE)
        for ranks in (None, 1, 2):
            with self.subTest(ranks=ranks):
                arguments = ["run", recipe, "-o", self.folder / "run.h5", "--overwrite", "--progress", "none"]
                outcome = run(arguments, ranks, env=environment)
                self.assert_code(outcome, 3)
                self.assert_said_once(outcome, "creating a group: no name")
                self.assertEqual(outcome.err.count("\n"), 1, outcome.err)


class NumericalFailureTest(FolderTest):
    def check_fails_again(self, recipe, words):
        """A run that fails after a checkpoint fails again when resumed, at the same step and with the same file."""
        folder = self.new_folder()
        path, result = write_recipe(folder / "failing.toml", recipe), folder / "failing.h5"
        first = run(["run", path, "-o", result, "--progress", "none"])
        self.assert_code(first, 3)
        self.assert_said_once(first, words)
        with h5py.File(result) as file:
            self.assertEqual(file.attrs["status"], "failed")
            reason = file.attrs["failure"].split(" with residual")[0]
        before = variables(result)
        again = run(["resume", result, "--progress", "none"], ranks=2)
        self.assert_code(again, 3)
        self.assert_said_once(again, words)
        with h5py.File(result) as file:
            self.assertEqual(file.attrs["status"], "failed")
            self.assertEqual(file.attrs["failure"].split(" with residual")[0], reason)
        return before, variables(result)

    def test_a_trajectory_that_diverges(self):
        recipe = changed(
            OSCILLATOR,
            environments=[{"name": "line", "kind": "spring-mass-line", "sites": 45, "M": 0.02, "lambda": 8.0}],
            time={"step": 0.2, "steps": 2000},
            integrators=[OSCILLATOR["integrators"][0] | {"allow_unstable": True}],
            output={"checkpoint_every": 50, "keep_checkpoints": 1},
        )
        before, after = self.check_fails_again(recipe, "no longer finite")
        for name in sorted(before | after):
            self.assertEqual(after[name].tobytes(), before[name].tobytes(), name)

    def test_solvers_that_petsc_turns_into_errors(self):
        """With PETSc's options for it a solver that does not converge is an error of PETSc, and still this failure."""
        newton = changed(KEPLER, time={"step": 0.005, "steps": 200})
        newton["system"]["v0"] = [[0.0, 2.0]]
        line = changed(KEPLER, time={"steps": 20})
        for recipe, options, message in (
            (newton, ["-snes_error_if_not_converged"], "Newton's method stopped"),
            (newton, ["-snes_max_it", "1", "-particles_ksp_error_if_not_converged"], "Newton's method stopped"),
            (line, ["-ksp_type", "cg", "-ksp_max_it", "1", "-pc_type", "none", "-ksp_error_if_not_converged"], "linear solver on a line stopped"),
        ):
            for ranks in (None, 2):
                with self.subTest(options=options, ranks=ranks):
                    result = self.folder / "not_converged.h5"
                    path = write_recipe(self.folder / "not_converged.toml", recipe)
                    words = ["run", path, "-o", result, "--overwrite", "--progress", "none", "--", *options]
                    outcome = run(words, ranks)
                    self.assert_code(outcome, 3)
                    self.assert_said_once(outcome, message)
                    self.assertNotIn("internal error", outcome.text)
                    with h5py.File(result) as file:
                        self.assertEqual(file.attrs["status"], "failed")

    def test_newton_that_does_not_converge(self):
        # Steps that are far too long near the sun.
        recipe = changed(
            KEPLER,
            time={"step": 0.005, "steps": 200},
            output={"checkpoint_every": 20, "keep_checkpoints": 1},
        )
        recipe["system"]["v0"] = [[0.0, 2.0]]
        before, after = self.check_fails_again(recipe, "Newton's method stopped")
        self.assertEqual(sorted(after), sorted(before))
        for name in after:
            self.assertEqual(after[name].shape, before[name].shape, name)


class RubbishTest(FolderTest):
    def test_a_megabyte_of_random_bytes(self):
        generator = random.Random(5)
        size = 1 << 20
        texts = {
            "bytes": generator.randbytes(size),
            "letters": bytes(generator.choices(b"abc =[]{}\"'.#\n0123456789", k=size)),
            "open": b"[" * size,
            "one-key": b"a" * size,
            "tables": toml(OSCILLATOR).encode() + b"[[environments]]\n" * (size // 17),
            "keys": b"[system]\n" + b"".join(b"key%d = 1\n" % i for i in range(size // 16)),
        }
        for name, text in texts.items():
            with self.subTest(rubbish=name):
                path = self.folder / f"{name}.toml"
                path.write_bytes(text)
                outcome = run(["run", path, "-o", self.folder / "rubbish.h5"])
                self.assert_code(outcome, 2)
                self.assertEqual(outcome.err.count("error: "), 1, outcome.err[:2000])
                self.assertLess(len(outcome.text), 20000)
        self.assertFalse((self.folder / "rubbish.h5").exists())


if __name__ == "__main__":
    unittest.main()
