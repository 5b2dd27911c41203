"""The examples of src/README.md: programs with user-defined components, whose recipes claim that they work."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
PREFIX = os.environ.get("BATHLINE_EXAMPLES", f"{SOURCE}/build/tests/bathline_example_")
EXAMPLES = SOURCE / "tests" / "examples"
LONGEST = 80
sys.path.insert(0, str(SOURCE / "analysis"))


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.result = Path(folder.name) / "result.h5"

    def test_each_passes_the_claims_of_its_recipe(self):
        sources = sorted(EXAMPLES.glob("*.cpp"))
        self.assertGreater(len(sources), 2)
        for source in sources:
            with self.subTest(source.stem):
                command = [f"{PREFIX}{source.stem}", "run", EXAMPLES / f"{source.stem}.toml", "-o", self.result]
                done = subprocess.run([*command, "--overwrite"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("PASS", done.stdout)

    def test_they_are_short_and_the_readme_names_them_all(self):
        text = (SOURCE / "src" / "README.md").read_text()
        named = set(re.findall(r"tests/examples/([\w.]+)", text))
        for source in [*EXAMPLES.glob("*.cpp"), EXAMPLES / "figure.py"]:
            self.assertIn(source.name, named)
            self.assertLessEqual(len(source.read_text().splitlines()), LONGEST, source)

    def test_methods_for_linear_environments_are_refused(self):
        refusals = {
            'integrators=[{method="exact", on="closed"}]': r"implemented for linear environments only, and `sink` is not linear",
            'integrators=[{method="gauss", on="closed"}]': r"those of `sink` are not linear",
            'integrators=[{method="gamma", gamma=0.5, on="closed"}]': r"those of `sink` are not linear",
            'study={kind="convergence", step_sizes=[0.02, 0.01]}': r"reference solution of `rk4`: .*`sink` is not linear",
        }
        for setting, message in refusals.items():
            with self.subTest(setting):
                command = [f"{PREFIX}environment", "check", EXAMPLES / "environment.toml", "--set", setting]
                command += ["--set", "claims=[]"]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, message)
                self.assertEqual(len(done.stderr.splitlines()), 2 if "convergence" in setting else 1, done.stderr)
        measured = ["--set", 'study={kind="convergence", step_sizes=[0.02, 0.01], reference="open"}', "--set", "claims=[]"]
        command = [f"{PREFIX}environment", "check", EXAMPLES / "environment.toml", *measured]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_figure(self):
        from bathline.result_file import RunResult

        command = [f"{PREFIX}system", "run", EXAMPLES / "system.toml", "-o", self.result]
        subprocess.run(command, check=True, capture_output=True)
        spec = importlib.util.spec_from_file_location("phase", EXAMPLES / "figure.py")
        phase = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(phase)
        with RunResult(self.result) as result:
            (axes,) = phase.draw(result, {}).axes
            self.assertEqual(list(axes.lines[0].get_xdata()), list(result.read("gauss.q[0]").values))
            self.assertEqual(axes.get_ylabel(), "momentum (kg m/s)")


if __name__ == "__main__":
    unittest.main()
