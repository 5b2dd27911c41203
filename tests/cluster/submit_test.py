"""cluster/submit with an `sbatch` that only takes note of what it is given."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "command_line"))

import h5py  # noqa: E402

from program import MPI_SETTINGS, OSCILLATOR, SOURCE, FolderTest, changed, run, toml, write_recipe  # noqa: E402

STUB = """#!/usr/bin/python3
import json, os, sys
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps({"words": sys.argv[1:], "root": os.environ.get("BATHLINE_ROOT")}) + "\\n")
print("%d;cluster" % (6 + sum(1 for line in open(os.environ["NOTES"]))))
"""

SWEEP = OSCILLATOR | {"sweep": {"time.step": [0.05, 0.025], "environments.0.sites": [45, 60, 75]}}


class SubmitTest(FolderTest):
    def setUp(self):
        self.place = self.new_folder()
        stub = self.place / "bin" / "sbatch"
        stub.parent.mkdir()
        stub.write_text(STUB)
        stub.chmod(0o755)
        self.notes = self.place / "notes"

    def submit(self, *words, code=0):
        """Runs it in a folder that is not the project's; what sbatch was given, call by call."""
        environment = MPI_SETTINGS | os.environ | {"NOTES": str(self.notes)}
        environment["PATH"] = f"{self.place}/bin:{environment['PATH']}"
        done = subprocess.run(
            [SOURCE / "cluster" / "submit", *map(str, words)],
            cwd=self.place, env=environment, capture_output=True, text=True, timeout=60,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.text = done.stdout + done.stderr
        calls = [json.loads(line) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []
        for call in calls:
            self.assertEqual(call["root"], str(SOURCE))
        return [call["words"] for call in calls]

    def test_a_run_and_its_figure(self):
        text = toml(OSCILLATOR) + '[figure]\nkind = "lines"\npanels = [{ series = [{ of = "closed.q" }] }]\n'
        recipe = write_recipe(self.place / "my run.toml", text)
        words = [recipe, "-o", "my run.h5", "--set", "time.steps=40", "--", "-ksp_type", "cg"]
        job, after = self.submit("-N", "4", "-t", "02:00:00", "--", *words)
        script = str(SOURCE / "cluster" / "submit.slurm")
        self.assertEqual(job, ["--parsable", "-N", "4", "-t", "02:00:00", script, *map(str, words)])
        self.assertIn("--dependency=afterany:7", after)
        self.assertEqual(self.text, "run: job 7\nanalysis: job 8\n")
        # What the second job does, with the result of the first.
        self.assertEqual(run(["run", recipe, "-o", self.place / "my run.h5", "--progress", "none"]).code, 0)
        subprocess.run(["bash", "-c", after[after.index("--wrap") + 1]], cwd=self.place, check=True, timeout=120)
        self.assertTrue((self.place / "my run.png").exists())

    def test_a_sweep_and_its_table(self):
        recipe = write_recipe(self.place / "sweep.toml", SWEEP)
        job, after = self.submit(recipe, "--output=out/s.h5", "--set", "sweep.time.step=[0.05]")
        self.assertEqual(job[:2], ["--parsable", "--array=0-2"])
        self.assertTrue(after[-1].endswith("analysis/sweep_table.py -o out/s.csv out/s.????????????.h5"), after)

    def test_a_sweep_that_is_taken_away(self):
        recipe = write_recipe(self.place / "sweep.toml", SWEEP)
        job, after = self.submit(recipe, "--unset", "sweep", "-o", "s.h5")
        self.assertNotIn("--array", " ".join(job))
        self.assertTrue(after[-1].rstrip().endswith("figure.py s.h5 -o s"), after)

    def test_the_name_of_the_result_is_left_out(self):
        recipe = write_recipe(self.place / "run.toml", OSCILLATOR)
        _, after = self.submit(recipe)
        self.assertTrue(after[-1].rstrip().endswith("figure.py run.h5 -o run"), after)

    def test_mistakes_are_not_submitted(self):
        recipe = write_recipe(self.place / "run.toml", changed(OSCILLATOR, time={"step": -1.0}))
        self.assertEqual(self.submit(recipe, code=2), [])
        self.assertIn("step", self.text)
        for words in ([], ["-N", "4"], ["-N", "4", recipe], ["-N", "4", "--"]):
            self.assertEqual(self.submit(*words, code=2), [])
            self.assertIn("usage: cluster/submit", self.text)
        self.assertEqual(self.submit(self.place / "absent.toml", code=2), [])
        self.submit("-h")
        self.assertIn("usage: cluster/submit", self.text)


STUBS = {
    # The launchers of both systems: they take note, and start the program on one rank.
    "srun": 'shift; note "$@"; [ -z "${SIGNALLED:-}" ] || kill -USR1 $$; exec env -u SLURM_JOB_ID "$@"',
    "mpiexec": 'note "$@"; exec "$@"',
    "scontrol": 'note scontrol "$@"',
    "qsub": 'note qsub "$@"',
}


class JobTest(FolderTest):
    """The scripts of jobs, in which every word of the command has to reach the program that it is for."""

    def setUp(self):
        self.place = self.new_folder()
        for name, does in STUBS.items():
            stub = self.place / "bin" / name
            stub.parent.mkdir(exist_ok=True)
            stub.write_text(f"""#!/bin/bash\nnote() {{ printf '%s\\0' "$@" >> "$NOTES"; echo >> "$NOTES"; }}\n{does}\n""")
            stub.chmod(0o755)
        self.notes = self.place / "notes"
        self.recipe = write_recipe(self.place / "run.toml", changed(OSCILLATOR, output={"checkpoint_every": 25}))
        self.sweep = write_recipe(self.place / "sweep.toml", SWEEP)

    def job(self, script, *words, code=0, **variables):
        """Runs it as the queue would; the words of every command that it has started."""
        self.notes.unlink(missing_ok=True)
        environment = MPI_SETTINGS | os.environ | {"NOTES": str(self.notes), "BATHLINE_ROOT": str(SOURCE)}
        environment |= {"PATH": f"{self.place}/bin:{environment['PATH']}"} | variables
        done = subprocess.run(
            ["bash", SOURCE / "cluster" / script, *map(str, words)],
            cwd=self.place, env=environment, capture_output=True, text=True, timeout=90,
        )
        self.text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, self.text)
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [line.split("\0")[:-1] for line in lines]

    def slurm(self, *words, **options):
        return self.job("submit.slurm", *words, SLURM_JOB_ID="7", **options)

    def elements(self):
        """Of the sweep: the settings and PETSc's options of those that have run."""
        found = []
        for path in self.place.glob("s.????????????.h5"):
            with h5py.File(path) as file:
                found.append((file.attrs["sweep_settings"].split(), file.attrs["petsc_options"]))
        return found

    def test_an_element_of_a_sweep_with_options_of_petsc(self):
        words = [self.sweep, "-o", "s.h5", "--", "-ksp_type", "cg"]
        self.slurm(*words, SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="4")
        ((settings, options),) = self.elements()
        self.assertEqual(settings, ["environments.0.sites=75", "time.step=0.05"])
        self.assertIn("-ksp_type cg", options)
        self.assertNotIn("element", options)

    def test_an_element_under_pbs(self):
        variables = {"RECIPE": str(self.sweep), "FILE": "s.h5", "PBS_O_WORKDIR": str(self.place), "PBS_ARRAY_INDEX": "1"}
        self.job("submit.pbs", **variables)
        ((settings, _),) = self.elements()
        self.assertEqual(settings, ["environments.0.sites=45", "time.step=0.025"])

    def test_all_that_a_run_is_given_holds_when_it_goes_on(self):
        """Whatever comes first on the command line."""
        common = ["--set", "system.k=1.5", "--log-json", "log.json"]
        words = ["-o", "r.h5", *common, self.recipe, "--", "-ksp_type", "cg"]
        notes = self.slurm("--wall-time", "1e-6", *words, code=85)
        self.assertEqual(notes[1], ["scontrol", "requeue", "7"])
        ((program, *resumed), _) = self.slurm("--wall-time=1e-6", *words, code=85, SLURM_RESTART_COUNT="1")
        self.assertEqual(resumed[:4], ["resume", "r.h5", "--recipe", str(self.recipe)])
        self.assertEqual(resumed[-3:], ["--", "-ksp_type", "cg"])
        for word in (*common, "--wall-time=1e-6"):
            self.assertIn(word, resumed[:-3])
        self.slurm(*words, SLURM_RESTART_COUNT="2")
        with h5py.File(self.place / "r.h5") as file:
            self.assertEqual(file.attrs["status"], "complete")

    def test_a_signal_that_comes_before_the_program_listens(self):
        """Is a request to stop as much as any other: the job goes back into the queue, and begins again."""
        words = ["-o", "r.h5", self.recipe]
        notes = self.slurm(*words, code=85, SIGNALLED="yes")
        self.assertEqual(notes[1], ["scontrol", "requeue", "7"])
        self.slurm(*words, SLURM_RESTART_COUNT="1")

    def test_what_was_requeued_before_its_first_checkpoint_begins_again(self):
        (self.place / "r.h5").write_bytes(b"")
        words = ["-o", "r.h5", self.recipe]
        self.slurm(*words, code=2)
        self.slurm(*words, SLURM_RESTART_COUNT="1")

    def test_a_job_without_a_recipe(self):
        for words in ([], ["-o", "r.h5"], ["--wall-time", "3", "--", "-ksp_type"]):
            self.assertEqual(self.slurm(*words, code=2, SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="4"), [])
            self.assertIn("give a recipe", self.text)


if __name__ == "__main__":
    unittest.main()
