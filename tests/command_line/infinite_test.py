"""Semi-infinite lines: certificates, checkpoints, ranks, and unsupported recipes."""

import re
import unittest

import h5py
import numpy as np

from program import KEPLER, FolderTest, changed, checkpoints_of, variables

LINE = {"name": "endless", "kind": "spring-mass-line", "sites": "infinite", "M": 0.002, "lambda": 0.8}

# A planet whose two axes have a line each, Courant number 0.2.
PLANET = changed(
    KEPLER,
    environments=[LINE],
    time={"step": 0.01, "steps": 400},
    integrators=[
        {"method": "gamma", "gamma": 0.0, "on": "closed", "name": "kicks"},
        {"method": "gamma", "gamma": 0.25, "on": "closed", "name": "stage"},
        {"method": "gauss", "on": "closed", "name": "gauss"},
    ],
    output={"every": 5},
)


class Infinite(FolderTest):
    def test_the_certificate_is_in_the_file_and_in_the_log(self):
        beside = {"name": "bath", "kind": "heat-bath", "oscillators": 50, "damping": 0.3, "omega_max": 9.0}
        claim = {"name": "kernel", "quantity": "certificate.kicks.endless.kernel_error", "bounds": [0.0, 1e-9]}
        recipe = changed(PLANET, environments=[beside, LINE | {"tolerance": 1e-9}], claims=[claim])
        path, outcome = self.result(recipe, "certificate")
        for label in ("kicks", "stage", "gauss"):
            self.assertRegex(outcome.text, rf"{label}: `endless` is \d+ exponentials: the relative error of its kernel is")
            with h5py.File(path) as file:
                self.assertEqual(list(file["certificate"][label]), ["endless"], "a bath is what it is")
                found = {name: values[()] for name, values in file["certificate"][label]["endless"].items()}
            self.assertLessEqual(found["kernel_error"], 1e-9)
            self.assertGreater(found["exponentials"], 20)
            self.assertEqual(found["damper"], 0.0)
        self.assertIn("PASS", outcome.text)
        with h5py.File(path) as file:
            said = {of: file[f"kicks/energy_{of}"].attrs["long_name"] for of in ("environment", "interaction")}
        self.assertIn("for `endless` the work of the head on it", said["environment"])
        self.assertIn("0 for `endless`", said["interaction"])

    def test_kernels_for_all_times_are_compensated(self):
        line = LINE | {"horizon": "forever", "tolerance": 1e-6}
        path, outcome = self.result(changed(PLANET, environments=[line]), "ever")
        self.assertRegex(outcome.text, r"that of its transform \S+ for all times, .* compensated by an added damper of")
        with h5py.File(path) as file:
            self.assertGreater(file["certificate/kicks/endless/damper"][()], 0.0)
            self.assertLess(file["certificate/kicks/endless/damper"][()], 1e-3)

    def test_same_bits_on_any_ranks_and_beside_a_finite_line(self):
        beside = {"name": "short", "kind": "spring-mass-line", "sites": 90, "M": 0.003, "lambda": 0.5}
        recipe = changed(PLANET, environments=[LINE, beside])
        recipe["integrators"] = recipe["integrators"][:1]
        one, _ = self.result(recipe, "one")
        self.assert_same_bits(one, self.result(recipe, "two", 2)[0])

    def test_resumes_from_a_checkpoint_on_other_ranks(self):
        recipe = changed(PLANET, output={"checkpoint_every": 130, "keep_checkpoints": 12})
        whole, _ = self.result(recipe, "whole")
        self.assert_all_resume([(whole, checkpoints_of(whole)[index]) for index in (1, 4, 7)], 2)

    def test_ensembles_of_linear_systems_on_a_thermal_line(self):
        well = {"kind": "formula", "coordinates": ["x"], "masses": [0.02], "V": "x^2/2", "q0": [0.0], "start": "thermal"}
        recipe = changed(
            PLANET,
            system=None,
            environments=[LINE | {"kT": 0.3}],
            integrators=[{"method": "gamma", "gamma": 0.5, "on": "closed", "name": "midpoint"}],
            study={"kind": "ensemble", "realisations": 400, "max_lag": 0.5},
        )
        found = variables(self.result(recipe | {"system": well}, "ensemble")[0])
        of = "ensemble/midpoint/"
        self.assertEqual(found[of + "kinetic_expected"], 0.15)
        # Distances in standard errors: 4.5 of them is missed by one seed in 150 000.
        self.assertLess(np.abs(found[of + "kinetic_deviation"]).max(), 4.5)
        # There are no sites from which a theory could be computed.
        self.assertNotIn(of + "velocity_autocorrelation_theory", found)

    def test_noise_has_the_same_bits_on_any_ranks_and_after_a_checkpoint(self):
        # The bits must agree for any tolerance; a small one would need many exponentials, which take time to fit.
        line = LINE | {"tolerance": 1e-6}
        recipe = changed(
            PLANET,
            environments=[line | {"kT": 0.01}, line | {"name": "second", "kT": 0.02}],
            time={"steps": 120},
            integrators=[
                {"method": "gamma", "gamma": 0.5, "on": "closed", "name": "midpoint"},
                {"method": "stoermer-verlet", "on": "closed", "name": "kicks"},
                {"method": "gamma", "gamma": 0.25, "on": "closed", "name": "stage"},
                {"method": "gauss", "stages": 3, "on": "closed", "name": "gauss"},
                {"method": "stoermer-verlet", "on": "closed", "name": "silent", "noise": False},
            ],
            output={"checkpoint_every": 43, "keep_checkpoints": 99},
        )
        whole, outcome = self.result(recipe, "noise")
        self.assertIn("the relative error of its noise spectrum is", outcome.text)
        for ranks in (2, 3):
            self.assert_same_bits(whole, self.result(recipe, f"noise{ranks}", ranks)[0])
        self.assert_all_resume([(whole, checkpoints_of(whole)[index]) for index in (1, 3, 5, 7)], 2)
        other, _ = self.result(changed(recipe, seed=2), "noise-other")
        for label in ("midpoint", "kicks", "stage", "gauss", "silent"):
            same = np.array_equal(variables(whole)[f"{label}/q"], variables(other)[f"{label}/q"])
            self.assertEqual(same, label == "silent", label)
        # The midpoint rule keeps energies to the square of the step, a three-hundredth of an orbit's radian, heat included.
        of_line, total = (np.ptp(variables(whole)[f"midpoint/energy_{of}"]) for of in ("environment", "total"))
        self.assertLess(total, 0.02 * of_line)

    def test_lobatto_of_two_stages_is_verlet_on_a_nonlinear_coupling(self):
        """Its matrix A is singular, but a step's end is its last stage."""
        line = {key: value for key, value in LINE.items() if key != "attach"} | {"couple": "x + x^2/10"}
        system = {"kind": "single-oscillator", "m": 1.0, "k": 1.0, "q0": [1.0], "v0": [0.5]}
        methods = [{"method": "lobatto", "stages": 2}, {"method": "stoermer-verlet"}]
        cases = [method | {"on": "closed", "name": method["method"]} for method in methods]
        recipe = changed(PLANET, environments=[line], integrators=cases) | {"system": system}
        path, _ = self.result(recipe, "lobatto")
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["lobatto/q"], file["stoermer-verlet/q"], rtol=0, atol=1e-12)

    def test_memory_study_measures_the_kernel(self):
        recipe = changed(PLANET, study={"kind": "memory-kernel"})
        recipe["integrators"] = [recipe["integrators"][0], recipe["integrators"][2]]
        recipe["integrators"] += [
            {"method": "gamma", "gamma": 1.0, "on": "closed", "name": "kicks-first"},
            {"method": "stoermer-verlet", "on": "closed", "name": "verlet"},
            {"method": "lobatto", "stages": 2, "on": "closed", "name": "lobatto"},
            {"method": "stoermer-verlet", "order_of_substeps": "drift-kick-drift", "on": "closed", "name": "drifts"},
        ]
        kernels = {}
        for name, sites in (("endless", "infinite"), ("long", 300)):
            path, _ = self.result(changed(recipe, environments=[LINE | {"sites": sites}]), f"memory-{name}")
            kernels[name] = variables(path)
        for label in (one["name"] for one in recipe["integrators"]):
            found = kernels["endless"][f"memory-kernel/{label}/endless/kernel"]
            self.assertLess(np.abs(found - kernels["long"][f"memory-kernel/{label}/endless/kernel"]).max(), 1e-10)
            # That of the steps, or of continuous time, from which `gauss` is off by the square of h W = 0.4.
            error = kernels["endless"][f"memory-kernel/{label}/endless/kernel_error"]
            self.assertLess(error, 1e-2 if label == "gauss" else 1e-11, label)
        # From kick to kick it is (P_{n-1} - P_{n+1}) / (2 c^2 (2n + 1)), Legendre polynomials of 1 - 2 c^2.
        square = 0.2**2
        legendre = np.polynomial.legendre.legvander(1 - 2 * square, 400).ravel()
        found = kernels["endless"]["memory-kernel/kicks/endless/kernel"]
        self.assertLess(np.abs(found[:1] - 0.8).max(), 1e-13)
        for step in range(5, 400, 5):
            n = step - 1
            expected = 0.8 * (legendre[n - 1] - legendre[n + 1]) / (2 * square * (2 * n + 1))
            self.assertAlmostEqual(found[step // 5], expected, delta=1e-12)

    def test_memory_study_supports_every_gamma(self):
        gammas = (0.03, 0.2, 0.4, 0.49, 0.5, 0.6, 0.8, 0.97)
        integrators = [{"method": "gamma", "gamma": g, "on": "closed", "name": f"g{100 * g:.0f}"} for g in gammas]
        recipe = changed(PLANET, study={"kind": "memory-kernel"}, integrators=integrators, output={"every": 1})
        kernels = [
            variables(self.result(changed(recipe, environments=[LINE | {"sites": sites}]), f"every-gamma-{sites}")[0])
            for sites in ("infinite", 300)
        ]
        for one, g in zip(integrators, gammas):
            found, expected = (kernel[f"memory-kernel/{one['name']}/endless/kernel"] for kernel in kernels)
            self.assertEqual(len(found), 401)
            # 1e-12 of the sum of 1.6/c times 0.8 N/m, and next to g = 1/2 two poles 1 - 2 g from the unit circle.
            bound = 6.4e-12 * 2 / (1 if g == 0.5 else (1 - 2 * g) ** 2)
            self.assertLess(np.abs(found - expected).max(), bound, g)
            # Clamped, the head feels B between steps, B mixed with the next at a stage, and mixed twice more, with the one
            # before and then with the next, the kernel of velocities: (P_{n-1} - P_{n+1}) / (2 c_e^2 (2n + 1) s).
            mixed = g * found[:-1] + (1 - g) * found[1:]
            mixed = g * mixed[:-1] + (1 - g) * mixed[1:]
            mixed = (1 - g) * mixed[:-1] + g * mixed[1:]
            stretch = 1 + 4 * g * (1 - g) * 0.2**2
            square = 0.2**2 / stretch
            legendre = np.polynomial.legendre.legvander(1 - 2 * square, 400).ravel()
            n = np.arange(1, len(mixed) + 1)
            velocities = 0.8 * (legendre[n - 1] - legendre[n + 1]) / (2 * square * (2 * n + 1)) / np.sqrt(stretch)
            self.assertLess(np.abs(mixed - velocities).max(), bound, g)

    def test_continuum_needs_a_spacing(self):
        continuum = {"name": "endless", "kind": "spring-mass-line", "damping": 0.04, "speed": 20.0, "spacing": 1.0}
        paths = [
            self.result(changed(PLANET, environments=[continuum | {"sites": sites}]), f"spacing-{sites}")[0]
            for sites in ("infinite", 300)
        ]
        one, other = (variables(path)["kicks/q"] for path in paths)
        self.assertLess(np.abs(one - other).max(), 1e-10)


class Mistakes(FolderTest):
    def refused(self, message, environment=(), **sections):
        line = LINE | dict(environment)
        recipe = changed(PLANET, environments=[{k: v for k, v in line.items() if v is not None}], **sections)
        self.assert_mistake(recipe, re.escape(message))

    def test_every_one_is_a_line(self):
        self.refused("tolerance = 1e-14: must lie between 1e-13, which double precision can certify, and 0.01", {"tolerance": 1e-14})
        self.refused("horizon = 3: the run ends at 4,", {"horizon": 3.0})
        self.refused('horizon = "foreve": must be', {"horizon": "foreve"})
        self.refused('sites = "infinit": must be', {"sites": "infinit"})
        self.refused("has no `far_end`", {"far_end": "fixed"})
        self.refused("has a `spacing` and no length", {"M": None, "lambda": None, "damping": 1.0, "speed": 1.0,
                                                       "length": 5.0, "spacing": 0.1})
        self.refused("snapshots need sites, and `endless` stores none", output={"snapshots": 10})
        self.refused("a wave study needs sites", output={"snapshots": 10}, study={"kind": "wave", "threshold": 1e-3})
        integrators = [{"method": "gamma", "gamma": 0.0, "on": "closed", "name": "kicks"}]
        self.refused("Courant number h sqrt(lambda/M) = 1.2 ", time={"step": 0.06}, integrators=integrators)
        yoshida = [{"method": "yoshida4", "on": "closed", "name": "it"}]
        self.refused("several kicks a step, and a semi-infinite line supports one; set `sites` to a number", integrators=yoshida)
        for name in ("rk4", "exact"):
            self.refused("a semi-infinite line needs kicks and drifts" if name != "exact" else "`endless` is semi-infinite",
                         integrators=[{"method": name, "on": "closed", "name": "it"}])
        self.refused("a semi-infinite line needs one tableau for both", integrators=[{"method": "lobatto", "on": "closed", "name": "it"}])


if __name__ == "__main__":
    unittest.main()
