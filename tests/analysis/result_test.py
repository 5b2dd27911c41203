"""Reading result files: paths of quantities, scales, claims, and error messages."""

import os
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

import synthetic
from bathline.claim import Claim
from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.values import natural_key


class ResultTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "limebeer2020" / "fig04" / "result.h5"

    def open(self, recipe="title = 'x'\n", **attributes):
        synthetic.trajectory(self.path, recipe, **attributes)
        result = RunResult(self.path)
        self.addCleanup(result.file.close)
        return result

    def test_indices_select_particle_and_axis(self):
        quantity = self.open().read("open.q[0][1]")
        np.testing.assert_allclose(quantity.values, np.sin(np.linspace(0, 10, 201) + 0.3))
        self.assertEqual((quantity.units, quantity.long_name), ("m", "position"))
        self.assertEqual(quantity.scale.units, "s")
        np.testing.assert_allclose(quantity.scale.values, np.linspace(0, 10, 201))

    def test_dimensions_of_length_one_need_no_index(self):
        result = self.open()
        for path in ("closed.single", "closed.single[0][0]"):
            np.testing.assert_allclose(result.read(path).values, np.cos(np.linspace(0, 10, 201)))

    def test_statistics_are_numbers(self):
        result = self.open()
        path = np.sin(np.linspace(0, 10, 201) + 0.3)
        for statistic, expected in {
            "first": path[0],
            "last": path[-1],
            "min": min(path),
            "max": max(path),
            "mean": sum(path) / 201,
            "rms": (sum(path * path) / 201) ** 0.5,
            "max_abs": max(abs(path)),
            "peak_to_peak": max(path) - min(path),
        }.items():
            quantity = result.read(f"open.q[0][1].{statistic}")
            self.assertEqual((quantity.values.shape, quantity.units), ((), "m"))
            self.assertAlmostEqual(float(quantity.values), expected, places=14)

    def test_statistics_are_over_all_selected_components(self):
        result = self.open()
        time = np.linspace(0, 10, 201)
        angle = time + 0.3
        for quantity, expected in (
            ("open.q.max", 3 + angle[-1]),
            ("open.q.min_at", 10.0),
            ("open.q[0].max", max(np.cos(angle).max(), np.sin(angle).max())),
            ("open.q[0].min_at", time[np.argmin(np.cos(angle))]),
            ("open.q[1].mean", 1.5),
            ("open.q[1].slope", 0.0),
            ("open.q[1].count", 402.0),
            ("open.q[1][1].last", -angle[-1]),
        ):
            self.assertAlmostEqual(float(result.read(quantity).values), expected, places=14, msg=quantity)
        for quantity, width in (("open.q.first", 4), ("open.q[1].last", 2)):
            with self.assertRaisesRegex(AnalysisError, f"needs indices: it has {width} components"):
                result.read(quantity)

    def test_an_index_for_every_dimension_gives_a_number_except_for_time_series(self):
        with synthetic.ResultWriter(self.path, "title = 'x'\n") as writer:
            for name in ("coordinate", "other"):
                writer.scale(f"open/{name}", [0, 1, 2])
            writer.variable("open/qv", np.arange(9.0).reshape(3, 3), ("coordinate", "other"), "m2/s")
            writer.variable("open/temperature", [4.0, 5.0, 6.0], ("coordinate",), "J")
            writer.scale("open/snapshot_time", [0.0, 1.0, 2.0], "s")
            writer.variable("open/q", [1.0, 2.0, 3.0], ("snapshot_time",), "m")
        with RunResult(self.path) as result:
            for path, expected, units in (("open.qv[1][2]", 5.0, "m2/s"), ("open.temperature[2]", 6.0, "J")):
                quantity = result.read(path)
                self.assertEqual((float(quantity.values), quantity.values.shape, quantity.units), (expected, (), units))
            with self.assertRaisesRegex(AnalysisError, r"has no index 3"):
                result.read("open.temperature[3]")
            with self.assertRaisesRegex(AnalysisError, r"'open.q\[1\]' has 1 indices, but q\(snapshot_time 3\) needs 0"):
                result.read("open.q[1]")

    def test_statistics_along_the_scale_have_their_own_units(self):
        result = self.open()
        time = np.linspace(0, 10, 201)
        path = np.sin(time + 0.3)
        for quantity, expected, units in (
            ("open.q[0][1].min_at", time[np.argmin(path)], "s"),
            ("open.q[0][1].max_at", time[np.argmax(path)], "s"),
            ("open.q[0][1].slope", np.polyfit(time, path, 1)[0], "m/s"),
            ("open.q[1][1].slope", -1.0, "m/s"),
            ("open.q[0][1].count", 201.0, "1"),
            ("open.energy_total.slope", 0.0, "(kg m2/s2)/s"),
            ("open.time.slope", 1.0, "s/s"),
            ("open.axis.max_at", 1.0, "1"),
        ):
            number = result.read(quantity)
            self.assertEqual((number.values.shape, number.units), ((), units), quantity)
            self.assertAlmostEqual(float(number.values), expected, places=14)
        for quantity in ("closed.limit.slope", "closed.limit.max_at"):
            with self.assertRaisesRegex(AnalysisError, "'closed.limit' has no coordinate, which"):
                result.read(quantity)

    def test_statistics_of_empty_series_and_of_nan(self):
        with synthetic.ResultWriter(self.path, "title = 'x'\n") as writer:
            for group, time, values in (
                ("hole", [0.0, 1.0, 2.0], [1.0, np.nan, 3.0]),
                ("empty", [], []),
                ("once", [2.0], [1.0]),
            ):
                writer.scale(f"{group}/time", time, "s")
                writer.variable(f"{group}/x", values, ("time",), "m")
        with RunResult(self.path) as result:
            for statistic in ("min_at", "max_at", "slope"):
                self.assertTrue(np.isnan(result.read(f"hole.x.{statistic}").values), statistic)
            self.assertEqual(float(result.read("empty.x.count").values), 0.0)
            self.assertEqual(float(result.read("once.x.max_at").values), 2.0)
            with self.assertRaisesRegex(AnalysisError, "'empty.x' is empty and has no 'slope'"):
                result.read("empty.x.slope")
            with self.assertRaisesRegex(AnalysisError, "a slope of 'once.x' needs two different values of once.time"):
                result.read("once.x.slope")

    def test_external_links_are_refused(self):
        """A file may come from a stranger; nothing outside the file that it refers to is opened."""
        pipe = Path(self.folder.name) / "pipe"
        os.mkfifo(pipe)
        layout = h5py.VirtualLayout(shape=(5,), dtype=float)
        layout[:] = h5py.VirtualSource(str(pipe), "x", shape=(5,))
        for message, change in {
            "extra is a link to another file": lambda file: h5py.ExternalLink(str(pipe), "/x"),
            "extra is a soft link": lambda file: h5py.SoftLink("/extra"),
            "extra is a second hard link": lambda file: file["/"],
        }.items():
            synthetic.trajectory(self.path, "title = 'x'\n")
            with h5py.File(self.path, "r+") as file:
                file["extra"] = change(file)
            with self.assertRaisesRegex(AnalysisError, message):
                RunResult(self.path)
        for make in (
            lambda file: file.create_virtual_dataset("extra", layout),
            lambda file: file.create_dataset("extra", (5,), dtype=float, external=[(str(pipe), 0, 40)]),
        ):
            synthetic.trajectory(self.path, "title = 'x'\n")
            with h5py.File(self.path, "r+") as file:
                make(file)
            with self.assertRaisesRegex(AnalysisError, "extra has its values in other files"):
                RunResult(self.path)

    def test_single_numbers(self):
        quantity = self.open().read("closed.limit")
        self.assertEqual(quantity.values.shape, ())
        self.assertEqual(float(quantity.values), 0.5)

    def test_labels_with_dots_and_nested_groups(self):
        path = self.path.with_name("orders.h5")
        synthetic.convergence(path)
        with RunResult(path) as result:
            self.assertEqual(result.groups("convergence"), ["gamma 0.5", "verlet"])
            self.assertEqual(len(result.read("convergence.gamma 0.5.error_q").values), 6)
            self.assertEqual(result.read("convergence.verlet.error_q").scale.path, "convergence.step")

    def test_variables_over_labels(self):
        path = self.path.with_name("orders.h5")
        synthetic.convergence(path)
        with h5py.File(path, "r+") as file:
            table = file["convergence"]
            table["label"] = ["gamma 0.5", "verlet"]
            table["label"].make_scale("label")
            table["order_q"] = [4.0, 2.0]
            table["order_q"].dims[0].attach_scale(table["label"])
        with RunResult(path) as result:
            self.assertEqual(float(result.read("convergence.order_q.max").values), 4.0)
            np.testing.assert_array_equal(result.read("convergence.order_q").scale.values, [0.0, 1.0])
            with self.assertRaisesRegex(AnalysisError, "'convergence.order_q' has no coordinate, which 'max_at' needs"):
                result.read("convergence.order_q.max_at")

    def test_the_error_for_a_missing_variable_lists_those_of_its_group(self):
        with self.assertRaisesRegex(AnalysisError, r"no variable 'closed\.qq'.*group 'closed' has .*q\(time 201, "):
            self.open().read("closed.qq")

    def test_the_error_for_a_missing_group_lists_the_groups(self):
        with self.assertRaisesRegex(AnalysisError, r"no variable 'clozed\.q'.*the file has .*closed.*open"):
            self.open().read("clozed.q[0][0]")

    def test_wrong_indices_are_errors(self):
        result = self.open()
        with self.assertRaisesRegex(AnalysisError, r"needs 2, for instance closed\.q\[0\]\[0\]"):
            result.read("closed.q")
        with self.assertRaisesRegex(AnalysisError, r"no index 2"):
            result.read("closed.q[2][0]")
        with self.assertRaisesRegex(AnalysisError, r"is not the path of a quantity"):
            result.read("closed.q[first]")

    def test_unreadable_files_are_errors_of_the_user(self):
        with self.assertRaisesRegex(AnalysisError, "no such file"):
            RunResult(self.path)
        self.path.parent.mkdir(parents=True)
        self.path.write_text("rubbish")
        with self.assertRaisesRegex(AnalysisError, "not a readable HDF5 file"):
            RunResult(self.path)

    def test_claims_and_their_targets(self):
        claims = {claim.name: claim for claim in self.open().claim_list()}
        self.assertEqual([claim.verdict for claim in claims.values()], ["PASS", "PASS", "not supported", "FAIL"])
        self.assertEqual(claims["energy"].target, "exactly 1")
        self.assertEqual(claims["agrees"].target, "at most 3")
        self.assertEqual(claims["identical"].target, "0 in [0, 0.001]")
        self.assertEqual(claims["echo"].target, "79 ± 1.6")
        self.assertEqual(claims["echo"].source, "limebeer2020, Fig. 5")
        self.assertEqual(Claim("x", lower=1.0, upper=2.0).target, "[1, 2]")

    def test_an_older_table_of_claims(self):
        self.path.parent.mkdir(parents=True)
        with h5py.File(self.path, "w") as file:
            file["claims/name"] = [b"old"]
            file["claims/measured"] = [2.5]
            file["claims/passed"] = np.array([True])
        with RunResult(self.path) as result:
            (claim,) = result.claim_list()
            self.assertEqual(
                (claim.name, claim.measured, claim.verdict, result.status), ("old", 2.5, "PASS", "unknown")
            )
            self.assertEqual(result.figure, {})

    def test_warnings_are_one_per_line(self):
        self.assertEqual(
            self.open(warnings="the echo comes\n\n the bath is coarse\n").warnings(),
            ["the echo comes", "the bath is coarse"],
        )

    def test_natural_order(self):
        self.assertEqual(sorted(["fig10", "fig9", "fig09b"], key=natural_key), ["fig9", "fig09b", "fig10"])


if __name__ == "__main__":
    unittest.main()
