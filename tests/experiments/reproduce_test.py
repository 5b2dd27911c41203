"""experiments/reproduce in a copy of the project with stubs of the commands that it calls."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tests" / "analysis"))

import synthetic  # noqa: E402

RECIPE = """[figure]
kind = "lines"
[[figure.panels]]
series = [{of = "closed.q[0][0]"}]
"""

# A stub of `bathline run RECIPE -o FILE ...`, whose behaviour depends on the name of the recipe.
PROGRAM = """#!/bin/bash
echo "arguments: $*"
[ "$1" = run ] || exit 2
name=$(basename "$2" .toml)
case $name in
  fails) exit 3 ;;
  meets-*)
    # Succeeds only if both are running at the same time.
    touch "{results}/$name.began"
    for _ in {{1..200}}; do [ "$(ls "{results}"/meets-*.began | wc -l)" -eq 2 ] && break; sleep 0.05; done
    [ "$(ls "{results}"/meets-*.began | wc -l)" -eq 2 ] || exit 4
    cp "{results}/right/result.h5" "$4" ;;
  alone-*)
    mkdir "{results}/occupied" || exit 4
    sleep 0.3
    rmdir "{results}/occupied"
    cp "{results}/right/result.h5" "$4" ;;
  sleeps*) echo $$ > "$(dirname "$4")/pid"; exec sleep 600 ;;
  wrong) cp "{results}/wrong/result.h5" "$4"; exit 1 ;;
  nofigure) cp "{results}/nofigure/result.h5" "$4" ;;
  *) cp "{results}/right/result.h5" "$4" ;;
esac
"""


# Instead of the scripts of analysis/ where their output is not asked for: Python starts without its slow libraries.
STUBS = {
    "figure.py": """import sys
for ending in (".png", ".pdf") if sys.argv[1] != "--check" else ():
    open(sys.argv[3] + ending, "w")
