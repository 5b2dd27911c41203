"""Every integrator resumes from a checkpoint with the bits of an uninterrupted run."""

import re
import unittest

import h5py
import numpy as np

from program import OSCILLATOR, ask, changed, checkpoints_of, variables, write_recipe
from resume_test import BATH, LINE, ResumeTest

# So short that its matched end has lost energy before the checkpoint.
SHORT = LINE | {"name": "short", "sites": 3}


class EveryIntegratorTest(ResumeTest):
    """Every integrator on every kind of environment, from a checkpoint within the run."""

    FEWEST = 12
    SIDES = ("closed", "open")
    OPEN = {"noise": False}  # the bath has a temperature

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = [line.split()[0] for line in ask(["list", "integrators"]).out.splitlines()]
        cases = [{"method": name, "on": on, "name": f"{name}_{on}"} for on in cls.SIDES for name in names]
        cases.insert(1, {"method": "gamma", "gamma": 0.5, "on": "closed", "name": "midpoint"})
        for case in cases:
            case |= {"allow_unstable": True} | (cls.OPEN if case["on"] == "open" else {})
        cls.cases = cls.accepted(cases)

    @classmethod
    def runs(cls, count):
        """The cases spread over so many runs: the cases and the result of each."""
        for first in range(count):
            cases = cls.cases[first::count]
            result = cls.folder / f"{first}-of-{count}.h5"
            recipe = write_recipe(result.with_suffix(".toml"), cls.recipe_of(cases))
            outcome = ask(["run", recipe, "--progress", "none", "-o", result])
            if outcome.code != 0:
                raise AssertionError(outcome.text)
            yield cases, result

    @classmethod
    def accepted(cls, cases):
        """The cases that are supported here: `check` refuses the others with their lines."""
        recipe = write_recipe(cls.folder / "all.toml", cls.recipe_of(cases))
        outcome = ask(["check", recipe])
        if outcome.code == 0:
            return cases
        lines = recipe.read_text().splitlines()
        places = re.findall(rf"{re.escape(str(recipe))}:(\d+):", outcome.err)
        refused = {lines[: int(line)].count("[[integrators]]") - 1 for line in places} - {-1}
        if outcome.code != 2 or not refused:
            raise AssertionError(outcome.text)
        return cls.accepted([case for index, case in enumerate(cases) if index not in refused])

    @staticmethod
    def recipe_of(cases):
        # 13 is a multiple neither of the 8 steps of a bath's block nor of the steps between records.
        output = {"every": 7, "snapshots": 11, "site_stride": 3, "checkpoint_every": 13, "keep_checkpoints": 1000}
        output["work_rules"] = True
        return changed(
            OSCILLATOR, environments=[LINE, BATH, SHORT], time={"step": 0.02, "steps": 25}, integrators=cases, output=output
        )

    def test_all_names_are_there(self):
        self.assertGreaterEqual(len(self.cases), self.FEWEST)

    def test_the_same_bits_on_the_same_number_of_ranks(self):
        # A resumed run continues with all later integrators, so that each run has only about two.
        for cases, whole in self.runs(1 + len(self.cases) // 2):
            checkpoints = checkpoints_of(whole)
            self.assertEqual(len(checkpoints), len(cases))
            for case, checkpoint in zip(cases, checkpoints):
                with self.subTest(case["name"]):
                    result, copy = self.copy_of(whole, checkpoint)
                    self.must(["resume", copy])
                    self.assert_same_bits(result, whole)
                    self.check_case(case, whole)

    def check_case(self, case, whole):
        """Further checks of a case in its result."""

    def assert_warm(self, case, whole):
        with h5py.File(whole) as file:
            self.assertIn("less energy supplied by noise", file[case["name"]]["energy_dissipated"].attrs["long_name"])

    def test_on_other_ranks_the_same_bits_where_explicit(self):
        # The checkpoint is within the first integrator, an explicit and an implicit one; all others run to their ends.
        for (_, whole), ranks in zip(self.runs(2), (2, 3)):
            expected = variables(whole)
            result, copy = self.copy_of(whole, checkpoints_of(whole)[0])
            self.must(["resume", copy], ranks=ranks)
            data = variables(result)
            self.assertEqual(sorted(data), sorted(expected))
            for name, values in expected.items():
                explicit = name.split("/")[0] in ("gamma_closed", "stoermer-verlet_closed", "rk4_closed")
                if explicit or values.dtype.kind in "SU":
                    self.assertEqual(data[name].tobytes(), values.tobytes(), name)
                else:
                    scale = max(1.0, np.max(np.abs(values)))
                    np.testing.assert_allclose(data[name], values, rtol=0, atol=1e-11 * scale, err_msg=name)


class EveryDrivenIntegratorTest(EveryIntegratorTest):
    """The same with a drive: time and work must be restored."""

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorTest.recipe_of(cases)
        return changed(recipe, system=recipe["system"] | {"drive": ["0.3*cos(40*t) + t"]})


class EveryWarmIntegratorTest(EveryIntegratorTest):
    """The same for open runs with noise, for integrators that support it: the random numbers are numbered by step."""

    FEWEST = 15
    SIDES = ("open",)
    OPEN = {}

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorTest.recipe_of(cases)
        return changed(
            recipe,
            system=recipe["system"] | {"damping": 0.6, "kT": 0.7},
            output=recipe["output"] | {"work_rules": False},
        )

    def check_case(self, case, whole):
        if case["on"] == "open":
            self.assert_warm(case, whole)


class EveryIntegratorOnAMemoryTest(EveryIntegratorTest):
    """The same with a memory of exponential modes, for integrators that support it."""

    FEWEST = 8

    @staticmethod
    def recipe_of(cases):
        memory = {"name": "m", "kind": "memory", "stiffness": [0.7, 0.2, 0.1], "rate": [0.3, 1.5, 0.0]}
        memory["frequency"] = [1.7, 0.0, 2.0]
        return EveryIntegratorTest.recipe_of(cases) | {"environments": [memory, SHORT]}


class EveryIntegratorOnAWarmMemoryTest(EveryIntegratorOnAMemoryTest):
    """The same with the noise of a memory, which has its own step counter."""

    SIDES = ("closed",)

    @staticmethod
    def recipe_of(cases):
        recipe = EveryIntegratorOnAMemoryTest.recipe_of(cases)
        memory, short = recipe["environments"]
        warm = [memory | {"kT": 0.7}, short]
        return recipe | {"environments": warm, "output": recipe["output"] | {"work_rules": False}}

    def check_case(self, case, whole):
        self.assert_warm(case, whole)


if __name__ == "__main__":
    unittest.main()
