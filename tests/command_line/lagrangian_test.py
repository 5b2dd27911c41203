"""Systems given by a Lagrangian: comparison with an independent integration, and messages for invalid ones."""

import unittest

import h5py
import numpy as np

from oracles import exact_path
from program import FolderTest, ask, changed

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
        {"method": "exact", "on": "open"},
        {"method": "gauss", "stages": 3, "on": "open"},
        {"method": "rk4", "on": "open"},
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
    def test_a_double_pendulum_agrees_with_an_independent_integration(self):
        self.assert_code(self.run_recipe(PENDULUM), 0)
        start = PENDULUM["system"]["q0"] + PENDULUM["system"]["v0"]
        # The error of Gauss 3 at this step is 1e-11 (1.2e-8 at 0.025, order 6), that of rk4 1e-6.
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-9), ("rk4", 1e-5)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                time, q, p = (group[name][...] for name in ("time", "q", "p"))
                speed, energy = group["speed"][...], group["energy_total"][...]
                dissipated = group["energy_dissipated"][-1]
            a, b, va, vb = exact_path(double_pendulum, time, start)
            c = np.cos(a - b)
            self.assertLess(np.abs(q[:, :, 0] - np.stack([a, b], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(p[:, :, 0] - np.stack([2 * va + c * vb, vb + c * va], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(speed - vb).max(), tolerance, label)
            self.assertLess(np.abs(energy - energy[0]).max(), 10 * tolerance, label)
            self.assertGreater(dissipated, 0.1, label)

    def test_forces_and_a_drive_do_work(self):
        driven = changed(
            PENDULUM,
            system={
                "damping": [0.0, 0.0],
                "force": ["-0.1*a_dot - 0.05*(a_dot - b_dot)*(1 + b^2)", "-0.05*(b_dot - a_dot) + sin(t)"],
                "drive": ["2*sin(3*t)", "0"],
            },
        )
        self.assert_code(self.run_recipe(driven), 0)

        def motion(t, state):
            a, b, va, vb = state[:4]
            fa = -0.1 * va - 0.05 * (va - vb) * (1 + b**2) + 2 * np.sin(3 * t)
            fb = -0.05 * (vb - va) + np.sin(t)
            c, s = np.cos(a - b), np.sin(a - b)
            own = [-(vb**2) * s - 2 * G * np.sin(a), va**2 * s - G * np.sin(b)]
            return [va, vb, *np.linalg.solve([[2.0, c], [c, 1.0]], [own[0] + fa, own[1] + fb]), va * fa + vb * fb]

        start = PENDULUM["system"]["q0"] + PENDULUM["system"]["v0"] + [0.0]
        end = exact_path(motion, [2.0], start)[:, -1]
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-9), ("rk4", 1e-5)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                self.assertLess(np.abs(group["q"][-1, :, 0] - end[:2]).max(), tolerance, label)
                self.assertLess(abs(group["energy_work"][-1] - end[4]), 10 * tolerance, label)
                self.assertLess(np.ptp(group["energy_total"][...]), 10 * tolerance, label)

    def test_an_action_makes_a_contact_system(self):
        contact = changed(
            PENDULUM,
            system={
                "L": PENDULUM["system"]["L"] + " - 0.2*z + 0.05*sin(z)*a_dot",
                "damping": [0.0, 0.0],
                "z0": 0.3,
                "force": ["0.5*sin(t)", "0"],
            },
            time={"step": 0.01, "steps": 100},
            integrators=[
                {"method": "exact", "on": "open"},
                {"method": "gauss", "stages": 3, "on": "open"},
                {"method": "lobatto", "stages": 3, "on": "open"},
                {"method": "herglotz", "on": "open"},
            ],
        )
        self.assert_code(self.run_recipe(contact), 0)

        def motion(t, state):
            q, p, z = state[:2], state[2:4], state[4]
            c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
            v = np.linalg.solve([[2.0, c], [c, 1.0]], p - [0.05 * np.sin(z), 0.0])
            gravity = 2 * G * np.cos(q[0]) + G * np.cos(q[1])
            value = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * c + gravity - 0.2 * z + 0.05 * np.sin(z) * v[0]
            by_z = -0.2 + 0.05 * np.cos(z) * v[0]
            by_q = np.array([-v[0] * v[1] * s - 2 * G * np.sin(q[0]), v[0] * v[1] * s - G * np.sin(q[1])])
            return [*v, *(by_q + by_z * p + [0.5 * np.sin(t), 0.0]), value]

        c = np.cos(1.3)
        start = [0.8, -0.5, 2 * 0.2 + 0.4 * c + 0.05 * np.sin(0.3), 0.4 + 0.2 * c, 0.3]
        end = exact_path(motion, [1.0], start)[:, -1]
        # Orders 6, 4 and 1 with the step 0.01; the first two as on the double pendulum without z.
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-9), ("lobatto", 1e-6), ("herglotz", 0.2)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                found = [*group["q"][-1, :, 0], *group["p"][-1, :, 0], group["z"][-1]]
                self.assertLess(np.abs(found - end).max(), tolerance, label)
                self.assertEqual(list(group["hamiltonian"][...]), list(group["energy_particles"][...]))
                self.assertGreater(np.abs(group["energy_dissipated"][-1]), 0.1, label)
                if label != "herglotz":
                    self.assertLess(np.ptp(group["energy_total"][...]), 10 * tolerance, label)
        # The same bits after a stop at any step.
        (self.folder / "result.h5").rename(self.folder / "one.h5")
        self.assert_code(self.run_recipe(contact, "--wall-time", "1e-6"), 85)
        self.assert_code(ask(["resume", self.folder / "result.h5", "--progress", "none"]), 0)
        self.assert_same_bits(self.folder / "one.h5", self.folder / "result.h5")

    def test_a_section_of_a_lagrangian_is_that_of_the_potential(self):
        formula = changed(
            PENDULUM,
            system={"kind": "formula", "V": "x^4/4 + x^2*y^2 + y^2/2", "masses": [2.0, 0.5], "coordinates": ["x", "y"]},
            output={"work_rules": True},
            integrators=[{"method": "gauss", "stages": 3, "on": "open"}],
            time={"step": 0.05, "steps": 400},
        )
        del formula["system"]["L"], formula["system.observables.speed"]
        formula["output.poincare_section"] = {"of": "y"}
        typed = changed(formula, system={"kind": "lagrangian", "L": "x_dot^2 + y_dot^2/4 - x^4/4 - x^2*y^2 - y^2/2"})
        del typed["system"]["V"], typed["system"]["masses"]
        names = ("poincare_time", "poincare_q", "poincare_p", "ledger_hermite", "ledger_left")
        found = []
        for recipe in formula, typed:
            self.assert_code(self.run_recipe(recipe), 0)
            with h5py.File(self.folder / "result.h5") as file:
                found.append([file["gauss"][name][...] for name in names])
        self.assertGreater(len(found[0][0]), 3)
        for one, other, name in zip(*found, names):
            self.assertEqual(one.shape, other.shape, name)
            self.assertLess(np.abs(one - other).max(), 1e-10, name)

    def test_a_bath_is_attached_to_its_coordinates(self):
        bath = {"kind": "heat-bath", "attach": 1, "oscillators": 40, "omega_max": 20.0, "damping": 0.3}
        formula = changed(
            PENDULUM,
            system={"kind": "formula", "V": "x^4/4 + x^2*y^2 + y^2/2", "masses": [2.0, 0.5], "coordinates": ["x", "y"]},
            integrators=[
                {"method": "gamma", "gamma": 0.5, "on": "closed"},
                {"method": "gauss", "stages": 2, "on": "closed"},
            ],
            environments=[bath],
        )
        del formula["system"]["L"], formula["system.observables.speed"], formula["system"]["damping"]
        typed = changed(formula, system={"kind": "lagrangian", "L": "x_dot^2 + y_dot^2/4 - x^4/4 - x^2*y^2 - y^2/2"})
        del typed["system"]["V"], typed["system"]["masses"]
        found = []
        for recipe in formula, typed:
            self.assert_code(self.run_recipe(recipe), 0)
            with h5py.File(self.folder / "result.h5") as file:
                names = ("q", "p", "energy_environment", "energy_total")
                found.append([file[label][name][...] for label in ("gamma", "gauss") for name in names])
        for one, other in zip(*found):
            self.assertLess(np.abs(one - other).max(), 1e-11)
        self.assertGreater(found[1][2][-1], 0.01)
        # The double pendulum: the bath gains the energy that it loses, to the order of the method.
        pendulum = changed(PENDULUM, integrators=formula["integrators"], environments=[bath])
        ranges = []
        for step, steps in (0.01, 200), (0.005, 400):
            self.assert_code(self.run_recipe(changed(pendulum, time={"step": step, "steps": steps})), 0)
            with h5py.File(self.folder / "result.h5") as file:
                self.assertGreater(file["gauss"]["energy_environment"][-1], 0.1)
                ranges.append([np.ptp(file[label]["energy_total"][...]) for label in ("gamma", "gauss")])
        for at, order in enumerate((2.0, 4.0)):
            self.assertAlmostEqual(np.log2(ranges[0][at] / ranges[1][at]), order, delta=0.3)

    def test_the_same_bits_after_a_stop_and_round_off_on_other_ranks(self):
        closed = changed(
            PENDULUM,
            integrators=[
                {"method": "gamma", "gamma": 0.5, "on": "closed"},
                {"method": "gauss", "stages": 2, "on": "closed"},
            ],
            environments=[
                {"kind": "spring-mass-line", "attach": 0, "sites": 300, "grid": "characteristic", "damping": 0.8}
            ],
        )
        for ranks in 1, 3:
            whole = self.folder / f"whole{ranks}.h5"
            self.assert_code(self.run_recipe(closed, ranks=ranks), 0)
            (self.folder / "result.h5").rename(whole)
            self.assert_code(self.run_recipe(closed, "--wall-time", "1e-6", ranks=ranks), 85)
            resumed = ask(["resume", self.folder / "result.h5", "--progress", "none"], ranks=ranks)
            self.assert_code(resumed, 0)
            self.assert_same_bits(whole, self.folder / "result.h5")
            (self.folder / "result.h5").unlink()
        with h5py.File(self.folder / "whole1.h5") as one, h5py.File(self.folder / "whole3.h5") as three:
            for label in "gamma", "gauss":
                np.testing.assert_allclose(one[label]["q"][...], three[label]["q"][...], rtol=0.0, atol=1e-11)
        with h5py.File(self.folder / "whole1.h5") as file:
            for label in "gamma", "gauss":
                energy = file[label]["energy_total"][...]
                self.assertLess(np.abs(energy - energy[0]).max(), 2e-2, label)
                self.assertGreater(file[label]["energy_environment"][-1], 0.1, label)

    def test_an_unexplained_ledger_gives_a_warning(self):
        # A planet that passes its sun within a few steps: every formulation of the system gives the same warning.
        typed = changed(
            PENDULUM,
            system={
                "coordinates": ["x", "y"],
                "L": "(x_dot^2 + y_dot^2)/2 + 1/sqrt(x^2 + y^2)",
                "damping": [0.0, 0.0],
                "q0": [1.0, 0.0],
                "v0": [0.0, 0.5],
            },
            time={"step": 0.3, "steps": 300},
            integrators=[{"method": "lobatto", "stages": 2, "on": "open"}],
        )
        del typed["system.observables.speed"]
        formula = changed(typed, system={"kind": "formula", "V": "-1/sqrt(x^2 + y^2)", "masses": [1.0, 1.0]})
        del formula["system"]["L"]
        told = [self.run_recipe(recipe) for recipe in (typed, formula)]
        self.assertIn("energy_total drifts by", told[0].text)
        self.assertEqual(told[0].text, told[1].text)
        # A close encounter does not explain a wrong energy later.
        falling = changed(
            formula,
            system={"v0": [0.0, 0.05]},
            time={"step": 0.05, "steps": 400},
            integrators=[{"method": "rk4", "on": "open"}],
        )
        self.assertIn("energy_total drifts by", self.run_recipe(falling).text)
        # In polar coordinates, with masses that depend on the distance, a small step gives no warning.
        polar = changed(
            typed,
            system={"coordinates": ["r", "phi"], "L": "(r_dot^2 + r^2*phi_dot^2)/2 + 1/r"},
            time={"step": 0.005, "steps": 2000},
        )
        quiet = self.run_recipe(polar)
        self.assert_code(quiet, 0)
        self.assertNotIn("energy_total drifts by", quiet.text)

    def test_unsupported_recipes_give_one_message(self):
        cases = (
            (
                {"integrators": [{"method": "stoermer-verlet", "on": "open"}]},
                {},
                r"`stoermer-verlet`: it splits kinetic and potential energy",
            ),
            ({"study": {"kind": "ensemble", "realisations": 1}}, {}, r"needs masses and a potential"),
            ({}, {"L": "a_dot*b - b_dot*a"}, r"L: .*degenerate .*d2L/dv2 is singular"),
            ({"output.poincare_section": {"of": "b"}}, {"L": "a_dot^2 + b_dot^2 - z"}, r"not the action z"),
            ({"integrators": [{"method": "yoshida4", "on": "open"}]}, {"L": "a_dot^2 + b_dot^2 - z"}, r"cannot advance the action z"),
            (
                {"environments": [{"kind": "spring-mass-line", "attach": 0, "sites": 9, "M": 1.0, "lambda": 1.0}]},
                {"L": "a_dot^2 + b_dot^2 - z"},
                r"a contact system runs open, without environments",
            ),
            ({"integrators": [{"method": "herglotz", "on": "open"}]}, {}, r"kind `lagrangian` whose L depends on z"),
            ({}, {"z0": 0.5}, r"`z0` is the initial action, but L does not depend"),
            ({}, {"force": ["z", "0"], "L": "a_dot^2 + b_dot^2 - z"}, r"force\[0\] depends on the action `z`"),
            ({}, {"force": ["a"]}, r"`force` has 1 formula\(s\) for 2 coordinates"),
            ({}, {"force": ["a", "c"]}, r"force\[1\]: unknown name `c`"),
            ({}, {"drive": ["t", "1/t"]}, r"drive\[1\]: the formula has no finite value at the start"),
            ({}, {"L": "a_dot^2 + log(b)"}, r"L: L has no finite value at the start: log\(-0\.5\)"),
            ({}, {"L": "a_dot^2 + b_dot^2 + c_dot"}, r"unknown name `c_dot`"),
        )
        for changes, system, words in cases:
            self.assert_mistake(changed(PENDULUM, **changes, system=system), words)

    def test_a_lagrangian_that_becomes_degenerate_is_a_numerical_failure(self):
        system = {"L": "(a_dot^2 + a*b_dot^2)/2", "q0": [0.55, 0.0], "v0": [-1.0, 0.0], "damping": [0.0, 0.0]}
        for integrator in {"method": "gauss", "stages": 2}, {"method": "lobatto", "stages": 4}:
            outcome = self.run_recipe(changed(PENDULUM, system=system, integrators=[integrator | {"on": "open"}]))
            self.assert_code(outcome, 3)
            self.assertRegex(outcome.err, r"step \d+ failed: the Lagrangian is degenerate at t = .*\(L = ")

    def test_describe(self):
        self.assertIn("L(", ask(["describe", "gamma"]).out)
        self.assertIn("lagrangian (system)", ask(["describe", "lagrangian"]).out)


if __name__ == "__main__":
    unittest.main()
