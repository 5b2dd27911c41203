"""The theories that `ours/escape` is claimed against, from a bath of oscillators in the place of formulas of its spectrum."""

import tomllib
import unittest
from os import environ
from pathlib import Path

import numpy as np

RECIPE = Path(environ["BATHLINE_SOURCE"]) / "experiments/ours/escape.toml"
KT, BARRIER, IN_WELL = 0.05, 0.25, np.sqrt(2.0)


def rate(at_barrier, loss):
    """Of a well whose unstable mode grows at `at_barrier` and loses `loss` on its way from the barrier and back to it."""
    y = np.linspace(-60.0, 60.0, 40001)
    integrand = np.log(-np.expm1(-loss / KT * (y**2 + 0.25))) / (y**2 + 0.25)
    return IN_WELL / (2 * np.pi) * np.exp(-BARRIER / KT) * at_barrier * np.exp(integrand.sum() * (y[1] - y[0]) / (2 * np.pi))


def white(friction):
    """Mel'nikov and Meshkov: what friction takes along x = sqrt(2) sech(t), and Kramers's rate at the barrier."""
    t = np.linspace(-30.0, 30.0, 20001)
    velocity = np.gradient(np.sqrt(2.0) / np.cosh(t), t)
    return rate(np.sqrt(friction**2 / 4 + 1) - friction / 2, friction * (velocity**2).sum() * (t[1] - t[0]))


def drude(friction, cutoff=1.0):
    """Pollak, Grabert and Hanggi, by the normal modes of barrier and oscillators, with the work that the unstable one's
    anharmonic force does on each of the others along the path at the barrier's energy."""
    count = 400
    # Oscillators w_j with gamma(t) = sum k_j cos(w_j t), evenly in the angle arctan(w/cutoff), in which weights are equal.
    w = cutoff * np.tan((np.arange(count) + 0.5) / count * np.pi / 2)
    k = np.full(count, friction * cutoff / count)
    matrix = np.diag(np.concatenate([[-1.0 + k.sum()], w**2]))
    matrix[0, 1:] = matrix[1:, 0] = -np.sqrt(k) * w
    squares, modes = np.linalg.eigh(matrix)
    grows, share = np.sqrt(-squares[0]), modes[0] ** 2
    t = np.linspace(-35.0, 35.0, 2001) / grows
    path = np.sqrt(2.0) * grows / share[0] / np.cosh(grows * t)  # of the mode; x = share^(1/2) times that
    force = (np.sqrt(share[0]) * path) ** 3
    loss = 0.0
    for square, part in zip(squares[1:], share[1:]):
        transform = (force * np.cos(np.sqrt(square) * t)).sum() * (t[1] - t[0])
        loss += 0.5 * part * transform**2
    return rate(grows, loss)


class Escape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipe = tomllib.loads(RECIPE.read_text())

    def test_claims_are_those_of_the_theories(self):
        of = {claim["name"]: claim for claim in self.recipe["claims"]}
        for friction in (0.05, 0.15, 0.5, 1.5, 5.0):
            label = str(friction).replace(".", "_")
            self.assertAlmostEqual(of[f"white-{label}"]["expect"] / white(friction), 1.0, delta=1e-5)
            # A bath of so many has the spectrum between its oscillators by a rule of order 2.
            self.assertAlmostEqual(of[f"drude-{label}"]["expect"] / drude(friction), 1.0, delta=2e-3)
        helps = of["memory-helps-where-friction-is-strong"]["expect"]
        self.assertAlmostEqual(helps, drude(1.5) / white(1.5), delta=2e-3)

    def test_curves_are_those_of_the_theories(self):
        curves = [one for one in self.recipe["figure"]["panels"][0]["series"] if isinstance(one["of"], list)]
        self.assertEqual(len(curves), 2)
        for curve, theory in zip(curves, (white, drude)):
            for x, y in list(zip(curve["x"], curve["of"]))[::5]:
                self.assertAlmostEqual(y / theory(x), 1.0, delta=2e-3)


if __name__ == "__main__":
    unittest.main()
