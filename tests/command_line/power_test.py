"""Energy and power by environment: the energy and the losses of each change by minus its power."""

import unittest

import h5py
import numpy as np

from program import FolderTest, ask, changed, write_recipe

# A double well with two lines and a memory, all different.
WELL = {
    "title": "A double well between three environments",
    "system": {
        "kind": "formula",
        "coordinates": ["x"],
        "masses": [1.3],
        "V": "0.7*(x^2 - 1)^2",
        "q0": [1.7],
        "v0": [-0.4],
    },
    "environments": [
        {"name": "light", "kind": "spring-mass-line", "attach": 0, "sites": 40, "M": 0.3, "lambda": 2.5},
        {"name": "heavy", "kind": "spring-mass-line", "attach": 0, "sites": 7, "M": 0.9, "lambda": 1.1},
        {"name": "memory", "kind": "memory", "attach": 0, "stiffness": [0.8, 0.5], "rate": [0.6, 0.2], "frequency": [0.0, 1.9]},
    ],
    "integrators": [
        {"method": "gamma", "gamma": 0.0, "on": "closed", "name": "euler"},
        {"method": "gamma", "gamma": 0.5, "on": "closed", "name": "midpoint"},
        {"method": "stoermer-verlet", "on": "closed", "name": "verlet"},
        {"method": "gauss", "stages": 2, "on": "closed", "name": "gauss"},
    ],
    "output": {"every": 1},
}
ORDERS = {"euler": 1, "midpoint": 2, "verlet": 2, "gauss": 2}


class PowerTest(FolderTest):
    """The trapezoidal rule integrates the power to second order, which limits the observed order of `gauss`."""

    def defects(self, step):
        """By label and environment: the maximal imbalance of its energy, its losses and the work done by it."""
        recipe = changed(WELL, time={"step": step, "end": 4.0})
        result = self.folder / f"well{round(1 / step)}.h5"
        path = write_recipe(result.with_suffix(".toml"), recipe)
        self.assert_code(ask(["run", path, "-o", result, "--progress", "none"]), 0)
        data = {}
        with h5py.File(result, "r") as file:
            for label in ORDERS:
                group = file[label]
                time, power = group["time"][:], group["power"][:]
                work = np.vstack(
                    [np.zeros(3), np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(time)[:, None], axis=0)]
                )
                held = group["energy_of_environment"][:] + group["dissipated_by_environment"][:]
                self.assertGreater(np.min(np.max(np.abs(work), axis=0)), 0.1)
                data[label] = np.max(np.abs(held - held[0] + work), axis=0)
                sums = group["energy_environment"][:] + group["energy_interaction"][:]
                np.testing.assert_allclose(np.sum(group["energy_of_environment"][:], axis=1), sums, rtol=0, atol=1e-13)
        return data

    def test_energy_and_losses_change_by_minus_the_power_to_the_order_of_the_scheme(self):
        coarse, fine = self.defects(0.01), self.defects(0.005)
        for label, order in ORDERS.items():
            with self.subTest(label=label):
                measured = np.log2(coarse[label] / fine[label])
                # The next term of the error is smaller by a factor of the step times the growth of the derivatives.
                np.testing.assert_allclose(measured, order, rtol=0, atol=0.15)


if __name__ == "__main__":
    unittest.main()
