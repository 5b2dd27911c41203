"""`bathline verify`: running the recipe of a result again and comparing."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import h5py
import numpy as np

from program import OSCILLATOR, PROGRAM, FolderTest, ask, changed, write_recipe

IMPLICIT = {"method": "gamma", "gamma": 0.5, "on": "closed", "name": "midpoint"}
CLAIM = {"name": "wrong", "quantity": "closed.q.max", "bounds": [5.0, 6.0]}


class VerifyTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        bath = {"name": "bath", "kind": "heat-bath", "spectrum": "table", "file": "bath.txt", "kT": 0.3}
        recipe = changed(
            OSCILLATOR,
            environments=[OSCILLATOR["environments"][0] | {"sites": 200}, bath],
            integrators=[*OSCILLATOR["integrators"], IMPLICIT],
            output={"snapshots": 20},
            seed=5,
            claims=[CLAIM],
        )
        (cls.folder / "bath.txt").write_text("".join(f"{0.3 * j} 0.02\n" for j in range(1, 30)))
        path = write_recipe(cls.folder / "run.toml", recipe)
        cls.result = cls.folder / "run.h5"
        # Settings and PETSc's options are part of what a result is computed from.
        outcome = ask(
            ["run", path, "-o", cls.result, "--progress", "none", "--set", "system.k=1.5", "--", "-ksp_type", "cg"]
        )
        if outcome.code != 1:
            raise AssertionError(outcome.text)
        (cls.folder / "bath.txt").unlink()
        path.unlink()

    def copy(self):
        return shutil.copy(self.result, self.new_folder())

    def verify(self, result, *arguments, code=0, ranks=None):
        outcome = ask(["verify", result, "--progress", "none", *arguments], ranks)
        self.assert_code(outcome, code)
        return outcome

    def test_the_same_bits(self):
        result = self.copy()
        before = Path(result).read_bytes()
        outcome = self.verify(result)
        self.assertRegex(outcome.out, r"VERIFIED: all \d+ variables have the same bits")
        self.assertEqual(Path(result).read_bytes(), before)
        self.assertEqual([path.name for path in Path(result).parent.iterdir()], ["run.h5"])

    def test_on_other_ranks_to_a_tolerance(self):
        outcome = self.verify(self.copy(), ranks=3)
        self.assert_said_once(outcome, "was computed on 1 rank, not 3")
        self.assertRegex(outcome.out, r"VERIFIED: all \d+ variables agree")
        # The warning says that they were not compared bit by bit.
        self.assertNotIn("same bits", outcome.out)

    def test_a_changed_value(self):
        result = self.copy()
        with h5py.File(result, "r+") as file:
            file["closed/q"][17] *= 1 + 1e-15
        outcome = self.verify(result, code=1)
        self.assertIn("closed/q differs by", outcome.out)
        self.assert_said_once(outcome, "DIFFERS: 1 of")
        # Other rank counts need not agree bit by bit; a difference beyond the tolerance is found, too.
        self.verify(result, ranks=2)
        with h5py.File(result, "r+") as file:
            file["closed/q"][17] += 1e-6
        self.verify(result, code=1, ranks=2)
        self.verify(result, "--tolerance", "1e-3", ranks=2)

    def test_numbers_that_are_not_finite(self):
        for first, second in ((np.inf, None), (-np.inf, None), (np.nan, None), (np.inf, np.inf)):
            with self.subTest(first=first, second=second):
                result = self.copy()
                with h5py.File(result, "r+") as file:
                    file["closed/q"][3] = first
                    if second is not None:
                        file["closed/q"][9] = second
                for ranks in (None, 2):
                    self.assertIn("closed/q differs by inf", self.verify(result, code=1, ranks=ranks).out)
                self.verify(result, "--tolerance", "1e300", code=1, ranks=2)

    def test_a_variable_too_many_or_of_another_shape(self):
        result = self.copy()
        with h5py.File(result, "r+") as file:
            file["closed/extra"] = 1.0
        self.assertIn("closed/extra", self.verify(result, code=1).out)
        result = self.copy()
        with h5py.File(result, "r+") as file:
            file["closed/energy_total"].resize(30, axis=0)
        self.assertIn("closed/energy_total differs", self.verify(result, code=1, ranks=2).out)

    def test_another_build(self):
        result = self.copy()
        with h5py.File(result, "r+") as file:
            file.attrs["compiler"] = "a better one"
            file["closed/q"][17] *= 1 + 1e-15
        outcome = self.verify(result)
        self.assert_said_once(outcome, "another build")
        self.assert_said_once(outcome, "compiler is a better one there")
        self.assertRegex(outcome.out, r"VERIFIED: all \d+ variables agree to \S+e-1[56] of their largest value \(closed/q\)")

    def test_a_program_of_other_machine_code(self):
        # Two edits of the same tree, or a new file, have the same commit. The last digit of the hash is another one.
        notes = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True, check=True).stdout
        (build_id,) = re.findall(r"Build ID: ([0-9a-f]{16,})", notes)
        with h5py.File(self.result) as file:
            self.assertEqual(file.attrs["build_id"].split("+")[0], build_id)
        code, note = Path(PROGRAM).read_bytes(), bytes.fromhex(build_id)
        self.assertEqual(code.count(note), 1)
        other = self.new_folder() / "bathline"
        other.write_bytes(code.replace(note, note[:-1] + bytes([note[-1] ^ 1])))
        other.chmod(0o755)
        outcome = subprocess.run([other, "verify", self.copy(), "--progress", "none"], capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertRegex(outcome.stderr, f"another build.*\n.*build_id is {build_id}")
        self.assertRegex(outcome.stdout, "agree exactly")

    def test_a_rerun_that_is_kept(self):
        result = self.copy()
        kept = self.new_folder() / "kept.h5"
        self.verify(result, "-o", kept)
        self.assert_same_bits(result, kept)
        self.assertIn("exists already", self.verify(result, "-o", kept, code=2).err)

    def test_what_cannot_be_verified(self):
        result = self.copy()
        with h5py.File(result, "r+") as file:
            file.attrs["status"] = "partial"
        for ranks in (None, 2):
            outcome = self.verify(result, code=2, ranks=ranks)
            self.assert_said_once(outcome, "only complete results can be verified")
            self.assertIn("No such file", self.verify(self.folder / "absent.h5", code=2, ranks=ranks).err)
        with h5py.File(result, "w") as file:
            file["x"] = 1
        self.assertIn("not a result of bathline", self.verify(result, code=2).err)


if __name__ == "__main__":
    unittest.main()
