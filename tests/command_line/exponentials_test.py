"""Kernels and densities as sums of exponentials: trajectories, certificates, ledger, restarts, choices and mistakes."""

import json
import re
import unittest

import h5py
import numpy as np

from oracles import star_path
from program import OSCILLATOR, FolderTest, ask, changed, checkpoints_of, variables, write_recipe

# Parameters of our own; J = D w for w < W has the kernel (2 D/pi) sin(W t)/t.
DAMPING, EDGE = 0.4, 9.0
OHMIC = {"spectral_density": f"{DAMPING}*w", "omega_max": EDGE}
MEMORY = {"name": "bath", "kind": "memory", "representation": "exponentials", "tolerance": 1e-10}
RECIPE = changed(
    OSCILLATOR,
    system={"kind": "single-oscillator", "m": 1.3, "k": 2.1, "q0": [0.9], "v0": [-0.3]},
    environments=[MEMORY | OHMIC],
    time={"step": 0.02, "steps": 750},
    integrators=[
        {"method": name, "on": "closed", "name": name, **more}
        for name, more in (("exact", {}), ("gamma", {"gamma": 0.5}), ("stoermer-verlet", {}), ("gauss", {"stages": 2}))
    ],
)


def dense_path(times, mass=1.3, stiffness=2.1, q0=0.9, v0=-0.3):
    """The trajectory by the normal modes of a particle and 700 oscillators at the nodes of a Gauss-Legendre rule."""
    nodes, weights = np.polynomial.legendre.leggauss(700)
    w = EDGE * (nodes + 1.0) / 2.0
    k = EDGE / 2.0 * weights * 2.0 / np.pi * DAMPING
    return star_path(times, w, k, mass, stiffness, q0, v0)


