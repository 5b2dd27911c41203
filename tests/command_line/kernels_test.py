"""Environments from kernels and spectral densities: trajectories, certificates, files, and unsupported recipes."""

import unittest

import h5py
import numpy as np

from oracles import star_path
from program import OSCILLATOR, FolderTest, ask, changed

DAMPING, CUTOFF = 0.3, 2.0
DENSITY = {"spectral_density": f"{DAMPING}*w*exp(-w/{CUTOFF})"}
BATH = {"name": "bath", "kind": "memory"} | DENSITY
STAR = {"name": "star", "kind": "memory", "representation": "star"}

RECIPE = changed(
    OSCILLATOR,
    system={"kind": "single-oscillator", "m": 1.0, "k": 1.5, "q0": [1.0], "v0": [0.4]},
    environments=[BATH | {"name": kind, "representation": kind} for kind in ("star", "chain")],
    time={"step": 0.04, "steps": 500},
    integrators=[
        {"method": name, "on": "closed", "name": f"{kind}-{name}", "environments": [kind]} | more
        for kind in ("star", "chain")
        for name, more in (("exact", {}), ("gamma", {"gamma": 0.5}), ("stoermer-verlet", {}))
    ],
)


def dense_path(times, mass=1.0, stiffness=1.5, q0=1.0, v0=0.4):
    """The trajectory by the normal modes of a particle and many oscillators at the nodes of another rule."""
    nodes, weights = np.polynomial.legendre.leggauss(900)
    w = 30.0 * CUTOFF * (nodes + 1.0) / 2.0
    k = 30.0 * CUTOFF / 2.0 * weights * 2.0 / np.pi * DAMPING * np.exp(-w / CUTOFF)
    return star_path(times, w, k, mass, stiffness, q0, v0)


class Kernels(FolderTest):
    def test_star_and_chain_have_the_trajectory_of_the_density(self):
        path, outcome = self.result(RECIPE, "path")
        with h5py.File(path) as file:
            times = file["star-exact/time"][()]
            expected = dense_path(times)
            for kind in ("star", "chain"):
                rows = {name: values[()] for name, values in file[f"certificate/{kind}-exact/{kind}"].items()}
                error = rows["kernel_error"] * rows["kernel_norm"]
                self.assertLessEqual(rows["kernel_error"], 1e-8)
                self.assertEqual(rows["horizon"], 20.0)
                self.assertGreater(rows["oscillators" if kind == "star" else "sites"], 100)
                # A force error of that times the largest velocity, 1.3 m/s, for 20 s on an oscillator of sqrt(k m).
                bound = error * 1.3 * 20.0 / np.sqrt(1.5) + 1e-11
                self.assertLessEqual(np.abs(file[f"{kind}-exact/q"][:, 0, 0] - expected).max(), bound)
                total = file[f"{kind}-exact/energy_total"][()]
                self.assertLess(np.abs(total / total[0] - 1.0).max(), 1e-11)
            for name in ("gamma", "stoermer-verlet"):
                star, chain = (file[f"{kind}-{name}/q"][()] for kind in ("star", "chain"))
                self.assertLess(np.abs(star - chain).max(), 2e-12, name)
                self.assertGreater(np.abs(star[:, 0, 0] - expected).max(), 1e-5, name)
            # The springs of the head add up to gamma(0) = 2 D c/pi, up to the end of the density.
            star, chain = file["certificate/star-exact/star"], file["certificate/chain-exact/chain"]
            self.assertLessEqual({"oscillator", "frequency", "stiffness"}, set(star))
            self.assertLessEqual({"site", "mass", "stiffness"}, set(chain))
            self.assertAlmostEqual(star["stiffness"][()].sum(), 2.0 * DAMPING * CUTOFF / np.pi, 8)
            self.assertAlmostEqual(chain["stiffness"][0], 2.0 * DAMPING * CUTOFF / np.pi, 8)
        self.assertRegex(outcome.text, r"`star` is a star of \d+ oscillators up to")
        self.assertRegex(outcome.text, r"`chain` is a chain of \d+ sites")

    def test_tables_represent_their_lines(self):
        (self.folder / "density.txt").write_text("# w J\n1.0 0.3\n2.0 0.6 # the end of the Ohmic part\n3.0 0\n")
        (self.folder / "kernel.txt").write_text("0 0.8\n0.5 0.2\n1.5 0\n")
        recipe = changed(
            RECIPE,
            environments=[
                STAR | {"spectral_density_file": "density.txt"},
                {
                    "name": "chain",
                    "kind": "memory",
                    "kernel_file": "kernel.txt",
                    "representation": "chain",
                    "tolerance": 1e-3,
                },
            ],
            study={"kind": "memory-kernel"},
            time={"step": 0.01, "steps": 400},
        )
        recipe["integrators"] = [one for one in recipe["integrators"] if one["method"] == "gamma"]
        path, _ = self.result(recipe, "tables")
        with h5py.File(path) as file:
            self.assertIn("input_file:density.txt", file.attrs)
            self.assertIn("input_file:kernel.txt", file.attrs)
            times = file["memory-kernel/star-gamma/star/time"][()]
            of_density, of_kernel = (file[f"memory-kernel/{kind}-gamma/{kind}/kernel_limit"][()] for kind in ("star", "chain"))
            found = file["memory-kernel/chain-gamma/chain/kernel_formula"][()]
        # The integral of J/w cos(w t), computed independently.
        w = (np.arange(300_000) + 0.5) * 1e-5
        density = np.where(w < 2.0, 0.3 * w, 0.6 * (3.0 - w))
        for i in range(0, len(times), 50):
            self.assertAlmostEqual(of_density[i], 2.0 / np.pi * np.sum(density / w * np.cos(w * times[i])) * 1e-5, 8)
        self.assertLess(np.abs(of_kernel - np.interp(times, [0.0, 0.5, 1.5], [0.8, 0.2, 0.0])).max(), 1e-15)
        self.assertLess(np.sum(np.abs(found - of_kernel)) * 0.01, 1e-3 * np.sum(of_kernel) * 0.01)

    def test_results_contain_their_tables(self):
        table = self.folder / "density.txt"
        table.write_text("1.0 0.3\n3.0 0\n")
        recipe = changed(
            RECIPE,
            environments=[STAR | {"spectral_density_file": "density.txt"}],
            output={"checkpoint_every": 100, "keep_checkpoints": 5},
        )
        recipe["integrators"] = [recipe["integrators"][2]]
        path, _ = self.result(recipe, "whole")
        table.unlink()
        self.assert_code(ask(["verify", path]), 0)

    def test_star_and_chain_have_a_thermal_start(self):
        for kind, other, parts in (("star", "chain", "oscillators"), ("chain", "star", "sites")):
            baths = [one | ({"kT": 0.5} if one["name"] == kind else {}) for one in RECIPE["environments"]]
            path, _ = self.result(changed(RECIPE, environments=baths), f"warm-{kind}")
            with h5py.File(path) as file:
                degrees = 2 * file[f"certificate/{kind}-exact/{kind}/{parts}"][()]
                # Each has kT/2 on average, with a standard deviation of kT/sqrt(2).
                energy = file[f"{kind}-exact/energy_environment"][0] + file[f"{kind}-exact/energy_interaction"][0]
                self.assertLess(abs(energy - 0.25 * degrees), 5.0 * 0.5 * np.sqrt(0.5 * degrees), kind)
                self.assertEqual(file[f"{other}-exact/energy_environment"][0], 0.0)

    def test_same_bits_on_any_ranks(self):
        recipe = changed(RECIPE)
        recipe["integrators"] = [one for one in recipe["integrators"] if one["method"] == "stoermer-verlet"]
        self.assert_same_bits(*(self.result(recipe, f"on{ranks}", ranks)[0] for ranks in (1, 3)))


