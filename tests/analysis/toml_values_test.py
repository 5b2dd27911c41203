"""Values of numpy and other libraries in recipes, `set` and sweeps, and refused values."""

import tomllib
import unittest
from pathlib import Path

import numpy as np
import pandas
import xarray

import synthetic  # noqa: F401  (finds the analysis)
import bathline
from bathline.toml_values import as_toml, inline_toml


def recipe(**changes):
    """Two masses on springs, as a dict of numpy values."""
    system = {"kind": "linear", "M": np.array([1.0, 2.0]), "K": np.eye(2), "q0": [np.float64(1.0), np.array(0.0)]}
    return {
        "title": np.str_("two masses"),
        "time": {"step": np.float32(0.5), "end": np.int64(1)},
        "system": system | changes,
        "integrators": ({"method": "gauss", "on": "open"},),
        "output": {"every": np.int32(1)},
    }


class ValuesTest(unittest.TestCase):
    def test_a_recipe_of_numpy_values_equals_one_of_python_values(self):
        plain = {
            "title": "two masses",
            "time": {"step": 0.5, "end": 1.0},
            "system": {"kind": "linear", "M": [1.0, 2.0], "K": [[1.0, 0.0], [0.0, 1.0]], "q0": [1.0, 0.0]},
            "integrators": [{"method": "gauss", "on": "open"}],
            "output": {"every": 1},
        }
        with bathline.run(plain, progress=False) as expected, bathline.run(recipe(), progress=False) as result:
            np.testing.assert_array_equal(result["gauss"].q, expected["gauss"].q)
            self.assertEqual(result.title, "two masses")
        bathline.check(recipe(M=pandas.Series([1.0, 2.0]), K=xarray.DataArray(np.eye(2))))

    def test_set_and_sweeps_accept_numpy_values(self):
        settings = {"seed": np.int64(3), "system.q0": np.array([2.0, 0.0]), "title": Path("a/path")}
        with bathline.run(recipe(), overrides=settings, progress=False) as result:
            self.assertEqual((result.recipe["seed"], result.title), (3, "a/path"))
            self.assertEqual(result.quantity("gauss.q[0].first"), 2.0)
        sweep = bathline.sweep(recipe(), over={"time.step": [np.float64(0.5), np.float64(0.25)]}, progress=False)
        self.assertEqual(list(sweep.table["time.step"]), [0.5, 0.25])

    def test_all_types_of_values(self):
        for value, expected in (
            (np.bool_(True), True),
            (np.uint8(7), 7),
            (np.array(2), 2),
            (np.longdouble(0.5), 0.5),
            (np.array([0.5], dtype=np.longdouble), [0.5]),
            (np.array([[True], [False]]), [[True], [False]]),
            (np.array(["a", "b"]), ["a", "b"]),
            (np.array([1, "x", 2.5], dtype=object), [1, "x", 2.5]),
            (range(3), [0, 1, 2]),
            (Path("a") / "b", "a/b"),
            ({"a.b": (1, {"c": np.int8(2)})}, {"a.b": [1, {"c": 2}]}),
        ):
            converted = as_toml(value)
            self.assertEqual((converted, type(converted)), (expected, type(expected)))
            self.assertEqual(tomllib.loads(f"value = {inline_toml(converted)}")["value"], expected)

    def test_refused_values_are_named_by_their_keys(self):
        for value, description in (
            (None, "None"),
            (1j, "a value of type complex"),
            (b"text", "a value of type bytes"),
            ({1, 2}, "a value of type set"),
            (np.array([1j]), r"a value of type ndarray \(complex128\)"),
            (np.datetime64("2026-01-01"), r"a value of type datetime64 \(datetime64\[D\]\)"),
        ):
            words = rf"^system\.q0\.1: {description} cannot be stored .* accepts texts, numbers"
            with self.assertRaisesRegex(bathline.UsageError, words):
                bathline.run(recipe(q0=[1.0, value]), progress=False)
        for masked, element in (
            (np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, False], [True, False]]), r"1\.0"),
            ([np.ma.array([1.0, 2.0], mask=[False, True])], r"0\.1"),
            ([1.0, np.ma.masked], "1"),
            (np.ma.array([1, 2], mask=[False, True], dtype=object), "1"),
        ):
            with self.assertRaisesRegex(bathline.UsageError, rf"^system\.q0\.{element}: this element is masked"):
                bathline.run(recipe(), overrides={"system.q0": masked}, progress=False)
        with self.assertRaisesRegex(bathline.UsageError, r"^system\.q0\.1: a value of type NAType cannot be stored"):
            bathline.run(recipe(q0=pandas.array([1.0, None], dtype="Float64")), progress=False)
        self.assertEqual(as_toml(np.ma.array([1.0, 2.0])), [1.0, 2.0])
        with self.assertRaisesRegex(bathline.UsageError, r"^integrators\.0\.name: None cannot be stored"):
            bathline.check(recipe() | {"integrators": [{"method": "gauss", "name": None}]})
        with self.assertRaisesRegex(bathline.UsageError, r"^system\.parameters\.b: None cannot be stored"):
            bathline.check(recipe(), overrides={"system.parameters": {"b": None}})
        with self.assertRaisesRegex(bathline.UsageError, r"^sweep\.time\.step\.0: None cannot be stored"):
            bathline.sweep(recipe(), over={"time.step": [None]}, progress=False)
        with self.assertRaisesRegex(bathline.UsageError, r"^system\.1: keys must be texts, not a value of type int"):
            bathline.check(recipe() | {"system": {1: 2}})


if __name__ == "__main__":
    unittest.main()
