"""Theories of `ours/escape`, computed independently with a finite bath of oscillators instead of formulas."""

import sys
import unittest
from os import environ
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(environ["BATHLINE_SOURCE"]) / "tests" / "command_line"))

from program import resolved  # noqa: E402

RECIPE = Path(environ["BATHLINE_SOURCE"]) / "experiments/ours/escape.toml"
KT, BARRIER, IN_WELL = 0.05, 0.25, np.sqrt(2.0)


def rate(growth_rate, loss):
    """Escape rate for the growth rate of the unstable mode and its energy loss on the path from the barrier back to it."""
    y = np.linspace(-60.0, 60.0, 40001)
    integrand = np.log(-np.expm1(-loss / KT * (y**2 + 0.25))) / (y**2 + 0.25)
    return IN_WELL / (2 * np.pi) * np.exp(-BARRIER / KT) * growth_rate * np.exp(integrand.sum() * (y[1] - y[0]) / (2 * np.pi))


def white(friction):
    """Mel'nikov and Meshkov: energy loss by friction along x = sqrt(2) sech(t), and Kramers's rate at the barrier."""
    t = np.linspace(-30.0, 30.0, 20001)
    velocity = np.gradient(np.sqrt(2.0) / np.cosh(t), t)
    return rate(np.sqrt(friction**2 / 4 + 1) - friction / 2, friction * (velocity**2).sum() * (t[1] - t[0]))


def drude(friction, cutoff=1.0):
    """Pollak, Grabert and Hanggi: normal modes of barrier and oscillators, with the work that the anharmonic force of the
    unstable mode does on each of the others along the path at the energy of the barrier."""
    count = 400
    # Oscillators w_j with gamma(t) = sum k_j cos(w_j t), equidistant in the angle arctan(w/cutoff), with equal weights.
    w = cutoff * np.tan((np.arange(count) + 0.5) / count * np.pi / 2)
    k = np.full(count, friction * cutoff / count)
    matrix = np.diag(np.concatenate([[-1.0 + k.sum()], w**2]))
    matrix[0, 1:] = matrix[1:, 0] = -np.sqrt(k) * w
    squares, modes = np.linalg.eigh(matrix)
    growth_rate, fractions = np.sqrt(-squares[0]), modes[0] ** 2
    t = np.linspace(-35.0, 35.0, 2001) / growth_rate
    path = np.sqrt(2.0) * growth_rate / fractions[0] / np.cosh(growth_rate * t)  # of the mode; x = fraction^(1/2) path
    force = (np.sqrt(fractions[0]) * path) ** 3
    loss = 0.0
    for square, fraction in zip(squares[1:], fractions[1:]):
        transform = (force * np.cos(np.sqrt(square) * t)).sum() * (t[1] - t[0])
        loss += 0.5 * fraction * transform**2
    return rate(growth_rate, loss)


class EscapeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipe = resolved(RECIPE)

    def test_expected_values_of_claims(self):
        claims = {claim["name"]: claim for claim in self.recipe["claims"]}
        for friction in (0.05, 0.15, 0.5, 1.5, 5.0):
            label = str(friction).replace(".", "_")
            self.assertAlmostEqual(claims[f"white-{label}"]["expect"] / white(friction), 1.0, delta=1e-5)
            # The finite bath approximates the continuous spectrum to second order.
            self.assertAlmostEqual(claims[f"drude-{label}"]["expect"] / drude(friction), 1.0, delta=2e-3)
        helps = claims["memory-helps-where-friction-is-strong"]["expect"]
        self.assertAlmostEqual(helps, drude(1.5) / white(1.5), delta=2e-3)

    def test_curves_of_the_figure(self):
        curves = [series for series in self.recipe["figure"]["panels"][0]["series"] if isinstance(series["of"], list)]
        self.assertEqual(len(curves), 2)
        for curve, theory in zip(curves, (white, drude)):
            for x, y in list(zip(curve["x"], curve["of"]))[::5]:
                self.assertAlmostEqual(y / theory(x), 1.0, delta=2e-3)


if __name__ == "__main__":
    unittest.main()
