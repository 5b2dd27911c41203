"""Expected values of `ours/thermal_reduced`, from the stationary distribution of every method instead of realisations."""

import sys
import unittest
from os import environ
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(environ["BATHLINE_SOURCE"]) / "tests" / "command_line"))

from program import resolved  # noqa: E402

RECIPE = Path(environ["BATHLINE_SOURCE"]) / "experiments/ours/thermal_reduced.toml"
SQUARE = 1.041797296487157  # <x^2> of exp(-V)


def force(x):
    return x - x**3


def midpoint(x, v, xi, h):
    u = v.copy()
    for _ in range(50):
        middle = x + h / 2 * u
        u -= (u - v - h / 2 * (force(middle) - u) - xi / 2) / (1 + h * h / 4 * (3 * middle**2 - 1) + h / 2)
    return x + h * u, 2 * u - v


def gjf(x, v, xi, h):
    u = (v + h / 2 * force(x) + xi / 2) / (1 + h / 2)
    x = x + h * u
    return x, u * (1 - h / 2) + h / 2 * force(x) + xi / 2


def drift_first(x, v, xi, h):
    x = x + h / 2 * v
    v = ((1 - h / 2) * v + h * force(x) + xi) / (1 + h / 2)
    return x + h / 2 * v, v


def baoab(x, v, xi, h):
    v = v + h / 2 * force(x)
    x, v = x + h / 2 * v, np.exp(-h) * v + np.sqrt(-np.expm1(-2 * h) / (2 * h)) * xi
    x = x + h / 2 * v
    return x, v + h / 2 * force(x)


METHODS = {"midpoint": midpoint, "gjf": gjf, "baoab": baoab, "drift-first": drift_first}


def interpolation(nodes, weights, x):
    """Matrix of barycentric interpolation from the nodes to x."""
    distances = x[:, None] - nodes
    distances[distances == 0.0] = 1e-300
    terms = weights / distances
    return terms / terms.sum(1, keepdims=True)


def chebyshev(count, end):
    angles = (2 * np.arange(count) + 1) * np.pi / (2 * count)
    return end * np.cos(angles), (-1.0) ** np.arange(count) * np.sin(angles)


def mean_errors(method, h, x_count=46, v_count=42):
    """Errors of <x^2>, <v^2> and <x V'> against Boltzmann's distribution. The stationary distribution is the left
    eigenvector of the matrix that maps a function of x and v to its mean after a step, by collocation."""
    (x, x_weights), (v, v_weights) = chebyshev(x_count, 4.2), chebyshev(v_count, 6.5)
    xs, vs = (grid.ravel() for grid in np.meshgrid(x, v, indexing="ij"))
    numbers, weights = np.polynomial.hermite_e.hermegauss(32)
    weights /= weights.sum()
    rows = []
    for number, weight in zip(numbers, weights):
        if weight < 1e-15:
            continue
        after_x, after_v = method(xs, vs, np.sqrt(2 * h) * number, h)
        after_x, after_v = np.clip(after_x, -4.2, 4.2), np.clip(after_v, -6.5, 6.5)
        rows.append((weight * interpolation(x, x_weights, after_x), interpolation(v, v_weights, after_v)))
    of_x, of_v = (np.stack(factors, axis=1) for factors in zip(*rows))
    # The sum over the numbers of the outer products, point by point.
    matrix = np.eye(xs.size) - (of_x.transpose(0, 2, 1) @ of_v).reshape(xs.size, xs.size)
    matrix[:, 0] = 1.0
    stationary = np.linalg.solve(matrix.T, np.eye(xs.size)[0])
    return {"xx": stationary @ xs**2 - SQUARE, "vv": stationary @ vs**2 - 1, "virial": stationary @ (xs**4 - xs**2) - 1}


class ThermalReducedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        recipe = resolved(RECIPE)
        cls.claims = {claim["name"]: claim for claim in recipe["claims"]}
        cls.slopes = {slope["name"]: slope for slope in recipe["study"]["slopes"]}
        cases = {case["name"]: case for case in recipe["integrators"]}
        cls.means = {
            label: mean_errors(METHODS[label[:-2]], case["step"]) for label, case in cases.items() if label != "fine"
        }

    def test_positions_by_the_stationary_distribution(self):
        count = 0
        for name, claim in self.claims.items():
            if name.startswith("positions-of-"):
                mean = self.means[name.removeprefix("positions-of-")]["xx"]
                self.assertAlmostEqual(claim["expect"], mean, delta=2e-5)
                count += 1
        self.assertEqual(count, 5)

    def test_slopes_by_the_exact_errors(self):
        h = np.log([0.2, 0.3, 0.4])
        for method in METHODS:
            claim = self.claims[f"slope-of-{method}"]
            slope = self.slopes[method.replace("-", "_")]
            error = {"virial": 0.0028, "vv": 0.0018}[slope["of"]]  # standard error of the mean, at any step
            means = np.array([self.means[label][slope["of"]] for label in slope["cases"]])
            weights = (means / error) ** 2
            centred = h - weights @ h / weights.sum()
            expected = (weights * centred) @ np.log(np.abs(means)) / (weights @ centred**2)
            self.assertAlmostEqual(claim["expect"], expected, delta=0.02)
            self.assertAlmostEqual(claim["tolerance"], 3.3 / np.sqrt(weights @ centred**2), delta=0.03)


if __name__ == "__main__":
    unittest.main()