class Exponentials(FolderTest):
    def test_path_ledger_and_certificate(self):
        path, outcome = self.result(RECIPE, "path")
        with h5py.File(path) as file:
            times = file["exact/time"][()]
            expected = dense_path(times)
            rows = {name: values[()] for name, values in file["certificate/exact/bath"].items()}
            self.assertLessEqual(rows["kernel_error"], 1e-10)
            self.assertEqual(rows["horizon"], 15.0)
            self.assertLess(rows["exponentials"], 40)
            t = (np.arange(400_000) + 0.5) * 15.0 / 400_000
            norm = np.sum(np.abs(2.0 * DAMPING / np.pi * np.sin(EDGE * t) / t)) * 15.0 / 400_000
            self.assertAlmostEqual(rows["kernel_norm"], norm, delta=0.05 * norm)
            # A force error of that times the largest velocity, 1.2 m/s, for 15 s on an oscillator of sqrt(k m).
            bound = rows["kernel_error"] * norm * 1.2 * 15.0 / np.sqrt(2.1 * 1.3) + 1e-12
            self.assertLessEqual(np.abs(file["exact/q"][:, 0, 0] - expected).max(), bound)
            # a (2 E/k)^(1/2) error T with a = 1/m and E = (1.3 0.3^2 + 2.1 0.9^2)/2.
            energy = 0.5 * (1.3 * 0.3**2 + 2.1 * 0.9**2)
            error = rows["kernel_error"] * rows["kernel_norm"]
            self.assertAlmostEqual(rows["path_bound"] / (error * 15.0 / 1.3 * np.sqrt(2.0 * energy / 2.1)), 1.0, 12)
            self.assertTrue(np.isfinite(rows["path_bound"]))
            # The modes in the file are the kernel.
            t = np.linspace(0.01, 15.0, 3000)
            waves = np.exp(np.multiply.outer(t, -rows["rate"] + 1j * rows["frequency"]))
            kernel = waves.real @ rows["stiffness"] + waves.imag @ rows["sine"]
            wrong = np.abs(kernel - 2.0 * DAMPING / np.pi * np.sin(EDGE * t) / t)
            self.assertLess(wrong.sum() * 15.0 / 3000, 1e-10 * norm)
            # h^2 of the midpoint rule, which conserves all quadratic invariants of a linear system.
            self.assertLess(np.abs(file["gamma/q"][:, 0, 0] - expected).max(), 1e-3)
            for name, drift in (("gamma", 1e-13), ("gauss", 1e-13), ("exact", 1e-12)):
                total = file[f"{name}/energy_total"][()]
                self.assertLess(np.abs(total / total[0] - 1.0).max(), drift, name)
            self.assertLess(np.abs(file["gauss/q"][:, 0, 0] - expected).max(), 1e-6)
            self.assertEqual(np.abs(file["gauss/energy_dissipated"][()]).max(), 0.0)
            self.assertEqual(np.abs(file["gauss/energy_interaction"][()]).max(), 0.0)
            self.assertGreater(file["gauss/energy_environment"][-1], 0.9 * file["gauss/energy_total"][0])
        self.assertRegex(outcome.text, r"`bath` is \d+ exponentials: the relative error of its kernel is .* measured on intervals")

    def test_same_bits_on_any_ranks_and_after_a_restart(self):
        recipe = changed(RECIPE, output={"checkpoint_every": 300, "keep_checkpoints": 5})
        recipe["integrators"] = recipe["integrators"][1:3]
        self.assert_same_bits(*(self.result(recipe, f"on{ranks}", ranks)[0] for ranks in (1, 2)))
        self.assert_code(ask(["verify", self.folder / "on1.h5"], 2), 0)
        checkpoints = checkpoints_of(self.folder / "on1.h5")
        self.assertGreaterEqual(len(checkpoints), 3)
        for number in (0, -1):
            self.assert_resumes(self.folder / "on1.h5", checkpoints[number], 2)

    def test_tables_represent_their_lines(self):
        (self.folder / "density.txt").write_text("# w J\n2.0 0.5\n5.0 0.4 # straight lines between them\n6.5 0\n")
        rows = np.arange(0.0, 14.0, 0.05)
        table = np.c_[rows, 0.9 * np.exp(-1.3 * rows) * np.cos(2.0 * rows)]
        table[-1, 1] = 0.0
        np.savetxt(self.folder / "kernel.txt", table)
        # The kinks of so coarse a table have no short sum of exponentials with a smaller tolerance.
        tolerances = {"density": 1e-8, "kernel": 4e-3}
        files = {"density": "spectral_density_file", "kernel": "kernel_file"}
        recipe = changed(
            RECIPE,
            environments=[
                MEMORY | {"name": name, "tolerance": tolerances[name], files[name]: f"{name}.txt"} for name in files
            ],
            integrators=[{"method": "exact", "on": "closed", "name": name, "environments": [name]} for name in files],
        )
        path, _ = self.result(recipe, "tables")
        t = (np.arange(15_000) + 0.5) * 1e-3
        # (2/pi) integral of J/w cos(w t), and the lines themselves.
        w = (np.arange(65_000) + 0.5) * 1e-4
        density = np.interp(w, [0.0, 2.0, 5.0, 6.5], [0.0, 0.5, 0.4, 0.0])
        expected = {
            "density": [2.0 / np.pi * np.sum(density / w * np.cos(w * time)) * 1e-4 for time in t[::10]],
            "kernel": np.interp(t[::10], *table.T, right=0.0),
        }
        with h5py.File(path) as file:
            for name in files:
                self.assertIn(f"input_file:{name}.txt", file.attrs)
                rows = {key: values[()] for key, values in file[f"certificate/{name}/{name}"].items()}
                self.assertLessEqual(rows["kernel_error"], tolerances[name])
                waves = np.exp(np.multiply.outer(t[::10], -rows["rate"] + 1j * rows["frequency"]))
                kernel = waves.real @ rows["stiffness"] + waves.imag @ rows["sine"]
                error = np.sum(np.abs(kernel - expected[name])) * 1e-2
                self.assertAlmostEqual(rows["kernel_norm"], np.sum(np.abs(expected[name])) * 1e-2, 2)
                # The quadrature rule of the density in this test has an error of second order in its step.
                self.assertLess(error, (tolerances[name] + 1e-8) * rows["kernel_norm"], name)
                total = file[f"{name}/energy_total"][()]
                self.assertLess(np.abs(total / total[0] - 1.0).max(), 1e-10, name)

    def test_the_smallest_representation_is_chosen(self):
        def chosen(message, **environment):
            recipe = changed(RECIPE, environments=[{"name": "bath", "kind": "memory"} | environment])
            recipe["integrators"] = recipe["integrators"][2:3]
            outcome = self.result(recipe, "free")[1]
            self.assertRegex(outcome.text, message)

        chosen(r"is \d+ exponentials, by default, since a star or a chain needs \d+ parts", **OHMIC)
        chosen("is 1 exponential, by default, since a star or chain would be too large", kernel="0.5*exp(-3*t)")
        chosen("is a star of .*, by default, since a star is warm under every method", kT=0.3, **OHMIC)
        chosen("is 1 exponential, by default, since a star or chain would be too large", kernel="2*exp(-2*t)", kT=1.0)
        chosen("is a star of .*, by default, since there is no short sum of exponentials", kernel="exp(-t^2)+0.4*exp(-(t-11)^2)")

    def test_passive_exponentials_may_have_a_temperature(self):
        recipe = changed(RECIPE, environments=[MEMORY | {"kernel": "0.5*exp(-3*t)", "kT": 0.4}])
        recipe["integrators"] = recipe["integrators"][1:3]
        by_hand = {"name": "bath", "kind": "memory", "stiffness": [0.5], "rate": [3.0], "frequency": [0.0]}
        twin = changed(recipe, environments=[by_hand | {"kT": 0.4}])
        left_out = changed(recipe)
        left_out["environments"][0].pop("representation")
        for one_recipe in (recipe, left_out):
            with h5py.File(self.result(one_recipe, "warm")[0]) as one, h5py.File(self.result(twin, "twin")[0]) as other:
                for name in ("gamma", "stoermer-verlet"):
                    # The fitted stiffness and rate agree to 1e-10, and the noise is the same.
                    self.assertLess(np.abs(one[f"{name}/q"][()] - other[f"{name}/q"][()]).max(), 1e-8)
                    self.assertGreater(one[f"{name}/energy_dissipated"][-1], 0.01)

    def noisy_table(self):
        """A damped oscillation with 1 % of noise, as measured kernels have it; it does not end with 0."""
        times = np.arange(0.0, 10.0, 0.05)
        noise = np.random.default_rng(7).normal(size=len(times))
        values = 3.0 * np.exp(-0.7 * times) * np.cos(2.0 * times) + 0.03 * noise
        np.savetxt(self.folder / "noisy.txt", np.c_[times, values])
        return times, values

    def test_a_noisy_kernel_has_a_nearest_passive_one(self):
        times, values = self.noisy_table()
        for kt in (0.0, 0.4):
            noisy = {"name": "bath", "kind": "memory", "kernel_file": "noisy.txt", "tolerance": 0.15, "fit": "passive"}
            recipe = changed(RECIPE, environments=[noisy | {"kT": kt}])
            recipe["integrators"] = recipe["integrators"][1:3]
            path, outcome = self.result(recipe, f"noisy{kt}")
            with h5py.File(path) as file:
                rows = {name: numbers[()] for name, numbers in file["certificate/gamma/bath"].items()}
                total = file["gamma/energy_total"][()]
                self.assertLess(np.abs(total / total[0] - 1.0).max(), 1e-10)
            self.assertLessEqual(rows["kernel_error"], 0.15)
            self.assertLessEqual(rows["exponentials"], 4)
            self.assertGreater(rows["stiffness"].min(), 0.0)
            self.assertEqual(np.abs(rows["sine"]).max(), 0.0)
            t = (np.arange(150_000) + 0.5) * 1e-4
            exact = np.interp(t, times, values, right=0.0)
            fitted = sum(k * np.exp(-r * t) * np.cos(w * t) for k, r, w in zip(rows["stiffness"], rows["rate"], rows["frequency"]))
            self.assertAlmostEqual(rows["kernel_error"], np.abs(fitted - exact).sum() / np.abs(exact).sum(), delta=2e-3)
            # That of the kernel without noise, 3 0.7/(0.7^2 + 2^2).
            damping = np.sum(rows["stiffness"] * rows["rate"] / (rows["rate"] ** 2 + rows["frequency"] ** 2))
            self.assertAlmostEqual(damping, 2.1 / 4.49, delta=0.03)
            self.assertRegex(outcome.text, r"`bath` is \d decaying cosines?, a passive kernel at a distance of 0\.\d+ over 15 s")

    def test_advice_is_valid(self):
        """What a refusal proposes is tried: every method, and every change of keys, is accepted."""
        self.noisy_table()
        (self.folder / "corners.txt").write_text("0 1\n0.5 0.6\n1.5 0.25\n3 0\n")
        warm = {"stiffness": [2.0], "rate": [2.0], "frequency": [0.0], "kT": 1.0}
        exponential = {"kernel": "2*exp(-2*t)", "kT": 1.0}
        ohmic = OHMIC | {"representation": "exponentials"}
        star = {"representation": "star"}
        cases = [
            ("yoshida4", warm),
            ("rk4", warm),
            ("exact", warm),
            ("yoshida4", exponential),
            ("yoshida4", ohmic),
            ("stoermer-verlet", warm | {"quantum": True, "hbar": 1.0, "rate": [20.0]}),
            ("lobatto", warm | {"stiffness": [2.0, 1.0], "rate": [2.0, 1.0], "frequency": [0.0, 3.0], "kT": 0.0}),
            ("gamma", {"kernel_file": "noisy.txt", "tolerance": 0.01}),
            ("gamma", {"kernel_file": "noisy.txt", "tolerance": 0.01, "kT": 0.3}),
            ("gamma", {"kernel_file": "noisy.txt", "tolerance": 0.01, "fit": "passive"}),
            ("gamma", {"kernel_file": "noisy.txt"} | star),
            ("gamma", {"kernel_file": "corners.txt"}),
            ("gamma", {"kernel_file": "corners.txt"} | star),
            ("gamma", exponential | star),
            ("gamma", exponential | star | {"horizon": 4000.0}),
            ("gamma", ohmic | {"kT": 0.2}),
        ]
        for method, keys in cases:
            with self.subTest(method=method, keys=keys):
                bath = {"name": "bath", "kind": "memory"} | keys
                integrator = {"method": method, "on": "closed", "name": "run"}
                if method == "lobatto":
                    integrator["stages"] = 3
                self.follow(changed(RECIPE, environments=[bath], integrators=[integrator]))

    def follow(self, recipe):
        outcome = ask(["check", write_recipe(self.folder / "refused.toml", recipe)])
        self.assert_code(outcome, 2)
        message = next(line for line in outcome.text.splitlines() if line.startswith("error:"))
        advice = re.findall(r"(?:; use|, or use|; give `bath`) ([^;]*)", message)
        self.assertTrue(advice, message)
        for words in advice:
            for change in words.split(", or "):
                self.try_change(recipe, change, message)

    def try_change(self, recipe, change, message):
        methods = re.findall(r"`([\w-]+)`", change)
        keys = re.findall(r'(representation|tolerance|fit|horizon) = ("\w+"|[\d.e+-]+\d)', change)
        self.assertTrue(methods or keys, message)
        for method in methods:
            trial = changed(recipe, integrators=[{"method": method, "on": "closed", "name": "run"}])
            self.assert_code(ask(["check", write_recipe(self.folder / "followed.toml", trial)]), 0)
        if keys:
            bath = recipe["environments"][0] | {key: json.loads(value) for key, value in keys}
            # The step is chosen for the environment.
            trial = changed(recipe, environments=[bath], time=recipe["time"] | {"step": 0.002})
            self.assert_code(ask(["check", write_recipe(self.folder / "followed.toml", trial)]), 0)

    def test_a_passive_sum_may_have_a_temperature(self):
        def covariance(kernel, environment=(), **integrator):
            memory = {"kind": "memory", "name": "bath", "representation": "exponentials", "kT": 0.4}
            recipe = changed(
                RECIPE, environments=[memory | kernel, *environment], study={"kind": "covariance"}, time={"step": 0.2, "steps": 500}
            )
            recipe["integrators"] = [{"on": "closed", "name": "run"} | integrator]
            path, _ = self.result(recipe, "warm")
            found = variables(path)
            return {name: found[f"covariance/run/{name}"].item() for name in ("qq", "vv")} | {
                name: values.item() for name, values in found.items() if name.startswith("certificate/run/bath/noise")
            }

        # kT/k and kT/m, with any step.
        for density in ({"spectral_density": "w*exp(-w)"}, {"spectral_density": "0.3*w^3*exp(-w^2/4)"}):
            for integrator in ({"method": "time-centred"}, {"method": "gauss", "stages": 3}):
                found = covariance(density | {"tolerance": 1e-7}, **integrator)
                self.assertAlmostEqual(found["qq"], 0.4 / 2.1, delta=1e-10)
                self.assertAlmostEqual(found["vv"], 0.4 / 1.3, delta=1e-10)
                self.assertLess(found["certificate/run/bath/noise_error"], 1e-9)

    def test_quantum_noise_of_a_kernel_is_that_of_its_modes(self):
        by_hand = {"name": "bath", "kind": "memory", "stiffness": [0.5], "rate": [3.0], "frequency": [0.0]}
        quantum = {"quantum": True, "hbar": 1.0, "kT": 0.1}
        recipe = changed(RECIPE, environments=[MEMORY | {"kernel": "0.5*exp(-3*t)"} | quantum])
        recipe["integrators"] = recipe["integrators"][1:2]
        recipe["environments"][0].pop("representation")
        twin = changed(recipe, environments=[by_hand | quantum])
        with h5py.File(self.result(recipe, "kernel")[0]) as one, h5py.File(self.result(twin, "twin")[0]) as other:
            self.assertLess(np.abs(one["gamma/q"][()] - other["gamma/q"][()]).max(), 1e-8)
            self.assertGreater(np.abs(one["gamma/energy_dissipated"][-1]), 0.01)


