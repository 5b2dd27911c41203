"""Expected values of `ours/heat_lines`, from the motion of all sites of two long lines, and of `ours/heat_lines_eight`, from
an integral over waves that is verified by these sites, because its transient is too long for them.
"""

import sys
import unittest
from os import environ
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(environ["BATHLINE_SOURCE"]) / "tests" / "command_line"))

from program import resolved  # noqa: E402

RECIPES = Path(environ["BATHLINE_SOURCE"]) / "experiments/ours"


def covariances(sites=260, time=180.0):
    """<q q>, <q v> and <v v> of the four masses after their start at rest between two lines, each in equilibrium at its own
    temperature, at a time after the transient and before the echo."""
    mass = np.concatenate([np.full(sites, 0.5), np.ones(4), np.full(sites, 0.5)])
    count = len(mass)
    stiffness = np.zeros((count, count))
    springs = np.concatenate([np.full(sites, 2.0), np.ones(3), np.full(sites, 2.0)])
    for i, k in enumerate(springs):
        stiffness[i : i + 2, i : i + 2] += k * np.array([[1, -1], [-1, 1]])
    for i, k in ((0, 2.0), (sites, 1.0), (sites + 3, 1.0), (count - 1, 2.0)):
        stiffness[i, i] += k  # far ends and walls
    q_covariance, v_variance = np.zeros_like(stiffness), np.zeros(count)
    for begin, kt in ((0, 2.0), (sites + 4, 1.0)):
        line = slice(begin, begin + sites)
        q_covariance[line, line] = kt * np.linalg.inv(stiffness[line, line])
        v_variance[line] = kt / 0.5
    root = np.sqrt(mass)
    squares, modes = np.linalg.eigh(stiffness / np.outer(root, root))
    w, chain = np.sqrt(squares), slice(sites, sites + 4)
    from_q = (modes * np.cos(w * time)) @ modes.T * np.outer(1 / root, root)
    from_v = (modes * np.sin(w * time) / w) @ modes.T * np.outer(1 / root, root)
    v_from_q = -(modes * np.sin(w * time) * w) @ modes.T * np.outer(1 / root, root)
    q, r, s = from_q[chain], from_v[chain], v_from_q[chain]
    qq = q @ q_covariance @ q.T + (r * v_variance) @ r.T
    qv = q @ q_covariance @ s.T + (r * v_variance) @ q.T
    vv = s @ q_covariance @ s.T + (q * v_variance) @ q.T
    return qq, qv, vv


def covariances_by_waves(count):
    """<q v> and <v v> of this number of masses: the noise 2 kT Re g(i w) of both lines, transmitted by the chain and
    integrated over all w = 4 sin(angle)."""
    stiffness = 2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    nodes, weights = np.polynomial.legendre.leggauss(3000)
    angles = (nodes + 1) * np.pi / 4
    ends, kt = np.zeros(count), np.zeros(count)
    ends[[0, -1]], kt[[0, -1]] = 1.0, (2.0, 1.0)
    qv, vv = np.zeros((count, count)), np.zeros((count, count))
    for w, weight in zip(4 * np.sin(angles), np.cos(angles) * weights):
        friction = (np.sqrt(16 - w * w) - 1j * w) / 4
        response = np.linalg.inv(stiffness - w * w * np.eye(count) + 1j * w * friction * np.diag(ends))
        spectrum = (response * 2 * kt * friction.real) @ response.conj().T
        qv += weight * w * spectrum.imag
        vv += weight * w * w * spectrum.real
    return qv, vv


def recipe_and_formulas(name):
    recipe = resolved(RECIPES / f"{name}.toml")
    return recipe, {quantity["name"]: quantity["of"] for quantity in recipe["study"]["quantities"]}


class HeatLinesTest(unittest.TestCase):
    def test_eight_masses_by_waves(self):
        _, qv, vv = covariances()
        for by_waves, expected in zip(covariances_by_waves(4), (qv, vv)):
            self.assertLess(np.abs(by_waves - expected).max(), 1e-5)
        _, formulas = recipe_and_formulas("heat_lines_eight")
        qv, vv = covariances_by_waves(8)
        self.assertAlmostEqual(float(formulas["current"].split(" - ")[1]), qv[3, 4], delta=1e-12)
        for i in (0, 1, 7):
            self.assertAlmostEqual(float(formulas[f"over{i}"].split(" - ")[1]), vv[i, i], delta=1e-8)
        angle = np.arccosh(1.5)
        white = np.sinh(7 * angle) / np.sinh(8 * angle) / 2
        self.assertAlmostEqual(float(formulas["white_current"].split(" - ")[1]), white, delta=1e-12)

    def test_four_masses_by_all_sites(self):
        recipe, formulas = recipe_and_formulas("heat_lines")
        _, qv, vv = covariances()
        # Transients and finite lengths of the lines contribute less than 1e-6 at that time.
        self.assertAlmostEqual(float(formulas["current"].split(" - ")[1]), qv[1, 2], delta=1e-5)
        self.assertAlmostEqual(qv[1, 2], qv[2, 3], delta=1e-5)
        for i in range(4):
            self.assertAlmostEqual(float(formulas[f"over{i}"].split(" - ")[1]), vv[i, i], delta=1e-5)
        series = recipe["figure"]["panels"][0]["series"]
        self.assertLess(np.abs(np.array(series[3]["of"]) - np.diag(vv)).max(), 2e-5)
        white = [1 / 2 * (3 + 13 / 21), 31 / 21, 32 / 21, 25 / 21]
        self.assertLess(np.abs(np.array(series[4]["of"]) - white).max(), 1e-6)


if __name__ == "__main__":
    unittest.main()