class Mistakes(FolderTest):
    def refused(self, message, **environment):
        recipe = changed(RECIPE, environments=[{"name": "bath", "kind": "memory"} | environment])
        recipe["integrators"] = [{"method": "gamma", "gamma": 0.5, "on": "closed", "name": "closed"}]
        self.assert_mistake(recipe, message)

    def test_every_one_is_a_line(self):
        self.refused("the memory's kernel is missing")
        self.refused("the memory's kernel is missing", stiffness=[1.0])
        self.refused("given by both `kernel` and `spectral_density`", kernel="exp(-t^2)", **DENSITY)
        self.refused(
            "`spectral_density` has no meaning beside", stiffness=[1.0], rate=[1.0], frequency=[1.0], **DENSITY
        )
        self.refused("J is -.* at w = .*the density of a passive environment is not negative", spectral_density="w*exp(-w)*(1-w)")
        self.refused("J is -.* at w = .*passive environment is not negative", kernel="(1-t^2)*exp(-t^2)*(-1)", tolerance=1e-3)
        self.refused("no integral at high frequencies.*omega_max", spectral_density="0.3*w")
        self.refused("no integral at low frequencies", spectral_density="exp(-w)")
        self.refused("no finite value at w = ", spectral_density="w*exp(-w)/(1-step(w-2))")
        self.refused("it is 0 at all of", spectral_density="0*w")
        self.refused("it is infinite at t = 0", kernel="exp(-t)/t")
        self.refused("the kernel does not decay.*`stiffness`", kernel="cos(t)")
        self.refused("must lie between 1e-13, the limit of double precision", tolerance=1e-14, **DENSITY)
        self.refused("must be at least 20, the end of the run", horizon=3.0, **DENSITY)
        self.refused("it needs .* oscillators", spectral_density="w/(1+w^2)", representation="star")
        self.refused("its density is not negligible at", kernel="exp(-t)", representation="star")
        self.refused("`omega_max` is the end of a density", kernel="exp(-t^2)", omega_max=4.0)
        self.refused("spectral_density: .*`v`", spectral_density="w*exp(-v)")

    def test_tables(self):
        def refused(message, key, text):
            (self.folder / "table.txt").write_text(text)
            self.refused(f'{key} = "table.txt": {message}', **{key: "table.txt"})

        refused("it ends with 0.5 at w = 2; continue the table", "spectral_density_file", "1 0.3\n2 0.5\n")
        (self.folder / "table.txt").write_text("0 1\n1 0.1\n")
        self.refused("kernel_file: it ends with 0.1 at t = 1; continue the table", kernel_file="table.txt")
        refused("it begins at t = 0.1", "kernel_file", "0.1 1\n1 0\n")
        refused("its density at w = 0 must be 0", "spectral_density_file", "0 1\n1 0\n")
        refused("line 2: density -1 must not be negative", "spectral_density_file", "1 1\n2 -1\n3 0\n")
        refused("line 2: time 0.5 must be greater", "kernel_file", "1 1\n0.5 1\n")
        self.refused("cannot be read", kernel_file="nowhere.txt")

    def test_a_fit_is_of_kernels(self):
        self.refused("`fit` is for a `kernel` or `kernel_file`", fit="passive", **DENSITY)
        self.refused("is a sum of exponentials; leave out", fit="passive", kernel="exp(-t)", representation="star")
        self.refused("must lie between 1e-13, .* and 1$", fit="passive", kernel="exp(-t)", tolerance=2.0)
        self.refused("the nearest passive kernel is 0", fit="passive", kernel="-exp(-t)", tolerance=0.5)


if __name__ == "__main__":
    unittest.main()
