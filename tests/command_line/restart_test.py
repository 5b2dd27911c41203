"""Every integrator goes on from a checkpoint with the bits that it would have had."""

import unittest

import h5py
import numpy as np

from program import OSCILLATOR, changed, run, variables, write_recipe
from resume_test import BATH, LINE, ResumeTest, checkpoints_of

# So short that its matched end has lost energy before the checkpoint.
SHORT = LINE | {"name": "short", "sites": 5}


class EveryIntegratorTest(ResumeTest):
    """Every integrator on every kind of environment, from a checkpoint in the middle of everything."""

    FEWEST = 12
    SIDES = ("closed", "open")
    OPEN = {"noise": False}  # the bath is warm

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = [line.split()[0] for line in run(["list", "integrators"]).out.splitlines()]
        cases = [{"name": name, "on": on, "label": f"{name}_{on}"} for name in names for on in cls.SIDES]
        cases.append({"name": "gamma", "gamma": 0.5, "on": "closed", "label": "midpoint"})
        cls.cases = []
        for case in cases:
            case |= {"allow_unstable": True} | (cls.OPEN if case["on"] == "open" else {})
            # What an integrator cannot run on is refused; it is left out here.
            if cls.run_of([case], case["label"]).code == 0:
                cls.cases.append(case)
        outcome = cls.run_of(cls.cases, "all")
        if outcome.code != 0:
            raise AssertionError(outcome.text)

    @classmethod
    def run_of(cls, cases, name):
        recipe = write_recipe(cls.folder / f"{name}.toml", cls.recipe_of(cases))
        outcome = run(["run", recipe, "--progress", "none", "-o", cls.folder / f"{name}.h5"])
        if outcome.code not in (0, 2):
            raise AssertionError(outcome.text)
        return outcome

    @staticmethod
    def recipe_of(cases):
        # 23 is no multiple of the 8 steps that a bath takes at a time, nor of the records.
        output = {"every": 7, "snapshots": 11, "site_stride": 3, "checkpoint_every": 23, "keep_checkpoints": 1000}
        output["work_rules"] = True
        return changed(
            OSCILLATOR, environment=[LINE, BATH, SHORT], time={"step": 0.02, "steps": 45}, integrators=cases, output=output
        )

    def test_all_names_are_there(self):
        self.assertGreaterEqual(len(self.cases), self.FEWEST)
        self.assertEqual(len(checkpoints_of(self.folder / "all.h5")), len(self.cases))

    def test_the_same_bits_on_the_same_number_of_ranks(self):
        for case in self.cases:
            with self.subTest(case["label"]):
                whole = self.folder / f"{case['label']}.h5"
                (checkpoint,) = checkpoints_of(whole)
                result, copy = self.copy_of(whole, checkpoint)
                self.must(["resume", copy])
                self.assert_same_bits(result, whole)

    def test_on_other_ranks_the_same_bits_where_explicit(self):
        # The first checkpoint has every integrator before or after it, the last one only the implicit midpoint rule.
        expected = variables(self.folder / "all.h5")
        every = checkpoints_of(self.folder / "all.h5")
        for checkpoint, ranks in ((every[0], 2), (every[len(every) // 2], 3), (every[-1], 3)):
            result, copy = self.copy_of(self.folder / "all.h5", checkpoint)
            self.must(["resume", copy], ranks=ranks)
            found = variables(result)
            self.assertEqual(sorted(found), sorted(expected))
            for name, values in expected.items():
                explicit = name.split("/")[0] in ("gamma_closed", "stoermer-verlet_closed", "rk4_closed")
                if explicit or values.dtype.kind == "S":
                    self.assertEqual(found[name].tobytes(), values.tobytes(), name)
                else:
                    scale = max(1.0, np.max(np.abs(values)))
                    np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-11 * scale, err_msg=name)


class EveryDrivenIntegratorTest(EveryIntegratorTest):
    """The same where the time matters: the clock goes on, and the work."""

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorTest.recipe_of(cases)
        return changed(recipe, system=recipe["system"] | {"drive": ["0.3*cos(40*t) + t"]})


class EveryWarmIntegratorTest(EveryIntegratorTest):
    """The same of open runs with noise, which not every integrator takes: random numbers are counted."""

    FEWEST = 15
    SIDES = ("open",)
    OPEN = {}

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorTest.recipe_of(cases)
        return changed(
            recipe,
            system=recipe["system"] | {"damping": 0.6, "temperature": 0.7},
            output=recipe["output"] | {"work_rules": False},
        )

    def test_all_of_them_are_warm(self):
        with h5py.File(self.folder / "all.h5") as file:
            for case in self.cases:
                if case["on"] == "open":
                    self.assertIn("less that of noise", file[case["label"]]["energy_dissipated"].attrs["long_name"])


class EveryIntegratorOnAMemoryTest(EveryIntegratorTest):
    """The same on modes that decay, which not every integrator takes."""

    FEWEST = 8

    @staticmethod
    def recipe_of(cases):
        memory = {"name": "m", "kind": "memory", "stiffness": [0.7, 0.2, 0.1], "rate": [0.3, 1.5, 0.0]}
        memory["frequency"] = [1.7, 0.0, 2.0]
        return EveryIntegratorTest.recipe_of(cases) | {"environment": [memory, SHORT]}


class EveryIntegratorOnAWarmMemoryTest(EveryIntegratorOnAMemoryTest):
    """The same with the noise of a memory, which counts its own steps."""

    SIDES = ("closed",)

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorOnAMemoryTest.recipe_of(cases)
        memory, short = recipe["environment"]
        warm = [memory | {"temperature": 0.7}, short]
        return recipe | {"environment": warm, "output": recipe["output"] | {"work_rules": False}}

    def test_all_of_them_are_warm(self):
        with h5py.File(self.folder / "all.h5") as file:
            for case in self.cases:
                self.assertIn("less that of noise", file[case["label"]]["energy_dissipated"].attrs["long_name"])


if __name__ == "__main__":
    unittest.main()
