"""Recipes with [sweep]: the product of its lists, and elements that are skipped, resumed or run again."""

import csv
import io
import json
import re
import signal
import subprocess
import unittest

import h5py

from program import OSCILLATOR, SOURCE, FolderTest, ask, changed, run, signalled, toml

SWEEP = '\n[sweep]\nsystem.k = [1.0, 2.5]\nenvironments.0.sites = [45, 50, 60]\n'
CLAIM = {"name": "start", "quantity": "closed.q.max", "bounds": [0.0, 1.1]}


class SweepTest(FolderTest):
    def setUp(self):
        self.folder = self.new_folder()
        self.recipe = self.folder / "many.toml"
        self.recipe.write_text(toml(OSCILLATOR) + SWEEP)

    def must(self, *arguments, code=0, ranks=None, **options):
        outcome = ask([*arguments], ranks, cwd=self.folder, **options)
        self.assert_code(outcome, code)
        return outcome

    def elements(self):
        """Number, file, state and settings of every element."""
        rows = re.findall(r"^ *(\d+)  (\S+)  (\S.*?)  +(\S.*)$", self.must("sweep", self.recipe).out, re.MULTILINE)
        self.assertTrue(rows)
        return rows

    def test_the_product_in_order(self):
        self.assertEqual(
            [(row[0], row[2], row[3]) for row in self.elements()],
            [
                (str(2 * i + j), "to do", f"environments.0.sites={n} system.k={k}")
                for i, n in enumerate((45, 50, 60))
                for j, k in enumerate((1.0, 2.5))
            ],
        )
        self.assertEqual(self.must("sweep", self.recipe, "--count", ranks=2).out, "6\n")
        self.assertEqual(len({row[1] for row in self.elements()}), 6)

    def test_keys_that_change_together(self):
        zipped = '[sweep]\nzip = [["system.k", "environments.0.sites"]]\nsystem.k = [1.0, 2.5, 1.0]\n' \
                 "environments.0.sites = [45, 50, 60]\ntime.step = [0.1, 0.05]\n"
        self.recipe.write_text(toml(OSCILLATOR) + zipped)
        pairs = ((45, 1.0), (50, 2.5), (60, 1.0))
        self.assertEqual(
            [row[3] for row in self.elements()],
            [f"environments.0.sites={n} system.k={k} time.step={h}" for n, k in pairs for h in (0.1, 0.05)],
        )
        listed = json.loads(self.must("sweep", self.recipe, "--json", ranks=2).out)
        self.assertEqual([[element["index"], element["file"], element["state"]] for element in listed],
                         [[int(row[0]), row[1], row[2]] for row in self.elements()])
        self.assertEqual(listed[2]["settings"], {"environments.0.sites": "50", "system.k": "2.5", "time.step": "0.1"})
        self.must("run", self.recipe, "--progress", "none")
        self.assertEqual({row[2] for row in self.elements()}, {"finished"})

    def test_all_in_order_then_none_again(self):
        self.must("run", self.recipe, "--progress", "none", ranks=2)
        for number, path, state, settings in self.elements():
            self.assertEqual(state, "finished")
            with h5py.File(self.folder / path) as file:
                self.assertEqual(" ".join(file.attrs["sweep_settings"].split()), settings)
                self.assertEqual(file.attrs["status"], "complete")
        times = {path: path.stat().st_mtime_ns for path in self.folder.glob("*.h5")}
        # The number of ranks does not matter for the comparison.
        outcome = self.must("run", self.recipe, "--progress", "none")
        self.assertEqual(outcome.out.count("already complete"), 6)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.folder.glob("*.h5")}, times)

    def test_elements_are_identified_by_content_and_not_by_index(self):
        self.must("run", self.recipe, "--progress", "none")
        # A value before the others: every index changes, but no content.
        text = self.recipe.read_text()
        self.recipe.write_text(text.replace("[45, 50, 60]", "[40, 45, 50, 60]"))
        self.assertEqual([row[2] for row in self.elements()], ["to do"] * 2 + ["finished"] * 6)
        self.must("run", self.recipe, "--element", "1", "--progress", "none")
        self.assertEqual([row[2] for row in self.elements()], ["to do"] + ["finished"] * 7)
        # A change outside the sweep affects all elements.
        self.recipe.write_text(text.replace("steps = 60", "steps = 61"))
        self.assertEqual([row[2] for row in self.elements()], ["to do"] * 6)

    def test_an_element_is_run_without_reading_the_others(self):
        text = self.recipe.read_text()
        self.must("run", self.recipe, "--element", "3", "--progress", "none")
        path = self.elements()[3][1]
        # The elements 0, 1, 4 and 5 are mistakes.
        self.recipe.write_text(text.replace("[45, 50, 60]", "[-1, 50, -2]"))
        self.assertIn(f"{path}: already complete", self.must("run", self.recipe, "--element", "3").out)
        self.assertIn("sweep of", self.must("run", self.recipe, "--element", "0", code=2).err)
        self.assertIn("sweep of", self.must("run", self.recipe, code=2).err)

    def test_a_portion_of_the_elements(self):
        outcome = self.must("run", self.recipe, "--elements", "1..3", "--progress", "none", ranks=2)
        self.assertEqual(re.findall(r"^element (\d) of 6", outcome.out, re.MULTILINE), ["1", "2", "3"])
        states = ["to do", "finished", "finished", "finished", "to do", "to do"]
        self.assertEqual([row[2] for row in self.elements()], states)
        # The lists of the sweep may be settings, which an element is read without.
        settings = ["--set", "sweep={system.k = [1.0, 2.5], environments.0.sites = [45, 50, 60]}"]
        self.recipe.write_text(toml(OSCILLATOR))
        outcome = self.must("run", self.recipe, *settings, "--elements=0..3", "--progress", "none")
        self.assertEqual(outcome.out.count("already complete"), 3)
        self.assertIn("must be a list of lists", self.must("run", self.recipe, "--set", "sweep.zip=[[1]]", code=2).err)

    def test_another_build_and_other_options_are_not_finished(self):
        first = self.elements()[0][1]
        self.must("run", self.recipe, "--element", "0", "--progress", "none")
        with h5py.File(self.folder / first, "r+") as file:
            file.attrs["git_commit"] = "0" * 40
        self.assertIn("of another build", self.elements()[0][2])
        outcome = self.must("run", self.recipe, "--element", "0", code=2)
        self.assert_said_once(outcome, "--overwrite runs it again")
        self.must("run", self.recipe, "--element", "0", "--overwrite", "--progress", "none")
        self.assertEqual(self.elements()[0][2], "finished")

    def test_elements_that_cannot_be_run_do_not_end_the_sweep(self):
        for ranks in (None, 2, 3):
            with self.subTest(ranks=ranks):
                self.setUp()
                files = [self.folder / row[1] for row in self.elements()]
                files[1].write_bytes(b"something else")
                self.must("run", self.recipe, "--element", "3", "--progress", "none")
                with h5py.File(files[3], "r+") as file:
                    file.attrs["build_id"] = "0" * 40
                outcome = self.must("run", self.recipe, "--progress", "none", code=2, ranks=ranks)
                self.assertEqual(outcome.err.count("--overwrite runs it again"), 2, outcome.err)
                for wrong in (1, 3):
                    self.assertIn(str(files[wrong].name), outcome.err)
                states = [row[2] for row in self.elements()]
                self.assertEqual([states[i] for i in (0, 2, 4, 5)], ["finished"] * 4, states)
                # A portion is read element by element.
                self.must("run", self.recipe, "--elements", "1..2", "--progress", "none", code=2, ranks=ranks)
                self.must("run", self.recipe, "--elements", "4..5", "--progress", "none", ranks=ranks)

    def test_an_interrupted_element_is_resumed(self):
        self.recipe.write_text(toml(OSCILLATOR) + SWEEP.replace("[45, 50, 60]", "[45, 50]").replace("[1.0, 2.5]", "[1.0]"))
        arguments = ["run", self.recipe, "--progress", "none"]
        self.assert_code(run(arguments, env=signalled(signal.SIGUSR1, 30), cwd=self.folder), 85)
        self.assertEqual([row[2] for row in self.elements()], ["interrupted", "to do"])
        self.assert_code(ask(arguments, 1, cwd=self.folder), 0)
        self.assertEqual([row[2] for row in self.elements()], ["finished", "finished"])

    def test_the_largest_exit_code_includes_skipped_elements(self):
        self.recipe.write_text(toml(changed(OSCILLATOR, claims=[CLAIM])) + SWEEP)
        for _ in range(2):
            outcome = self.must("run", self.recipe, "--progress", "none", code=1)
        self.assertIn("already complete", outcome.out)

    def test_claims_of_a_computed_element_are_evaluated(self):
        failing = CLAIM | {"name": "fails", "bounds": [5.0, 6.0]}
        holding = CLAIM | {"bounds": [0.0, 2.0]}
        self.recipe.write_text(toml(changed(OSCILLATOR, claims=[holding, failing])) + SWEEP)
        self.must("run", self.recipe, "--element", "0", "--progress", "none", code=1)
        path = self.folder / self.elements()[0][1]
        # After kills before the claims or within them, and as written by older versions.
        for status, lost in (("computed", "claims"), ("computed", "claims/upper"), ("complete", "claims")):
            with self.subTest(status=status, lost=lost):
                with h5py.File(path, "r+") as file:
                    file.attrs["status"] = status
                    del file[lost]
                self.assertEqual(self.elements()[0][2], "computed")
                outcome = self.must("run", self.recipe, "--element", "0", "--progress", "none", code=1)
                self.assertIn("evaluating its claims", outcome.out)
                self.assertIn("FAIL", outcome.out)
                with h5py.File(path) as file:
                    self.assertEqual(file.attrs["status"], "complete")
                    self.assertEqual(file["claims/passed"][:].tolist(), [1, 0])
                self.assertEqual(self.elements()[0][2], "finished")

    def test_claims_and_resume_evaluate_the_claims_of_a_computed_result(self):
        path = self.folder / "one.h5"
        self.recipe.write_text(toml(changed(OSCILLATOR, claims=[CLAIM | {"bounds": [5.0, 6.0]}])))
        self.must("run", self.recipe, "-o", path, "--progress", "none", code=1)
        with h5py.File(path, "r+") as file:
            file.attrs["status"] = "computed"
            del file["claims"]
        self.assertIn("FAIL", self.must("claims", path, code=1).out)
        self.assertIn("FAIL", self.must("resume", path, code=1, ranks=2).out)
        with h5py.File(path) as file:
            self.assertEqual(file.attrs["status"], "complete")
            self.assertEqual(file["claims/passed"][:].tolist(), [0])

    def test_a_table_of_all(self):
        self.recipe.write_text(toml(changed(OSCILLATOR, claims=[CLAIM])) + SWEEP)
        self.must("run", self.recipe, "--progress", "none", code=1)
        command = ["/usr/bin/python3", str(SOURCE / "analysis" / "sweep_table.py"), *map(str, self.folder.glob("*.h5"))]
        table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = list(csv.DictReader(io.StringIO(table)))
        self.assertEqual(len(rows), 6)
        self.assertEqual({row["environments.0.sites"] for row in rows}, {"45", "50", "60"})
        for row in rows:
            with h5py.File(row["file"]) as file:
                self.assertEqual(float(row["start"]), file["claims/measured"][0])
                self.assertEqual(row["start passed"], str(int(file["claims/passed"][0])))

    def test_the_check_of_a_sweep_says_a_line_once(self):
        self.recipe.write_text(toml(OSCILLATOR) + "\n[sweep]\ntime.end = [0.33, 0.73]\nsystem.q0 = [[1.0], [2.0], [3.0]]\n")
        outcome = self.must("check", self.recipe)
        lines = (outcome.out + outcome.err).splitlines()
        self.assertEqual(len(lines), len(set(lines)))
        self.assertEqual(outcome.out.count("valid;"), 1)
        self.assertEqual(outcome.err.count("closed: step 0.05 does not divide the end 0.33"), 1, outcome.err)
        self.assertEqual(outcome.err.count("closed: step 0.05 does not divide the end 0.73"), 1, outcome.err)

    def test_mistakes(self):
        for sweep, message in (
            ("[sweep]\n", "has no list"),
            ("[sweep]\ntime.step = 0.1\n", "`time.step`: must be a list"),
            ("[sweep]\ntime.step = []\n", "`time.step`: must be a list"),
            ("[sweep]\ntime.stop = [0.1]\n", "time.stop"),
            ("[sweep]\ntime.step = [0.1, -0.1]\n", "positive"),
            ("[sweep]\ntime.step = [0.1]\n[sweep]\ntime.end = [1.0]\n", "cannot redefine existing table 'sweep'"),
            ("[sweep]\ntime.step = [0.1]\n[time]\nend = 1.0\n", "cannot redefine existing table 'time'"),
            ("[sweep]\nsystem.kk = [1.0, 2.0]\n", "sweep of `system.kk`: unknown key `kk` in [system]"),
            ("[sweep]\nsweep.system.k = [1.0, 2.0]\n", "a sweep cannot change itself"),
            ("[sweep]\nsystem.k = [1.0, 2.0, 1]\n", "the list has the value 1 twice"),
            ("[sweep]\nsystem.q0 = [[1], [1.0]]\n", "0 (system.q0=[1]) and 1 (system.q0=[1.0]) of [sweep] are the same"),
            ("[sweep]\nzip = 3\nsystem.k = [1.0, 2.0]\n", "zip of [sweep]: must be a list of lists of at least two swept keys"),
            ('[sweep]\nzip = [["system.k"]]\nsystem.k = [1.0, 2.0]\n', "of at least two swept keys"),
            ('[sweep]\nzip = [["system.k", "system.m"]]\nsystem.k = [1.0, 2.0]\n', "`system.m` is not a swept key"),
            ('[sweep]\nzip = [["system.k", "system.k"]]\nsystem.k = [1.0, 2.0]\n', "is not a swept key, or is named twice"),
            ('[sweep]\nzip = [["system.k", "system.m"]]\nsystem.k = [1.0, 2.0]\nsystem.m = [1.0, 2.0, 3.0]\n', "have 2 and 3 values"),
            ('[sweep]\nzip = [["system.k", "system.m"]]\nsystem.k = [1.0, 1.0]\nsystem.m = [2.0, 2.0]\n', "are the same"),
            (f"[sweep]\nsystem.k = {list(range(1, 1100))}\nsystem.m = {list(range(1, 1100))}\n", "combinations"),
        ):
            with self.subTest(sweep=sweep[:40]):
                self.recipe.write_text(toml(OSCILLATOR) + "\n" + sweep)
                for command in ("run", "check", "sweep"):
                    outcome = self.must(command, self.recipe, code=2)
                    self.assertIn(message, outcome.err)
                    self.assertEqual(outcome.err.count("error: "), 1)
                    self.assertNotIn("--set", outcome.err)
        self.recipe.write_text(toml(OSCILLATOR))
        for command in (["run", self.recipe, "--element", "0"], ["sweep", self.recipe]):
            self.assertIn("has no [sweep]", self.must(*command, code=2).err)
            self.assertIn("time.stop=1", self.must(*command, "--set", "time.stop=1", code=2).err)
        self.recipe.write_text(toml(OSCILLATOR) + SWEEP)
        self.assertRegex(
            self.must("run", self.recipe, "--element", "6", code=2).err, r"--elements 6: the elements of the sweep .* are 0 to 5"
        )
        self.assertIn("are 0 to 5", self.must("run", self.recipe, "--elements", "4..6", code=2).err)
        for text in ("3..1", "a", "1..", "..2", "-1", "1..2..3", "1.5"):
            self.assertIn(f"{text} is not the number of an element", self.must("run", self.recipe, f"--elements={text}", code=2).err)
        self.assertEqual(list(self.folder.glob("*.h5")), [])


if __name__ == "__main__":
    unittest.main()