class Mistakes(FolderTest):
    def refused(self, message, integrator=None, **environment):
        recipe = changed(RECIPE, environments=[{"name": "bath", "kind": "memory"} | environment])
        recipe["integrators"] = [integrator or {"method": "gamma", "gamma": 0.5, "on": "closed", "name": "closed"}]
        self.assert_mistake(recipe, message, 2)

    def test_every_one_is_a_line(self):
        asked = {"representation": "exponentials"}
        self.refused(
            r"kernel: it has no short sum of exponentials: .*kernels with an echo.*\"star\" or \"chain\"",
            kernel="exp(-t^2)+0.4*exp(-(t-11)^2)",
            **asked,
        )
        self.refused("J is -.*passive environment is not negative", kernel="exp(-t^2)-0.7*exp(-t^2/9)", **asked)
        (self.folder / "corners.txt").write_text("0 1\n0.5 0.6\n1.5 0.25\n3 0\n")
        self.refused("kinks of a coarse table; as a star .* too many oscillators; use ", kernel_file="corners.txt")
        star = {"representation": "star"}
        self.refused("too many oscillators; use ", kernel_file="corners.txt", **star)
        self.refused('too slowly for a star or a chain.*"exponentials"', kernel="1/sqrt(1+t)", **star)
        self.refused("the kernel does not decay", kernel="cos(t)^2")
        self.refused('is not passive and has no noise.*; use representation = "star" or "chain"', kT=0.2, **asked, **OHMIC)
        self.refused('quantum noise needs representation = "exponentials"', quantum=True, **star, **OHMIC)
        backwards = {"method": "yoshida4", "on": "closed", "name": "closed"}
        self.refused('cannot run backwards.*representation = "star"', integrator=backwards, **asked, **OHMIC)

    def test_sums_by_hand(self):
        sum_of = {"cosine": [1.0, -0.4], "sine": [0.2, 0.0], "rate": [1.0, 2.0], "frequency": [1.5, 0.0]}
        recipe = changed(RECIPE, environments=[{"name": "bath", "kind": "memory"} | sum_of])
        self.assert_code(ask(["check", write_recipe(self.folder / "right.toml", recipe)]), 0)
        self.refused("there are 2, 1, 2 and 2; give as many", **sum_of | {"sine": [0.2]})
        self.refused("term 1 has a `sine`, but the frequency 0", **sum_of | {"sine": [0.2, 0.1]})
        self.refused("term 1 is undamped and not passive", **sum_of | {"rate": [1.0, 0.0]})
        self.refused("no passive environment has this kernel.*below 0 for .* %", **sum_of | {"cosine": [1.0, -4.0]})
        self.refused("`stiffness` and `cosine` are the same coefficient", stiffness=[1.0, 1.0], **sum_of)
        self.refused("the memory's kernel is missing", sine=[1.0], rate=[1.0], frequency=[1.0])
        self.refused("transform is -.*`sine`", kT=0.1, **sum_of)


if __name__ == "__main__":
    unittest.main()
