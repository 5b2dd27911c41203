"""A magnetic field: comparison with an independent integration, ranks, restarts, and unsupported recipes."""

import unittest

import h5py
import numpy as np

from oracles import exact_path
from program import FolderTest, ask, changed

CHARGE = {
    "title": "A charge in a trap",
    "system": {
        "kind": "formula",
        "coordinates": ["x", "y"],
        "masses": [1.0, 2.0],
        "V": "x^2/2 + x^4/4 - cos(y)",
        "force": ["-c*x_dot", "0"],
        "magnetic_field": 1.7,
        "q0": [0.4, -0.3],
        "v0": [0.2, 0.5],
    },
    "system.parameters": {"c": 0.1},
    "time": {"step": 0.02, "steps": 400},
    "integrators": [{"method": "exact", "on": "closed"}, {"method": "gauss", "stages": 3, "on": "closed"}],
}
PLANE = {
    "title": "Two charges in a plane",
    "system": {
        "kind": "pair-potential",
        "masses": [1.0, 2.0],
        "magnetic_field": -0.8,
        "q0": [[0.0, 0.0], [1.0, 0.5]],
        "v0": [[0.3, 0.0], [0.0, -0.2]],
    },
    "system.potential": {"kind": "harmonic", "k": 1.5},
    "time": {"step": 0.05, "steps": 400},
    "environments": [{"kind": "spring-mass-line", "attach": 0, "sites": 300, "grid": "characteristic", "damping": 0.4}],
    "integrators": [
        {"method": "stoermer-verlet", "on": "closed"},
        {"method": "gauss", "stages": 2, "on": "closed"},
        {"method": "rk4", "on": "closed"},
    ],
}


def charge(_, state):
    x, y, vx, vy = state
    return [vx, vy, -x - x**3 - 0.1 * vx + 1.7 * vy, (-np.sin(y) - 1.7 * vx) / 2.0]


class MagneticTest(FolderTest):
    def test_a_charge_agrees_with_an_independent_integration(self):
        self.assert_code(self.run_recipe(CHARGE), 0)
        for label, tolerance in ("exact", 1e-9), ("gauss", 1e-9):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                self.assertIn("M v", group["p"].attrs["long_name"])
                time, q, p, energy = (group[name][...] for name in ("time", "q", "p", "energy_total"))
            start = CHARGE["system"]["q0"] + CHARGE["system"]["v0"]
            x, y, vx, vy = exact_path(charge, time, start)
            self.assertLess(np.abs(q[:, :, 0] - np.stack([x, y], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(p[:, :, 0] - np.stack([vx, 2.0 * vy], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(energy - energy[0]).max(), tolerance, label)

    def test_the_same_bits_on_three_ranks_and_after_a_stop(self):
        self.assert_code(self.run_recipe(PLANE), 0)
        (self.folder / "result.h5").rename(self.folder / "one.h5")
        self.assert_code(self.run_recipe(PLANE, "--wall-time", "1e-6", ranks=3), 85)
        self.assert_code(ask(["resume", self.folder / "result.h5", "--progress", "none"]), 0)
        self.assert_same_bits(self.folder / "one.h5", self.folder / "result.h5")
        with h5py.File(self.folder / "one.h5") as file:
            for label, swing in ("stoermer-verlet", 1e-2), ("gauss", 1e-4), ("rk4", 1e-3):
                energy = file[label]["energy_total"][...]
                self.assertLess(np.abs(energy - energy[0]).max(), swing, label)
                self.assertGreater(file[label]["energy_environment"][-1], 1e-3, label)

    def test_a_line_damps_a_charge_as_its_damper_does(self):
        # Gyration is not uniform motion: the line sees the mean velocity of a drift, the damper the one after it, by up to
        # B v h/2m = 5e-3 m/s more with 0.3 m/s, which makes 2e-3 N and, in 6 s without anything else, 3.5e-2 m.
        differences = []
        for step in 0.04, 0.02:
            recipe = changed(
                PLANE,
                time={"step": step, "end": 6.0},
                study={"kind": "reduction"},
                integrators=[
                    {"method": "gamma", "on": "closed", "name": "line"},
                    {"method": "gamma", "on": "open", "name": "damper"},
                ],
            )
            del recipe["time"]["steps"]
            self.assert_code(self.run_recipe(recipe), 0)
            with h5py.File(self.folder / "result.h5") as file:
                differences.append(np.abs(file["line"]["q"][...] - file["damper"]["q"][...]).max())
        self.assertLess(differences[0], 3.5e-2)
        self.assertGreater(np.log2(differences[0] / differences[1]), 0.8)

    def test_unsupported_recipes_give_one_message(self):
        damped = changed(CHARGE, system={"damping": [0.1, 0.2]})
        del damped["system"]["force"]
        one = {"coordinates": ["x"], "masses": [1.0], "V": "x^2", "force": ["0"], "q0": [0.4], "v0": [0.2]}
        gamma = [{"method": "gamma", "on": "open"}]
        cases = (
            (changed(CHARGE, system=one), "magnetic_field: the motion must be planar"),
            (changed(PLANE, system={"q0": [0.0, 1.0], "v0": [0.0, 0.0]}), "this system has 1 axis per particle"),
            (
                changed(damped, system={"kT": 1.0}, integrators=[{"method": "baoab", "on": "open"}]),
                "supports no noise in a magnetic field",
            ),
            (changed(damped, integrators=[{"method": "herglotz", "on": "open"}]), "without a magnetic field"),
            (changed(damped, study={"kind": "commutativity"}, integrators=gamma), "magnetic_field: a study of the kind"),
            (
                changed(damped, study={"kind": "doubled-variables", "spread": 0.1}, integrators=gamma),
                r"as B\*\(x\*y_dot - y\*x_dot\)/2 in the L of a system of kind `lagrangian`",
            ),
        )
        for recipe, message in cases:
            self.assert_mistake(recipe, message, alone=True)


if __name__ == "__main__":
    unittest.main()