""",
    "claims_table.py": "import sys\nprint('1 PASS, 0 FAIL' if '--count' in sys.argv else '')\n",
    "report.py": "",
}


def write_script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class ReproduceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prepared = Path(temporary.name) / "prepared"
        for name, passed in (("right", 1), ("wrong", 0), ("nofigure", 1)):
            recipe = RECIPE if name != "nofigure" else RECIPE.replace("closed.q", "closed.nothing")
            synthetic.trajectory(
                cls.prepared / name / "result.h5",
                recipe,
                claims=[("first", "closed.q.max", "ours", "", 1.0, 1.0, 0.9, 1.1, 0.1, passed, 1)],
            )

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name) / "pro ject"
        shutil.copytree(SOURCE / "analysis", self.root / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
        for script in ("experiments/reproduce", "cluster/environment.sh"):
            (self.root / script).parent.mkdir(exist_ok=True)
            shutil.copy(SOURCE / script, self.root / script)
        for script in ("cluster/install-dependencies", "cluster/build"):
            write_script(self.root / script, f"#!/bin/sh\necho {Path(script).name} $*\n")
        write_script(self.root / "build" / "bathline", PROGRAM.format(results=self.prepared))
        write_script(self.root / "bin" / "mpirun", '#!/bin/bash\necho "ranks: $2"\nshift 2\n"$@"\n')
        self.set_cores(2)
        for name in ("limebeer2020/fig10", "limebeer2020/fig9", "ours/large"):
            self.add_recipe(name)
        (self.root / "experiments" / "not-by-default").write_text("# needs much memory\nours/large  # 24 GiB\n")

    def add_recipe(self, name, text=RECIPE):
        path = self.root / "experiments" / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def leave_out(self, *scripts):
        """Stubs in place of these scripts of analysis/."""
        for name in scripts:
            (self.root / "analysis" / name).write_text(STUBS[name])

    def leave_out_figures(self):
        self.leave_out(*STUBS)

    def set_cores(self, number):
        write_script(self.root / "bin" / "nproc", f"#!/bin/sh\necho {number}\n")

    def start(self, *arguments, cwd="/", **options):
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "OMP_", "OPENBLAS_"))
        }
        environment["PATH"] = f"{self.root / 'bin'}{os.pathsep}{environment['PATH']}"
        environment.update(options)
        return subprocess.Popen(
            [str(self.root / "experiments" / "reproduce"), *arguments],
            cwd=cwd,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def reproduce(self, *arguments, **options):
        process = self.start(*arguments, **options)
        try:
            output, _ = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, output

    def log(self, name):
        return (self.root / "results" / name / "run.log").read_text()

    def test_all_recipes_by_default_in_natural_order(self):
        code, output = self.reproduce()
        self.assertEqual(code, 0, output)
        # Only the program is built, without tests and benchmarks.
        self.assertLess(output.index("install-dependencies"), output.index("build -t bathline\n"))
        # The lines may come in any order, but each is complete.
        self.assertRegex(output, r"(?m)^\[ 1/2\] limebeer2020/fig9 .*1 PASS, 0 FAIL$")
        self.assertRegex(output, r"(?m)^\[ 2/2\] limebeer2020/fig10 .*1 PASS, 0 FAIL$")
        self.assertIn("claims: 2 PASS, 0 FAIL", output)
        self.assertNotIn("large", output)
        for name in ("fig9", "fig10"):
            folder = self.root / "results" / "limebeer2020" / name
            self.assertEqual(
                sorted(path.name for path in folder.iterdir()),
                [f"{name}.pdf", f"{name}.png", "result.h5", "run.log"],
            )
        self.assertIn("--overwrite --progress lines", self.log("limebeer2020/fig9"))
        self.assertIn("ranks: 1\n", self.log("limebeer2020/fig9"))
        self.assertIn("limebeer2020-fig9", (self.root / "results" / "report.html").read_text())

    def test_as_many_runs_at_once_as_cores(self):
        self.leave_out_figures()
        for name in ("meets-one", "meets-two"):
            self.add_recipe(f"ours/{name}")
        code, output = self.reproduce()
        self.assertEqual(code, 0, output)
        self.assertEqual(output.count("1 PASS, 0 FAIL"), 4, output)

    def test_runs_on_several_ranks_and_named_recipes_are_sequential(self):
        self.leave_out_figures()
        names = ("ours/alone-one", "ours/alone-two")
        for name in names:
            self.add_recipe(name)
        for arguments in (("-n", "2"), names):
            code, output = self.reproduce(*arguments)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, r"(?s)ours/alone-one .*1 PASS, 0 FAIL\n.*ours/alone-two .*1 PASS, 0 FAIL\n")
            self.assertIn("ranks: 2\n", self.log(names[0]))

    def test_a_recipe_named_in_several_ways_runs_once(self):
        self.leave_out_figures()
        outside = self.root / "elsewhere" / "mine.toml"
        outside.parent.mkdir()
        outside.write_text(RECIPE)
        code, output = self.reproduce(
            "ours/large",
            "experiments/ours/large.toml",
            "../experiments/ours/large.toml",
            "mine.toml",
            "-n",
            "3",
            cwd=outside.parent,
        )
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"\[ 1/2\] ours/large ")
        self.assertRegex(output, r"\[ 2/2\] own/mine ")
        self.assertIn("ranks: 3", self.log("own/mine"))

    def test_an_unknown_recipe_is_reported_with_the_known_ones(self):
        code, output = self.reproduce("limebeer2020/fig9", "limebeer2020/fig99")
        self.assertEqual(code, 2)
        self.assertIn("no such recipe: limebeer2020/fig99", output)
        for name in ("limebeer2020/fig9", "limebeer2020/fig10", "ours/large"):
            self.assertIn(f"  {name}\n", output)
        # Nothing was started.
        self.assertNotIn("install-dependencies", output)

    def test_usage_errors_are_exit_2(self):
        for arguments in (["-n"], ["-n", "0"], ["-n", "two"], ["--fast"]):
            self.assertEqual(self.reproduce(*arguments)[0], 2, arguments)

    def test_a_failed_claim_is_exit_1(self):
        self.leave_out("figure.py", "report.py")
        self.add_recipe("ours/wrong")
        code, output = self.reproduce("ours/wrong", "limebeer2020/fig9")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"ours/wrong +\d+\.\d s  0 PASS, 1 FAIL")
        self.assertIn("claims: 1 PASS, 1 FAIL", output)

    def test_a_failed_run_is_exit_3_after_the_others(self):
        self.leave_out("figure.py")
        self.add_recipe("ours/fails")
        stale = self.root / "results" / "ours" / "fails"
        stale.mkdir(parents=True)
        for name in ("result.h5", "fails.png"):
            (stale / name).write_text("of an earlier run")
        code, output = self.reproduce("ours/fails", "limebeer2020/fig9")
        self.assertEqual(code, 3, output)
        self.assertIn("RUN FAILED with exit code 3, see results/ours/fails/run.log", output)
        self.assertRegex(output, r"limebeer2020/fig9 .*1 PASS")
        self.assertEqual([path.name for path in stale.iterdir()], ["run.log"])
        report = (self.root / "results" / "report.html").read_text()
        self.assertIn("no result", report)

    def test_a_figure_that_cannot_be_drawn_is_exit_3(self):
        self.leave_out("report.py")
        self.add_recipe("ours/nofigure")
        code, output = self.reproduce("ours/nofigure")
        self.assertEqual(code, 3, output)
        self.assertIn("NO FIGURE", output)
        self.assertIn("no variable 'closed.nothing'", self.log("ours/nofigure"))

    def test_a_text_that_cannot_be_typeset_is_exit_2_before_any_run(self):
        self.add_recipe("ours/formula", RECIPE.replace("[[figure.panels]]", "[[figure.panels]]\ntitle = '$\\frac{$'"))
        code, output = self.reproduce("limebeer2020/fig9", "ours/formula")
        self.assertEqual(code, 2, output)
        self.assertIn("cannot be typeset", output)
        self.assertFalse((self.root / "results").exists())

    def test_inside_a_slurm_job_it_uses_srun(self):
        self.leave_out_figures()
        write_script(self.root / "bin" / "srun", '#!/bin/bash\necho "srun $1 $2 $3"\nshift 3\n"$@"\n')
        code, output = self.reproduce("limebeer2020/fig9", SLURM_JOB_ID="7", SLURM_NTASKS="5")
        self.assertEqual(code, 0, output)
        self.assertIn("srun --mpi=pmix -n 5", self.log("limebeer2020/fig9"))

    def test_a_signal_ends_the_runs_and_the_script(self):
        self.leave_out_figures()
        sleepers = ("sleeps-one", "sleeps-two")
        for name in sleepers:
            self.add_recipe(f"ours/{name}")
        pid_files = [self.root / "results" / "ours" / name / "pid" for name in sleepers]
        for number, arguments, count in ((signal.SIGINT, (), 2), (signal.SIGTERM, ("ours/sleeps-one",), 1)):
            process = self.start(*arguments)
            for _ in range(12000):
                if all(file.exists() and file.read_text() for file in pid_files[:count]):
                    break
                time.sleep(0.05)
            pids = [int(file.read_text()) for file in pid_files[:count]]
            process.send_signal(number)
            output, _ = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("stopped on request", output)
            time.sleep(0.1)
            for pid in pids:
                command = Path(f"/proc/{pid}/cmdline")
                self.assertFalse(command.exists() and "sleep" in command.read_text())
            for file in pid_files:
                file.unlink(missing_ok=True)


if __name__ == "__main__":
    unittest.main()
