"""Damaged files and unwritable paths: one line of error each, and never a traceback."""

import contextlib
import io
import os
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import h5py
import numpy as np

import synthetic
import bathline
import figure as command
import report
import sweep_table
from bathline.figure import draw
from bathline.result_file import RunResult

RECIPE = """
[[integrators]]
method = "rk4"
name = "closed"
[figure]
caption = "All is well."
[[figure.panels]]
series = [{of = "closed.q[0][0]"}]
"""


class DamageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "result.h5"
        synthetic.trajectory(self.path, RECIPE, steps=5)

    def run_command(self, main, *arguments):
        """Exit code and standard error of a command."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            return main([str(argument) for argument in arguments]), errors.getvalue()

    def damage(self, name):
        """Overwrite the beginning of the header of a group or a variable."""
        with h5py.File(self.path) as file:
            address = h5py.h5o.get_info(file[name].id).addr
        with open(self.path, "r+b") as file:
            file.seek(address)
            file.write(b"\xff" * 24)

    def test_damage_gives_one_line_of_error(self):
        for name in ("/", "closed", "closed/q", "claims/name"):
            with self.subTest(name):
                synthetic.trajectory(self.path, RECIPE, steps=5)
                self.damage(name)
                code, stderr = self.run_command(command.main, self.path, "-o", self.folder / "x")
                self.assertEqual((code, stderr.count("\n")), (2, 1), stderr)
                self.assertRegex(stderr, f"^figure: {self.path}: (cannot be read|not a readable HDF5 file)")
                with self.assertRaises(bathline.AnalysisError):
                    bathline.open(self.path)

    def test_unreadable_quantities_are_not_reported_as_missing(self):
        with RunResult(self.path) as result:
            damaged = mock.patch.object(result, "_find_dataset", side_effect=OSError("Can't read data\n (checksum)"))
            with damaged, self.assertRaisesRegex(bathline.AnalysisError, r"cannot be read: Can't read data \(checksum\)$"):
                result.has("closed.q[0][0]")
            result.recipe.pop("figure")
            with damaged, self.assertRaisesRegex(bathline.AnalysisError, "cannot be read"):
                draw(result)

    def test_errors_of_xarray_are_reported_as_unreadable(self):
        for read in (lambda result: result["closed"], lambda result: result.tree):
            damaged = mock.patch("xarray.open_dataset", side_effect=OSError("checksum"))
            with bathline.open(self.path) as result, damaged, mock.patch("xarray.open_datatree", create=True) as tree:
                tree.side_effect = RuntimeError("checksum")
                with self.assertRaisesRegex(bathline.AnalysisError, "cannot be read: checksum"):
                    read(result)

    def test_invalid_utf8_is_replaced(self):
        content = self.path.read_bytes()
        self.assertIn(b"All is well", content)
        self.path.write_bytes(content.replace(b"All is well", b"All is \xf3ell"))
        with RunResult(self.path) as result:
            self.assertEqual(result.figure["caption"], "All is \N{REPLACEMENT CHARACTER}ell.")
            result.figure["caption"].encode()

    def test_a_crash_of_hdf5_is_reported(self):
        with mock.patch.object(command, "RunResult", lambda path: os.kill(os.getpid(), signal.SIGSEGV)):
            code, stderr = self.run_command(command.main, self.path)
        self.assertEqual((code, stderr), (2, f"figure: {self.path}: HDF5 cannot read it and ends with SIGSEGV\n"))

    def test_ctrl_c_in_the_child_is_reported(self):
        with mock.patch.object(command, "RunResult", lambda path: os.kill(os.getpid(), signal.SIGINT)):
            code, stderr = self.run_command(command.main, self.path)
        self.assertEqual((code, stderr), (2, f"figure: {self.path}: HDF5 cannot read it and ends with SIGINT\n"))

    def test_the_default_kind_is_lines(self):
        with RunResult(self.path) as result:
            (line,) = draw(result).axes[0].lines
        np.testing.assert_allclose(line.get_ydata(), np.cos(np.linspace(0.0, 10.0, 6)))

    def test_unwritable_paths_are_reported(self):
        paper = self.folder / "paper" / "fig1" / "result.h5"
        synthetic.trajectory(paper, RECIPE, steps=5)
        for path in ("/proc/x", "/dev/null/x"):
            for name, main, arguments in (
                ("figure", command.main, (self.path, "-o", path)),
                ("report", report.main, (self.folder, "-o", path)),
                ("sweep_table", sweep_table.main, (self.path, "-o", path)),
            ):
                with self.subTest(path, name=name):
                    code, stderr = self.run_command(main, *arguments)
                    self.assertEqual((code, stderr.count("\n")), (2, 1), stderr)
                    self.assertRegex(stderr, f"^{name}: (/proc/x|/dev/null)")
        code, stderr = self.run_command(command.main, self.path, "-o", "/")
        self.assertEqual((code, stderr), (2, "figure: /: is a folder; the path of a file without extension is needed\n"))

    def test_the_report_is_written_without_unreadable_figures_and_logs(self):
        for name, content in (("a", None), ("b", "rubbish")):
            file = self.folder / "paper" / name / "result.h5"
            synthetic.trajectory(file, RECIPE, steps=5)
            if content:
                file.write_text(content)
            file.with_name("run.log").write_text("log")
            file.with_suffix(".png").write_text("picture")
        # Permissions do not apply to root, so that the error is simulated.
        refused = PermissionError(13, "Permission denied")
        with mock.patch.object(Path, "read_text", side_effect=refused):
            entries = report.entries_of(self.folder)
        with mock.patch.object(Path, "read_bytes", side_effect=refused):
            page = report.page(entries, self.folder)
        self.assertIn("result.png cannot be read: Permission denied", page)
        self.assertIn("run.log cannot be read: Permission denied", page)


if __name__ == "__main__":
    unittest.main()
