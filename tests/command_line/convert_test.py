"""`bathline convert`: oscillator baths as chains and back, with the same trajectories, and unsupported environments."""

import tomllib
import unittest

import h5py
import numpy as np

from program import OSCILLATOR, FolderTest, ask, changed, write_recipe

BATH = {"name": "bath", "kind": "heat-bath", "oscillators": 60, "damping": 0.3, "omega_max": 9.0, "cutoff": 2.0}
RECIPE = changed(
    OSCILLATOR,
    environments=[BATH | {"spectrum": "drude"}],
    time={"step": 0.05, "steps": 400},
    integrators=[
        {"method": "stoermer-verlet", "on": "closed", "name": "verlet"},
        {"method": "exact", "on": "closed", "name": "exact"},
    ],
)


class Convert(FolderTest):
    def path_of(self, recipe):
        result = self.folder / "result.h5"
        self.assert_code(ask(["run", recipe, "-o", result, "--overwrite"]), 0)
        with h5py.File(result) as file:
            return np.stack([file[f"{label}/q"][:, 0, 0] for label in ("verlet", "exact")])

    def convert(self, recipe, to, *more, name="bath", ranks=None):
        return ask(["convert", recipe, "--environment", name, "--to", to, *more], ranks)

    def test_there_and_back_again(self):
        recipe = write_recipe(self.folder / "star.toml", RECIPE)
        outcome = self.convert(recipe, "chain", ranks=2)
        self.assert_code(outcome, 0)
        self.assertIn("`bath` is now a chain of 60 sites, read from", outcome.text)
        chain = self.folder / "star-bath-chain.toml"
        environment = tomllib.loads(chain.read_text())["environments"][0]
        self.assertEqual(environment["kind"], "spring-mass-line")
        self.assertEqual(environment["sites"], 60)
        self.assertEqual(environment["damping"], 0.3)
        self.assert_code(self.convert(chain, "star", "-o", self.folder / "back.toml"), 0)
        expected = self.path_of(recipe)
        self.assertGreater(np.abs(expected).max(), 0.5)
        # 60 frequencies known to round-off of the highest one, 9 rad/s, for 20 s.
        for other in (chain, self.folder / "back.toml"):
            self.assertLess(np.abs(self.path_of(other) - expected).max(), 60 * 9 * 20 * 2.3e-16, other)
        table = np.loadtxt(self.folder / "back.txt")
        w = (np.arange(60) + 0.5) * 0.15
        np.testing.assert_allclose(table[:, 0], w, rtol=1e-13)
        np.testing.assert_allclose(table[:, 1], 0.6 * 0.15 / np.pi * 4.0 / (4.0 + w**2), rtol=1e-11)

    def test_a_density_and_a_line(self):
        line = {"name": "line", "kind": "spring-mass-line", "sites": 70, "M": 0.1, "lambda": 2.0, "far_end": "free"}
        density = {"name": "bath", "kind": "memory", "spectral_density": "0.3*w*exp(-w)", "tolerance": 1e-6}
        density["representation"] = "star"
        recipe = write_recipe(self.folder / "both.toml", changed(RECIPE, environments=[density, line]))
        expected = self.path_of(recipe)
        chain = self.folder / "chain.toml"
        self.assert_code(self.convert(recipe, "chain", "-o", chain), 0)
        both = self.folder / "star.toml"
        self.assert_code(self.convert(chain, "star", "-o", both, name="line"), 0)
        kinds = [one["kind"] for one in tomllib.loads(both.read_text())["environments"]]
        self.assertEqual(kinds, ["spring-mass-line", "heat-bath"])
        self.assertLess(np.abs(self.path_of(both) - expected).max(), 1e-11)

    def test_a_density_as_a_chain_has_a_free_end(self):
        density = {"name": "bath", "kind": "memory", "spectral_density": "0.3*w*exp(-w)", "tolerance": 1e-6}
        star = changed(RECIPE, environments=[density | {"representation": "star"}])
        recipe = write_recipe(self.folder / "density.toml", star)
        expected = self.path_of(recipe)
        chain = changed(RECIPE, environments=[density | {"representation": "chain"}])
        back = self.folder / "density-again.toml"
        self.assert_code(self.convert(write_recipe(self.folder / "density-chain.toml", chain), "star", "-o", back), 0)
        self.assertLess(np.abs(self.path_of(back) - expected).max(), 1e-11)

    def test_a_kernel_is_built_in_the_requested_form(self):
        density = {"name": "bath", "kind": "memory", "spectral_density": "0.2*w^2*exp(-w)", "tolerance": 1e-9}
        recipe = write_recipe(self.folder / "kernel.toml", changed(RECIPE, environments=[density]))
        expected = self.path_of(recipe)
        outcome = self.convert(recipe, "exponentials", ranks=2)
        self.assert_code(outcome, 0)
        self.assertRegex(outcome.text, r"`bath` is now a memory of \d+ exponentials")
        modes = self.folder / "kernel-bath-exponentials.toml"
        self.assertFalse((self.folder / "kernel-bath-exponentials.txt").exists())
        environment = tomllib.loads(modes.read_text())["environments"][0]
        self.assertEqual(environment["kind"], "memory")
        self.assertNotIn("spectral_density", environment)
        self.assertGreater(len(environment["cosine"]), 5)
        # Numbers are written with all digits, so that the trajectories are the same.
        np.testing.assert_array_equal(self.path_of(modes)[0], expected[0])
        self.assert_code(self.convert(recipe, "star"), 0)
        star = self.folder / "kernel-bath-star.toml"
        self.assertEqual(tomllib.loads(star.read_text())["environments"][0]["kind"], "heat-bath")
        # Two kernels to 1e-9 of some 0.3 kg/s, a speed of 1.3 m/s for 20 s on an oscillator of sqrt(k m) = 2 kg/s.
        self.assertLess(np.abs(self.path_of(star)[1] - expected[1]).max(), 2e-9 * 0.3 * 1.3 * 20.0)

    def test_one_exponential_is_a_spring_and_a_damper_in_series(self):
        drude = {"name": "bath", "kind": "memory", "kernel": "0.7*exp(-1.5*t)", "tolerance": 1e-10}
        recipe = write_recipe(self.folder / "drude.toml", changed(RECIPE, environments=[drude]))
        self.assert_code(self.convert(recipe, "exponentials"), 0)
        environment = tomllib.loads((self.folder / "drude-bath-exponentials.toml").read_text())["environments"][0]
        self.assertEqual(environment["frequency"], [0.0])
        self.assertAlmostEqual(environment["stiffness"][0], 0.7, 9)
        self.assertAlmostEqual(environment["rate"][0], 1.5, 9)
        self.assertNotIn("sine", environment)

    def test_a_thermal_line_is_a_thermal_bath(self):
        line = {"name": "bath", "kind": "spring-mass-line", "sites": 9, "M": 0.1, "lambda": 2.0, "far_end": "free"}
        recipe = write_recipe(self.folder / "warm.toml", changed(RECIPE, environments=[line | {"kT": 0.7}]))
        self.assert_code(self.convert(recipe, "star"), 0)
        environment = tomllib.loads((self.folder / "warm-bath-star.toml").read_text())["environments"][0]
        self.assertEqual(environment["kT"], 0.7)
        star = self.folder / "warm-bath-star.toml"
        self.assert_code(self.convert(star, "chain", "-o", self.folder / "warm-chain.toml"), 0)
        environment = tomllib.loads((self.folder / "warm-chain.toml").read_text())["environments"][0]
        self.assertEqual(environment["kT"], 0.7)
        self.assert_code(ask(["check", self.folder / "warm-chain.toml"]), 0)

    def refused(self, message, environment, to="star", *more):
        recipe = write_recipe(self.folder / "no.toml", changed(RECIPE, environments=[{"name": "bath"} | environment]))
        outcome = self.convert(recipe, to, *more, ranks=2)
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, message)
        self.assertEqual(list(self.folder.glob("no-*")), [])

    def test_unsupported_environments(self):
        line = {"kind": "spring-mass-line", "sites": 9, "M": 0.1, "lambda": 2.0}
        self.refused("has a fixed far end", line)
        self.refused("dissipates energy", line | {"far_end": "matched"})
        self.refused("has no sites to convert", line | {"sites": "infinite"})
        self.refused("at most 20000 can be converted", line | {"sites": 20001, "far_end": "free"})
        self.refused("dissipates energy", {"kind": "memory", "stiffness": [1.0], "rate": [1.0], "frequency": [0.0]})
        self.refused("has undamped oscillations", BATH | {"spectrum": "drude"}, "exponentials")
        undamped = {"kind": "memory", "stiffness": [1.0], "rate": [0.0], "frequency": [2.0]}
        self.refused("has undamped oscillations", undamped, "exponentials")

    def test_keeps_existing_files(self):
        recipe = write_recipe(self.folder / "keep.toml", RECIPE)
        outcome = self.convert(recipe, "chain", name="bat")
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "has no environment `bat`; there is `bath`")
        for code, more in ((0, []), (2, []), (0, ["--overwrite"])):
            outcome = self.convert(recipe, "chain", *more)
            self.assert_code(outcome, code)
        # If only the table exists, the recipe is not written either.
        written = self.folder / "keep-bath-chain.toml"
        written.unlink()
        outcome = self.convert(recipe, "chain")
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "keep-bath-chain.txt exists already; --overwrite replaces it")
        self.assertFalse(written.exists())
        self.assert_code(self.convert(recipe, "foam"), 2)
        (self.folder / "t.txt").write_text("1 0.2\n2 0.3\n")
        (self.folder / "elsewhere").mkdir()
        beside = {"name": "table", "kind": "heat-bath", "spectrum": "table", "file": "t.txt"}
        recipe = write_recipe(recipe, changed(RECIPE, environments=[RECIPE["environments"][0], beside]))
        outcome = self.convert(recipe, "chain", "-o", self.folder / "elsewhere" / "a.toml")
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "the recipe reads t.txt")


if __name__ == "__main__":
    unittest.main()
