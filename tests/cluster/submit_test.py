"""cluster/submit with an `sbatch` that only takes note of what it is given."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "command_line"))

from program import MPI_SETTINGS, OSCILLATOR, SOURCE, FolderTest, changed, run, toml, write_recipe  # noqa: E402

STUB = """#!/usr/bin/python3
import json, os, sys
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps({"words": sys.argv[1:], "root": os.environ.get("BATHLINE_ROOT")}) + "\\n")
print("%d;cluster" % (6 + sum(1 for line in open(os.environ["NOTES"]))))
"""

SWEEP = OSCILLATOR | {"sweep": {"time.step": [0.05, 0.025], "environment.0.sites": [45, 60, 75]}}


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


if __name__ == "__main__":
    unittest.main()
