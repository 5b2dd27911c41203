"""Systems with a typed Lagrangian, from outside: against an independent integration, and what is said of bad ones."""

import unittest

import h5py
import numpy as np
from scipy.integrate import solve_ivp

from program import FolderTest, changed, run, write_recipe

G = 9.81
PENDULUM = {
    "title": "Double pendulum, typed",
    "system": {
        "kind": "lagrangian",
        "coordinates": ["a", "b"],
        "L": "a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b) + 2*g*cos(a) + g*cos(b)",
        "damping": [0.15, 0.05],
        "q0": [0.8, -0.5],
        "v0": [0.2, 0.4],
    },
    "system.parameters": {"g": G},
    "system.observables.speed": {"formula": "b_dot", "units": "1/s"},
    "time": {"step": 0.01, "steps": 200},
    "integrators": [
        {"name": "exact", "on": "open"},
        {"name": "gauss", "stages": 3, "on": "open"},
        {"name": "rk4", "on": "open"},
    ],
}


def double_pendulum(_, state):
    """By Newton's equations, solved for the accelerations."""
    a, b, va, vb = state
    c, s = np.cos(a - b), np.sin(a - b)
    mass = np.array([[2.0, c], [c, 1.0]])
    force = [-(vb**2) * s - 2 * G * np.sin(a) - 0.15 * va, va**2 * s - G * np.sin(b) - 0.05 * vb]
    return [va, vb, *np.linalg.solve(mass, force)]


class LagrangianTest(FolderTest):
    def run_recipe(self, recipe, *arguments, command="run", ranks=None):
        path = write_recipe(self.folder / "recipe.toml", recipe)
        output = ["-o", self.folder / "result.h5", "--overwrite", "--progress", "none"] if command == "run" else []
        return run([command, path, *output, *arguments], ranks=ranks)

    def test_a_double_pendulum_is_what_an_independent_integration_gives(self):
        self.assert_code(self.run_recipe(PENDULUM), 0)
        start = PENDULUM["system"]["q0"] + PENDULUM["system"]["v0"]
        # The error of Gauss 3 at this step is 1e-11 (1.2e-8 at 0.025, order 6), that of rk4 1e-6.
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-9), ("rk4", 1e-5)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                time, q, p = (group[name][...] for name in ("time", "q", "p"))
                speed, energy = group["speed"][...], group["energy_total"][...]
                taken = group["energy_dissipated"][-1]
            a, b, va, vb = solve_ivp(
                double_pendulum, (0.0, time[-1]), start, "DOP853", t_eval=time, rtol=1e-13, atol=1e-14
            ).y
            c = np.cos(a - b)
            self.assertLess(np.abs(q[:, :, 0] - np.stack([a, b], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(p[:, :, 0] - np.stack([2 * va + c * vb, vb + c * va], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(speed - vb).max(), tolerance, label)
            self.assertLess(np.abs(energy - energy[0]).max(), 10 * tolerance, label)
            self.assertGreater(taken, 0.1, label)

    def test_the_same_bits_on_three_ranks_and_after_a_stop(self):
        closed = changed(
            PENDULUM,
            integrators=[
                {"name": "gamma", "gamma": 0.5, "on": "closed"},
                {"name": "gauss", "stages": 2, "on": "closed"},
            ],
            environment=[
                {"kind": "spring-mass-line", "attach": 0, "sites": 300, "grid": "characteristic", "damping": 0.8}
            ],
        )
        self.assert_code(self.run_recipe(closed), 0)
        (self.folder / "result.h5").rename(self.folder / "one.h5")
        outcome = self.run_recipe(closed, "--wall-time", "1e-6", ranks=3)
        self.assert_code(outcome, 85)
        self.assert_code(run(["resume", self.folder / "result.h5", "--progress", "none"]), 0)
        self.assert_same_bits(self.folder / "one.h5", self.folder / "result.h5")
        with h5py.File(self.folder / "one.h5") as file:
            for label in "gamma", "gauss":
                energy = file[label]["energy_total"][...]
                self.assertLess(np.abs(energy - energy[0]).max(), 2e-2, label)
                self.assertGreater(file[label]["energy_environment"][-1], 0.1, label)

    def test_what_cannot_be_run_gives_one_clear_line(self):
        cases = (
            ({"integrators": [{"name": "stoermer-verlet", "on": "open"}]}, {}, r"kinetic and with the potential energy"),
            ({"study": {"kind": "ensemble"}}, {}, r"needs masses and a potential"),
            ({}, {"L": "a_dot*b - b_dot*a"}, r"recipe.toml:\d+:\d+: L: .*degenerate .*d2L/dv2 is singular"),
            ({}, {"L": "a_dot^2 + log(b)"}, r"recipe.toml:\d+:\d+: L: L has no finite value at the start: log\(-0\.5\)"),
            ({}, {"L": "a_dot^2 + b_dot^2 + c_dot"}, r"unknown name `c_dot`"),
        )
        for changes, system, words in cases:
            recipe = changed(PENDULUM, **changes, system=system) if system else changed(PENDULUM, **changes)
            outcome = self.run_recipe(recipe, command="check")
            self.assert_code(outcome, 2)
            self.assertRegex(outcome.err, words)

    def test_a_degenerate_lagrangian_on_the_way_is_a_numerical_failure(self):
        system = {
            "L": "(a_dot^2 + a*b_dot^2)/2",
            "q0": [0.55, 0.0],
            "v0": [-1.0, 0.0],
            "damping": [0.0, 0.0],
        }
        for integrator in {"name": "gauss", "stages": 2}, {"name": "lobatto", "stages": 4}:
            outcome = self.run_recipe(changed(PENDULUM, system=system, integrators=[integrator | {"on": "open"}]))
            self.assert_code(outcome, 3)
            self.assertRegex(outcome.err, r"step \d+ failed: the Lagrangian is degenerate at t = .*\(L = ")

    def test_describe_tells_of_it(self):
        self.assertIn("L(", run(["describe", "gamma"]).out)
        self.assertIn("lagrangian (system)", run(["describe", "lagrangian"]).out)


if __name__ == "__main__":
    unittest.main()
