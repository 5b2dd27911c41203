"""cluster/submit and the job scripts with stubs of the schedulers' commands that record their arguments."""

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
    notes.write(json.dumps({"arguments": sys.argv[1:], "root": os.environ.get("BATHLINE_ROOT"), "chain": os.environ.get("BATHLINE_CHAIN")}) + "\\n")
print("%d;cluster" % (6 + sum(1 for line in open(os.environ["NOTES"]))))
"""

SWEEP = OSCILLATOR | {"sweep": {"time.step": [0.05, 0.025], "environments.0.sites": [45, 60, 75]}}


class SubmitTest(FolderTest):
    def setUp(self):
        self.work_folder = self.new_folder()
        stub = self.work_folder / "bin" / "sbatch"
        stub.parent.mkdir()
        stub.write_text(STUB)
        stub.chmod(0o755)
        self.notes = self.work_folder / "notes"

    def submit(self, *arguments, code=0, script="submit", **variables):
        """Run cluster/submit outside the project; return the arguments of each call of sbatch."""
        environment = MPI_SETTINGS | os.environ | {"NOTES": str(self.notes)} | variables
        environment["PATH"] = f"{self.work_folder}/bin:{environment['PATH']}"
        done = subprocess.run(
            [SOURCE / "cluster" / script, *map(str, arguments)],
            cwd=self.work_folder, env=environment, capture_output=True, text=True, timeout=600,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.text = done.stdout + done.stderr
        calls = [json.loads(line) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []
        for call in calls:
            self.assertEqual(call["root"], str(SOURCE) if script == "submit" else None)
        self.chain = [call["chain"] for call in calls]
        return [call["arguments"] for call in calls]

    def test_a_run_and_its_figure(self):
        text = toml(OSCILLATOR) + '[figure]\nkind = "lines"\npanels = [{ series = [{ of = "closed.q" }] }]\n'
        recipe = write_recipe(self.work_folder / "my run.toml", text)
        arguments = [recipe, "-o", "my run.h5", "--set", "time.steps=40", "--", "-ksp_type", "cg"]
        job, after = self.submit("-N", "4", "-t", "02:00:00", "--", *arguments)
        script = str(SOURCE / "cluster" / "submit.slurm")
        self.assertEqual(job, ["--parsable", "-N", "4", "-t", "02:00:00", script, *map(str, arguments)])
        self.assertIn("--dependency=afterany:7", after)
        self.assertEqual(self.text, "run: job 7\nanalysis: job 8\n")
        # Run the command of the second job on the result of the first.
        self.assertEqual(run(["run", recipe, "-o", self.work_folder / "my run.h5", "--progress", "none"]).code, 0)
        subprocess.run(["bash", "-c", after[after.index("--wrap") + 1]], cwd=self.work_folder, check=True, timeout=600)
        self.assertTrue((self.work_folder / "my run.png").exists())

    def test_a_sweep_and_its_table(self):
        recipe = write_recipe(self.work_folder / "sweep.toml", SWEEP)
        job, after = self.submit(recipe, "--output=out/s.h5", "--set", "sweep.time.step=[0.05]")
        self.assertEqual(job[:2], ["--parsable", "--array=0-2"])
        self.assertTrue(after[-1].endswith("analysis/sweep_table.py -o out/s.csv out/s.????????????.h5"), after)

    def test_an_unset_sweep_is_one_run(self):
        recipe = write_recipe(self.work_folder / "sweep.toml", SWEEP)
        job, after = self.submit(recipe, "--unset", "sweep", "-o", "s.h5")
        self.assertNotIn("--array", " ".join(job))
        self.assertTrue(after[-1].rstrip().endswith("figure.py s.h5 -o s"), after)

    def test_the_default_name_of_the_result(self):
        recipe = write_recipe(self.work_folder / "run.toml", OSCILLATOR)
        _, after = self.submit(recipe)
        self.assertTrue(after[-1].rstrip().endswith("figure.py run.h5 -o run"), after)
        self.notes.unlink()
        _, after = self.submit(recipe, "-oother.h5")
        self.assertTrue(after[-1].rstrip().endswith("figure.py other.h5 -o other"), after)

    def test_a_relative_folder_of_measurements_is_that_of_the_submission(self):
        job, after = self.submit("-r", "1", "-o", "here", "--submit", script="scaling")
        for words in (job, after):
            self.assertIn(str(self.work_folder / "here"), words[-1])
        self.assertTrue((self.work_folder / "here").is_dir())

    # Options of a site, in all forms, among those of the size of the run.
    SITE = ["-A", "project", "--partition=long", "--qos", "high", "-Ccpu", "--mail-type=END"]
    SIZE = ["-N", "4", "--ntasks-per-node=48", "-t", "02:00:00", "--mem", "3G", "-J", "mine", "-omine.log", "--exclusive", "--hold", "--sockets-per-node=2"]

    def test_options_of_the_site_are_passed_on(self):
        recipe = write_recipe(self.work_folder / "run.toml", OSCILLATOR)
        mixed = [*self.SIZE[:5], *self.SITE[:3], *self.SIZE[5:], *self.SITE[3:]]
        job, after = self.submit(*mixed, "--", recipe)
        self.assertEqual(job[1 : 1 + len(mixed)], mixed)
        self.assertEqual(after[: 2 + len(self.SITE)], ["--parsable", *self.SITE, "--dependency=afterany:7"])
        self.notes.unlink()
        *jobs, after = self.submit("-r", "1 2", "-o", self.work_folder / "scaling", "--submit", *mixed, script="scaling")
        for job in jobs:
            self.assertIn(mixed, [job[i : i + len(mixed)] for i in range(len(job))])
        self.assertEqual(after[: 2 + len(self.SITE)], ["--parsable", *self.SITE, "--dependency=afterany:7:8"])

    def test_a_chain_of_jobs_where_requeueing_is_forbidden(self):
        recipe = write_recipe(self.work_folder / "run.toml", OSCILLATOR)
        *jobs, after = self.submit("--chain", "3", "-N", "4", "--", recipe)
        self.assertEqual(self.chain[:3], ["1", "2", "3"])
        for job, before in zip(jobs, ([], ["--dependency=afterany:7"], ["--dependency=afterany:8"])):
            self.assertEqual(job[:-2], ["--parsable", "-N", "4", "--no-requeue", *before])
        self.assertIn("--dependency=afterany:9", after)
        for wrong in ([], ["0"], ["many"]):
            self.submit("--chain", *wrong, code=2)
            self.submit("-N", "4", "--chain", *wrong, "--", recipe, code=2)
        for words in (["-N", "4", "--chain", "2", "--"], ["-N", "4", "--chain=2", "--"], ["--chain", "2", "-N", "4", "--"]):
            self.notes.unlink()
            job, _, _ = self.submit(*words, recipe)
            self.assertEqual(job[:-2], ["--parsable", "-N", "4", "--no-requeue"])
        self.notes.unlink()
        self.assertEqual(len(self.submit("--chain", "2", recipe)), 3)

    def test_nothing_starts_mpi_on_a_login_node(self):
        ends = self.shim("int MPI_Init_thread(int* c, char*** v, int r, int* p) { __builtin_trap(); }")
        recipe = write_recipe(self.work_folder / "sweep.toml", SWEEP)
        self.assertEqual(len(self.submit(recipe, **ends)), 2)
        for words in (["list", "integrators"], ["describe", "gauss"], ["sweep", recipe], ["cite", recipe], ["generate", "man"]):
            self.assertEqual(run(words, env=ends).code, 0, words)
        self.assertEqual(run(["run", recipe, "--unset", "sweep", "-o", self.work_folder / "r.h5"]).code, 0)
        self.assertEqual(run(["plot", self.work_folder / "r.h5"], env=ends).code, 0)
        # The shim works: a run on several ranks starts MPI.
        self.assertNotEqual(run(["list", "integrators"], ranks=2, env=ends).code, 0)

    def test_invalid_recipes_and_usage_are_not_submitted(self):
        recipe = write_recipe(self.work_folder / "run.toml", changed(OSCILLATOR, time={"step": -1.0}))
        self.assertEqual(self.submit(recipe, code=2), [])
        self.assertIn("step", self.text)
        for arguments in ([], ["-N", "4"], ["-N", "4", recipe], ["-N", "4", "--"]):
            self.assertEqual(self.submit(*arguments, code=2), [])
            self.assertIn("usage: cluster/submit", self.text)
        self.assertEqual(self.submit(self.work_folder / "absent.toml", code=2), [])
        self.submit("-h")
        self.assertIn("usage: cluster/submit", self.text)


STUBS = {
    # The launchers of both schedulers record their arguments and start the program on one rank.
    "srun": '[ "$1" = --mpi=pmix ] || exit 9; shift; note "$@"; [ -z "${SIGNALLED:-}" ] || kill -USR1 $$; exec env -u SLURM_JOB_ID "$@"',
    "mpiexec": 'note "$@"; exec "$@"',
    "scontrol": 'note scontrol "$@"',
    "qsub": 'note qsub "$@"',
    "launcher": 'note launcher "$1"; shift; exec env -u SLURM_JOB_ID "$@"',
}


class JobTest(FolderTest):
    """The job scripts, which must pass each argument to the right program."""

    def setUp(self):
        self.work_folder = self.new_folder()
        for name, does in STUBS.items():
            stub = self.work_folder / "bin" / name
            stub.parent.mkdir(exist_ok=True)
            stub.write_text(f"""#!/bin/bash\nnote() {{ printf '%s\\0' "$@" >> "$NOTES"; echo >> "$NOTES"; }}\n{does}\n""")
            stub.chmod(0o755)
        self.notes = self.work_folder / "notes"
        self.recipe = write_recipe(self.work_folder / "run.toml", changed(OSCILLATOR, output={"checkpoint_every": 25}))
        self.sweep = write_recipe(self.work_folder / "sweep.toml", SWEEP)

    def job(self, script, *arguments, code=0, **variables):
        """Run a job script as the scheduler would; return the arguments of every command that it started."""
        self.notes.unlink(missing_ok=True)
        environment = MPI_SETTINGS | os.environ | {"NOTES": str(self.notes), "BATHLINE_ROOT": str(SOURCE)}
        environment |= {"PATH": f"{self.work_folder}/bin:{environment['PATH']}"} | variables
        done = subprocess.run(
            ["bash", SOURCE / "cluster" / script, *map(str, arguments)],
            cwd=self.work_folder, env=environment, capture_output=True, text=True, timeout=600,
        )
        self.text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, self.text)
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [line.split("\0")[:-1] for line in lines]

    def slurm(self, *arguments, **options):
        return self.job("submit.slurm", *arguments, SLURM_JOB_ID="7", **options)

    def elements(self):
        """Settings and PETSc options of the elements of the sweep that have run."""
        elements = []
        for path in self.work_folder.glob("s.????????????.h5"):
            with h5py.File(path) as file:
                elements.append((file.attrs["sweep_settings"].split(), file.attrs["petsc_options"]))
        return elements

    def test_an_element_of_a_sweep_with_options_of_petsc(self):
        arguments = [self.sweep, "-o", "s.h5", "--", "-ksp_type", "cg"]
        self.slurm(*arguments, SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="4")
        ((settings, options),) = self.elements()
        self.assertEqual(settings, ["environments.0.sites=75", "time.step=0.05"])
        self.assertIn("-ksp_type cg", options)
        self.assertNotIn("element", options)

    def test_an_element_under_pbs(self):
        variables = {"RECIPE": str(self.sweep), "FILE": "s.h5", "PBS_O_WORKDIR": str(self.work_folder), "PBS_ARRAY_INDEX": "1"}
        self.job("submit.pbs", **variables)
        ((settings, _),) = self.elements()
        self.assertEqual(settings, ["environments.0.sites=45", "time.step=0.025"])

    def test_the_launcher_and_the_modules_of_a_site(self):
        modules = self.work_folder / "modules.sh"
        modules.write_text('module() { loaded="$unset_variable $*"; false; }\nmodule load petsc\necho "$loaded"\nfalse\nBATHLINE_LAUNCH="launcher --here"\n')
        for script, variables in (("submit.slurm", {"SLURM_JOB_ID": "7"}),
                                  ("submit.pbs", {"PBS_JOBID": "7", "PBS_O_WORKDIR": str(self.work_folder), "RECIPE": str(self.recipe), "FILE": "p.h5"})):
            notes = self.job(script, "-o", "m.h5", self.recipe, BATHLINE_MODULES=str(modules), **variables)
            self.assertEqual(notes, [["launcher", "--here"]])
            self.assertIn(" load petsc\n", self.text)

    def test_a_pbs_job_submits_itself_with_its_options(self):
        options = "-l select=4:ncpus=48:mpiprocs=48 -A project"
        variables = {"RECIPE": str(self.recipe), "FILE": "p.h5", "PBS_O_WORKDIR": str(self.work_folder), "WALL_TIME": "1e-6"}
        for quote in ("", "'"):
            _, notes = self.job("submit.pbs", code=85, PBS_JOBID="7", BATHLINE_QSUB=f"{quote}{options}{quote}", **variables)
            self.assertEqual(notes[:6], ["qsub", *options.split(), "-v"])
            self.assertIn(f"RECIPE={self.recipe},FILE=p.h5,WALL_TIME=1e-6,BATHLINE_LAUNCH=mpiexec,BATHLINE_MODULES=", notes[6])
            self.assertTrue(notes[6].endswith(f",BATHLINE_ROOT={SOURCE},BATHLINE_QSUB='{options}'"), notes[6])

    def test_a_chain_resumes_and_ends(self):
        arguments = ["-o", "r.h5", self.recipe]

        def link(number, *more, code=0):
            return [note[1] for note in self.slurm(*more, *arguments, BATHLINE_CHAIN=str(number), code=code)]

        # It does not requeue itself.
        self.assertEqual(link(1, "--wall-time", "1e-6", code=85), ["run"])
        self.assertIn("the next job of the chain resumes", self.text)
        self.assertEqual(link(2), ["resume"])
        self.assertEqual(link(3), ["resume"])
        self.assertIn("already complete", self.text)
        with h5py.File(self.work_folder / "r.h5") as file:
            self.assertEqual(file.attrs["status"], "complete")
        # A result of somebody else is not overwritten by the first.
        self.assertEqual(link(1, code=2), ["run"])
        # What stopped before its first checkpoint begins again.
        (self.work_folder / "r.h5").write_bytes(b"")
        self.assertEqual(link(2), ["resume", "run"])

    def test_where_requeueing_is_forbidden_a_chain_is_proposed(self):
        (self.work_folder / "bin" / "scontrol").write_text("#!/bin/sh\nexit 1\n")
        self.slurm("--wall-time", "1e-6", "-o", "r.h5", self.recipe, code=85)
        self.assertIn("cluster/submit --chain", self.text)

    def test_a_resumed_run_gets_all_arguments(self):
        """Arguments may come before and after the recipe."""
        common = ["--set", "system.k=1.5", "--log-json", "log.json"]
        arguments = ["-o", "r.h5", *common, self.recipe, "--", "-ksp_type", "cg"]
        notes = self.slurm("--wall-time", "1e-6", *arguments, code=85)
        self.assertEqual(notes[1], ["scontrol", "requeue", "7"])
        ((program, *resumed), _) = self.slurm("--wall-time=1e-6", *arguments, code=85, SLURM_RESTART_COUNT="1")
        self.assertEqual(resumed[:4], ["resume", "r.h5", "--recipe", str(self.recipe)])
        self.assertEqual(resumed[-3:], ["--", "-ksp_type", "cg"])
        for word in (*common, "--wall-time=1e-6"):
            self.assertIn(word, resumed[:-3])
        self.slurm(*arguments, SLURM_RESTART_COUNT="2")
        with h5py.File(self.work_folder / "r.h5") as file:
            self.assertEqual(file.attrs["status"], "complete")

    def test_a_signal_before_the_program_handles_it_requeues_the_job(self):
        """SIGUSR1 ends the program with 128 + 10, which counts as a request to stop; the run then starts again."""
        arguments = ["-o", "r.h5", self.recipe]
        notes = self.slurm(*arguments, code=85, SIGNALLED="yes")
        self.assertEqual(notes[1], ["scontrol", "requeue", "7"])
        self.slurm(*arguments, SLURM_RESTART_COUNT="1")

    def test_a_job_requeued_before_its_first_checkpoint_starts_again(self):
        (self.work_folder / "r.h5").write_bytes(b"")
        arguments = ["-o", "r.h5", self.recipe]
        self.slurm(*arguments, code=2)
        self.slurm(*arguments, SLURM_RESTART_COUNT="1")

    def test_a_job_without_a_recipe_is_a_usage_error(self):
        for arguments in ([], ["-o", "r.h5"], ["--wall-time", "3", "--", "-ksp_type"]):
            self.assertEqual(self.slurm(*arguments, code=2, SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="4"), [])
            self.assertIn("give a recipe", self.text)


if __name__ == "__main__":
    unittest.main()
