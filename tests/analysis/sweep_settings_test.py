"""Settings of the elements of a sweep, and the order of its results."""

import random
import unittest

import synthetic  # noqa: F401  finds the package
from bathline.sweep_settings import sweep_order_key, settings_of


class SettingsTest(unittest.TestCase):
    def test_values_are_toml_or_texts(self):
        text = 'time.step=0.1\nintegrators.0.method="rk4"\nsystem.q0=[1.0, 2.0]\n@key==1+1\n'
        expected = {"time.step": 0.1, "integrators.0.method": "rk4", "system.q0": [1.0, 2.0], "@key": "=1+1"}
        self.assertEqual(settings_of(text), expected)

    def assert_order(self, recipe, *settings):
        shuffled = list(settings)
        random.Random(1).shuffle(shuffled)
        self.assertEqual(sorted(shuffled, key=lambda element: sweep_order_key(element, recipe)), list(settings))

    def test_the_order_is_that_of_the_recipe(self):
        for recipe in ('[sweep]\ntime.step = [0.1, 0.05, 0.2]\nb = ["y", "x"]', '[sweep]\nb = ["y", "x"]\n"time.step" = [0.1, 0.05, 0.2]'):
            self.assert_order(recipe, *({"b": b, "time.step": step} for b in "yx" for step in (0.1, 0.05, 0.2)))

    def test_unlisted_values_are_sorted_by_size(self):
        for recipe in ("", "no = TOML = 1", "[sweep]\ntime.end = [1, 2]"):
            self.assert_order(recipe, *({"time.step": step} for step in (0.5, 1, 2, 10)))
            self.assert_order(recipe, *({"name": name} for name in ("lobatto-2", "lobatto-10", "rk4")))


if __name__ == "__main__":
    unittest.main()
