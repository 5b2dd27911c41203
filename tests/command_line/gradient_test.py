"""Gradients from Python against differences, a problem that stays in memory, an interrupted search."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "analysis"))
sys.path.insert(0, str(Path(__file__).parent))

from program import PROGRAM, ask, write_recipe

os.environ.setdefault("BATHLINE", PROGRAM)

import bathline  # noqa: E402
import numpy as np  # noqa: E402

RECIPE = {
    "title": "pendulum",
    "system": {
        "kind": "formula",
        "coordinates": ["x"],
        "masses": [1.3],
        "V": "-g*cos(x)",
        "force": ["-0.2*x_dot + a*sin(t)"],
        "parameters": {"g": 1.1, "a": 0.3},
        "q0": [0.4],
        "v0": [0.1],
    },
    "controls": [{"name": "u", "on": "x", "pieces": 4, "initial": "0.3*cos(t)"}],
    "environments": [
        {"kind": "memory", "name": "slow", "attach": 0, "stiffness": [0.5], "rate": [0.7]},
        {"kind": "spring-mass-line", "name": "line", "attach": 0, "sites": 9, "M": 0.2, "lambda": 0.8},
    ],
    "time": {"step": 0.05, "end": 2.0},
    "integrators": [{"name": "run", "method": "gauss", "on": "closed"}],
}
COST = {"final_cost": "x^2 + g*x_dot", "running_cost": "u^2/2 + x^4"}


def difference(function, size=1e-3):
    """The derivative at 0 by differences of order 4."""
    return (8 * (function(size) - function(-size)) - (function(2 * size) - function(-2 * size))) / (12 * size)


class ProblemTest(unittest.TestCase):
    def test_gradient_is_that_of_differences_of_the_cost(self):
        with bathline.Problem(RECIPE, of=COST) as problem:
            self.assertEqual(list(problem.parts), ["q0", "v0", "mass", "u", "a", "g"])
            direction = np.random.default_rng(1).normal(size=problem.start.size)
            expected = difference(lambda size: problem.cost(problem.start + size * direction))
            self.assertAlmostEqual(problem.gradient(problem.start) @ direction, expected, delta=1e-9)
            parts = problem.split(problem.gradient(problem.start))
        whole = bathline.gradient(RECIPE, of=COST, by=["u", "g"])
        np.testing.assert_array_equal(whole["u"], parts["u"])
        np.testing.assert_array_equal(whole["g"], parts["g"])

    def test_an_array_that_is_changed_in_place_is_a_new_place(self):
        with bathline.Problem(RECIPE, of=COST) as problem:
            x = problem.start
            places = []
            for _ in range(2):
                places.append((problem.cost(x), *problem.gradient(x)))
                problem.split(x)["q0"] *= 0.5  # a copy
                x *= 0.9
            np.testing.assert_array_equal(x, 0.9 * (0.9 * problem.start))
            self.assertEqual(places[0], (problem.cost(problem.start), *problem.gradient(problem.start)))
            self.assertEqual(places[1], (problem.cost(0.9 * problem.start), *problem.gradient(0.9 * problem.start)))
            self.assertNotEqual(places[0][0], places[1][0])

    def test_mismatch_to_measured_values(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "data.dat"
            table.write_text("0 0.3 0.1\n0.5 0.2 -0.4\n1.35 -0.1 0\n2 0.3 0.2\n")
            of = {"data_file": str(table), "observe": ["g*x + 0.1*u", "x*x_dot"], "sigma": [0.1, 0.3]}
            with bathline.Problem(RECIPE, of=of | {"final_cost": "x_dot^2"}) as problem:
                direction = np.random.default_rng(2).normal(size=problem.start.size)
                expected = difference(lambda size: problem.cost(problem.start + size * direction))
                gradient = problem.gradient(problem.start)
                self.assertAlmostEqual(gradient @ direction, expected, delta=1e-9 * (1 + abs(expected)))
            with bathline.Problem(RECIPE, of=of) as problem:
                without = problem.cost(problem.start)
            with bathline.run(RECIPE | {"study": {"kind": "gradient", **of}, "output": {"every": 20}}) as result:
                self.assertEqual(float(result["gradient/run"]["cost"]), without)
                self.assertEqual(result["gradient/run"]["alpha"].shape[0], 3)
            table.write_text("0.512 0.3 0.1\n")
            with self.assertRaisesRegex(bathline.UsageError, "no whole number of steps"):
                bathline.gradient(RECIPE, of=of)

    def test_constants_of_environments(self):
        names = ["line.M", "line.lambda", "slow.stiffness", "slow.rate"]
        study = {"kind": "gradient", **COST}

        def cost(**changes):
            environments = [dict(environment) for environment in RECIPE["environments"]]
            for key, value in changes.items():
                environment = environments[0] if key in environments[0] else environments[1]
                environment[key] = [value] if isinstance(environment[key], list) else value
            with bathline.Problem(RECIPE | {"environments": environments, "study": study}, by="u") as problem:
                return problem.cost(problem.start)

        with bathline.run(RECIPE | {"study": study | {"by": names}}) as result:
            group = result["gradient/run"]
            for key, value, name in (
                ("M", 0.2, "by_line_M"),
                ("lambda", 0.8, "by_line_lambda"),
                ("stiffness", 0.5, "by_slow_stiffness_0"),
                ("rate", 0.7, "by_slow_rate_0"),
            ):
                expected = difference(lambda size, key=key, value=value: cost(**{key: value + size}))
                self.assertAlmostEqual(float(group[name]), expected, delta=1e-8 * (1 + abs(expected)), msg=name)

    def test_constants_that_are_zero(self):
        slow = {"stiffness": [0.5, 0.3], "rate": [0.7, 0.0], "frequency": [0.0, 1.3]}
        study = {"kind": "gradient", **COST}
        weights, size = (-25 / 12, 4, -3, 4 / 3, -1 / 4), 1e-3

        def recipe_with(key, index, value):
            values = [value if i == index else old for i, old in enumerate(slow[key])]
            return RECIPE | {"environments": [RECIPE["environments"][0] | slow | {key: values}, RECIPE["environments"][1]]}

        def cost(key, index, value):
            with bathline.Problem(recipe_with(key, index, value) | {"study": study}, by="u") as problem:
                return problem.cost(problem.start)

        names = ["slow.rate", "slow.frequency"]
        with bathline.run(recipe_with("rate", 1, 0.0) | {"study": study | {"by": names}}) as result:
            for key, index in (("rate", 1), ("frequency", 0)):
                costs = [cost(key, index, i * size) for i in range(5)]
                expected = sum(weight * value for weight, value in zip(weights, costs)) / size
                slope = float(result["gradient/run"][f"by_slow_{key}_{index}"])
                self.assertAlmostEqual(slope, expected, delta=1e-8 * (1 + abs(expected)), msg=key)

    def test_a_path_in_segments_has_the_same_gradient(self):
        for method in ({"method": "gauss"}, {"method": "stoermer-verlet"}):
            environments = RECIPE["environments"][1:] if method["method"] != "gauss" else RECIPE["environments"]
            recipe = RECIPE | {"integrators": [{"name": "run", "on": "closed", **method}], "environments": environments}
            gradients = []
            for memory in ({}, {"path_memory": 1e-6}):
                with bathline.run(recipe | {"study": {"kind": "gradient", **COST, **memory}}) as result:
                    group = result["gradient/run"]
                    gradients.append({name: np.asarray(group[name]) for name in ("by_u", "by_q0", "by_mass", "alpha", "cost")})
            for name, values in gradients[0].items():
                np.testing.assert_array_equal(values, gradients[1][name], name)

    def test_a_warning_where_costates_grow(self):
        # Away from the top of a hill e^t, in 15 s and 25 s by 3e6 and 7e10.
        for end, is_warned in ((15.0, False), (25.0, True)):
            with tempfile.TemporaryDirectory() as folder:
                path = write_recipe(
                    Path(folder) / "hill.toml",
                    {
                        "title": "hill",
                        "system": {"kind": "formula", "coordinates": ["x"], "masses": [1.0], "V": "-x^2/2", "q0": [0.0]},
                        "time": {"step": 0.05, "end": end},
                        "integrators": [{"method": "stoermer-verlet", "on": "open"}],
                        "study": {"kind": "gradient", "final_cost": "x"},
                    },
                )
                outcome = ask(["run", path, "-o", Path(folder) / "hill.h5", "--progress", "none"])
                self.assertEqual(outcome.code, 0, outcome.text)
                self.assertEqual("costates grow by a factor" in outcome.text, is_warned, outcome.text)

    def test_mistakes_are_usage_errors(self):
        for of, by, words in (("x^", None, "final_cost"), ("x", ["uu"], "`uu`"), ("abs(x)", None, "smooth")):
            with self.assertRaisesRegex(bathline.UsageError, words):
                bathline.gradient(RECIPE, of=of, by=by)
        with self.assertRaisesRegex(bathline.UsageError, "no cost"):
            bathline.gradient(RECIPE)
        with bathline.Problem(RECIPE, of="x", by="u") as problem, self.assertRaisesRegex(bathline.UsageError, "unknowns"):
            problem.cost([1.0])


if __name__ == "__main__":
    unittest.main()
