"""Results and checkpoints from untrusted sources: they cannot make the program use other files."""

import os
import shutil
import signal
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

from program import OSCILLATOR, PATIENCE, FolderTest, changed, checkpoints_of, end, run, start, write_recipe
from resume_test import change_checkpoint, listen, parts_of

PRECIOUS = b"the user's own\n"

# An implicit method, so that solver options have an effect, and a table that is stored in the file.
BATH = {"name": "bath", "kind": "heat-bath", "spectrum": "table", "file": "bath.txt"}
RECIPE = changed(
    OSCILLATOR,
    environments=[OSCILLATOR["environments"][0], BATH],
    integrators=[{"method": "gamma", "gamma": 0.5, "on": "closed", "name": "closed"}],
    output={"checkpoint_every": 25, "keep_checkpoints": 1},
    claims=[{"name": "moves", "quantity": "closed.q.max", "bounds": [0.0, 5.0]}],
)


class StrangersTest(FolderTest):
    """A complete run with one checkpoint, which every test copies."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "bath.txt").write_text("".join(f"{0.3 * j} 0.02\n" for j in range(1, 30)))
        recipe = write_recipe(cls.folder / "run.toml", RECIPE)
        outcome = run(["run", recipe, "-o", cls.folder / "run.h5", "--progress", "none"])
        if outcome.code != 0:
            raise AssertionError(outcome.text)

    def setUp(self):
        self.folder = self.new_folder()
        self.result = Path(shutil.copy(type(self).folder / "run.h5", self.folder))
        self.checkpoint = Path(shutil.copy(checkpoints_of(type(self).folder / "run.h5")[-1], self.folder))
        self.victim = self.new_folder() / "victim.txt"
        self.victim.write_bytes(PRECIOUS)

    def change(self, path, change):
        """Changes a result, or a checkpoint, whose checksum is updated."""
        if path == self.checkpoint:
            change_checkpoint(path, change)
        else:
            with h5py.File(path, "r+") as file:
                change(file)

    def ends(self, *arguments, code=2, ranks=None):
        quiet = [] if arguments[0] == "claims" else ["--progress", "none"]
        outcome = run([*arguments, *quiet], ranks)
        self.assert_code(outcome, code)
        self.assertEqual(self.victim.read_bytes(), PRECIOUS)
        self.assertNotIn("internal error", outcome.text)
        return outcome

    def refused(self, *arguments, message, ranks=None):
        """One line with the reason; no file in the folder has changed."""
        before = self.content()
        outcome = self.ends(*arguments, ranks=ranks)
        self.assertRegex(outcome.err, message)
        lines = [line for line in outcome.err.splitlines() if not line.startswith("warning: ")]
        self.assertEqual(len(lines), 1, outcome.err)
        self.assertTrue(lines[0].startswith("error: "), outcome.err)
        self.assertEqual(self.content(), before)

    def content(self):
        files = (path for path in self.folder.iterdir() if path.is_file())
        return {path.name: path.read_bytes() for path in files}


class OptionsTest(StrangersTest):
    """PETSc's options can load libraries, start programs and write files."""

    def set_options(self, words):
        for path in (self.result, self.checkpoint):
            self.change(path, lambda file: file.attrs.modify("petsc_options", words))

    def test_all_but_numbers_and_types_are_refused_by_name(self):
        for words, name in (
            (f"-ksp_type cg -dll_prepend {self.victim}", "-dll_prepend"),
            (f"-info :{self.victim}", "-info"),
            ("-snes_type shell", "-snes_type shell"),
        ):
            with self.subTest(words):
                self.set_options(words)
                message = f"contains PETSc's option `{name}.*give after `--`"
                self.refused("verify", self.result, message=message)
                self.refused("resume", self.checkpoint, message=message)
        self.refused("verify", self.result, message=message, ranks=2)
        self.refused("resume", self.checkpoint, message=message, ranks=2)

    def test_log_options_are_ignored_with_a_warning(self):
        self.set_options(f"-log_view :{self.victim} -ksp_type cg")
        for arguments in (["verify", self.result], ["resume", self.checkpoint]):
            outcome = self.ends(*arguments, code=0, ranks=2)
            self.assert_said_once(outcome, "`-log_view` from")

    def test_numbers_and_types_are_accepted(self):
        words = "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-13 -snes_max_it 20 -particles_ksp_type gmres"
        recipe = type(self).folder / "run.toml"
        self.ends("run", recipe, "-o", self.result, "--overwrite", code=0)
        plain = self.content()["run.h5"]
        outcome = run(["run", recipe, "-o", self.result, "--overwrite", "--progress", "none", "--", *words.split()])
        self.assert_code(outcome, 0)
        self.assertNotEqual(self.content()["run.h5"], plain)
        self.assertIn("have the same bits", self.ends("verify", self.result, code=0).out)

    def test_options_of_the_user_replace_those_of_the_file(self):
        self.set_options("-start_in_debugger")
        for arguments in (["verify", self.result], ["resume", self.checkpoint]):
            outcome = run([*arguments, "--progress", "none", "--", "-ksp_max_it", "30"])
            self.assert_code(outcome, 0)
        with h5py.File(self.result) as file:
            self.assertEqual(file.attrs["petsc_options"], "-ksp_max_it 30")


class PlaceTest(StrangersTest):
    """A checkpoint resumes only the result beside it."""

    def break_result(self, path):
        """A result as after a kill in the middle of a flush, which the checkpoint's copy would replace."""
        content = bytearray(path.read_bytes())
        content[96:4096] = bytes(4000)
        path.write_bytes(content)

    def name_result(self, name):
        self.change(self.checkpoint, lambda file: file.attrs.modify("result", name))

    def test_a_result_elsewhere(self):
        elsewhere = self.new_folder() / "run.h5"
        shutil.copy(self.result, elsewhere)
        self.break_result(elsewhere)
        before = elsewhere.read_bytes()
        for name in (str(elsewhere), f"../{elsewhere.parent.name}/run.h5", "..", "", "run.h5\nmore"):
            with self.subTest(name):
                self.name_result(name)
                self.refused("resume", self.checkpoint, message="names the result `.*`, which is not a file name")
                self.assertEqual(elsewhere.read_bytes(), before)
        self.refused("resume", self.checkpoint, message="which is not a file name", ranks=2)
        # A result that the user names is resumed.
        self.ends("resume", self.checkpoint, "-o", self.result, code=0)
        self.ends("resume", self.result, code=0)

    def test_a_symbolic_link(self):
        elsewhere = Path(shutil.move(self.result, self.new_folder()))
        self.result.symlink_to(elsewhere)
        elsewhere.chmod(0o640)
        before = elsewhere.read_bytes()
        self.refused("resume", self.checkpoint, message="run.h5 is a symbolic link")
        self.assertEqual(elsewhere.read_bytes(), before)
        self.ends("resume", self.checkpoint, "-o", self.result, code=0)
        self.assertTrue(self.result.is_symlink())
        self.assertNotEqual(elsewhere.read_bytes(), before)
        self.assertEqual(elsewhere.stat().st_mode & 0o777, 0o640)

    def test_an_output_that_is_not_a_result(self):
        text = self.folder / "recipe.toml"
        text.write_bytes(PRECIOUS)
        data = self.folder / "data.h5"
        with h5py.File(data, "w") as file:
            file.attrs["calibration"] = np.arange(3.0)
        for path, message in ((text, "is not an HDF5 file"), (data, "has no attribute recipe_resolved")):
            for ranks in (None, 2):
                self.refused("resume", self.checkpoint, "-o", path, message=message, ranks=ranks)

    def test_a_copy_that_is_not_a_result(self):
        other = self.folder / "other.h5"
        linked = self.folder / "linked.h5"
        for path, change in (
            (other, lambda file: file.attrs.modify("recipe_resolved", "title = 'other'")),
            (linked, lambda file: file.__setitem__("extra", h5py.ExternalLink(str(self.victim), "/x"))),
        ):
            path.write_bytes(parts_of(self.checkpoint)[1])
            self.change(path, change)
        whole = self.checkpoint.read_bytes()
        broken = self.folder / "broken.h5"
        broken.write_bytes(parts_of(self.checkpoint)[1])
        with h5py.File(broken, "r+") as file:
            values = file.create_dataset("extra", data=np.zeros(9), chunks=(9,), fletcher32=True)
            offset = values.id.get_chunk_info(0).byte_offset
        with open(broken, "r+b") as file:
            file.seek(offset)
            file.write(b"x")
        for copy, message in (
            (b"#!/bin/sh\nrm -rf /\n", "not an HDF5 file"),
            (b"", "not an HDF5 file"),
            (other.read_bytes(), "belongs to a different recipe"),
            (linked.read_bytes(), "is a link to another file"),
            (broken.read_bytes(), "extra of .* cannot be read"),
        ):
            with self.subTest(message):
                self.checkpoint.write_bytes(whole)
                change_checkpoint(self.checkpoint, lambda file: None, copy)
                message = f"the copy of the result in .*{message}"
                for ranks in (None, 2):
                    self.refused("resume", self.checkpoint, message=message, ranks=ranks)

    def test_the_name_of_the_unfinished_copy(self):
        scratch = Path(f"{self.result}.unfinished")
        scratch.symlink_to(self.victim)
        self.ends("resume", self.checkpoint, code=0)
        self.assertFalse(scratch.is_symlink())


class RerunTest(StrangersTest):
    """The rerun of `verify` has its own file, which is removed at the end."""

    def setUp(self):
        super().setUp()
        self.checkpoint.unlink()

    def make_endless(self):
        def lengthen(file):
            text = file.attrs["recipe_resolved"]
            self.assertIn("steps = 60", text)
            file.attrs.modify("recipe_resolved", text.replace("steps = 60", "steps = 1000000000"))

        self.change(self.result, lengthen)

    def reruns(self):
        return sorted(path.name for path in self.folder.iterdir() if ".rerun-" in path.name)

    def wait_for_reruns(self, count, process):
        for _ in range(60000):
            if len(self.reruns()) == count:
                return
            self.assertIsNone(process.poll(), process.communicate() if process.poll() is not None else "")
            time.sleep(0.01)
        self.fail("no rerun has begun")

    def start(self, ranks=None):
        process = start(["verify", self.result, "--progress", "none"], ranks, preexec_fn=listen)
        self.addCleanup(end, process)
        return process

    def test_existing_files_are_kept(self):
        old = Path(f"{self.result}.rerun.h5")
        old.symlink_to(self.victim)
        self.ends("verify", self.result, code=0)
        self.assertTrue(old.is_symlink())
        self.assertEqual(self.reruns(), [])

    def test_signals(self):
        self.make_endless()
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(kind.name):
                process = self.start()
                self.wait_for_reruns(1, process)
                time.sleep(0.2)
                process.send_signal(kind)
                process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, -kind)
                self.assertEqual([path.name for path in self.folder.iterdir()], ["run.h5"])
        process = self.start(ranks=2)
        self.wait_for_reruns(1, process)
        time.sleep(0.2)
        process.terminate()
        process.communicate(timeout=PATIENCE)
        # mpirun may end before its ranks.
        for _ in range(60000):
            if not self.reruns():
                break
            time.sleep(0.01)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["run.h5"])

    def test_two_at_once(self):
        self.make_endless()
        first = self.start()
        self.wait_for_reruns(1, first)
        second = self.start()
        self.wait_for_reruns(2, second)
        for process in (first, second):
            process.terminate()
            process.communicate(timeout=PATIENCE)
        self.assertEqual(self.reruns(), [])

    def test_a_folder_that_cannot_be_written(self):
        target = self.folder / ("x" * 240 + ".h5")  # a longer name would be invalid
        self.result.rename(target)
        self.refused("verify", target, message="cannot write .*; give another path for the rerun with -o")


class StructureTest(StrangersTest):
    """Links that HDF5 would follow to other files, pipes and devices, cyclic links, and huge declared sizes."""

    def test_external_links(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        other = self.victim.with_name("other.h5")
        with h5py.File(other, "w") as file:
            file["x"] = np.zeros(61)
        layout = h5py.VirtualLayout(shape=(61,), dtype=float)
        layout[:] = h5py.VirtualSource(str(pipe), "x", shape=(61,))

        def link(made):
            return lambda file: file.__setitem__("extra", made(file))

        changes = {
            "`extra` is a link to another file": link(lambda file: h5py.ExternalLink(str(other), "/x")),
            "`extra` is a link to another file,": link(lambda file: h5py.ExternalLink(str(pipe), "/x")),
            "`extra` is a soft link": link(lambda file: h5py.SoftLink("/extra")),
            "`extra` is a second hard link": link(lambda file: file["/"]),
            "`group/again` is a second hard link": lambda file: file.create_group("group").__setitem__(
                "again", file["group"]
            ),
            "`extra` is a virtual dataset of other files": lambda file: file.create_virtual_dataset("extra", layout),
            "`extra` stores its values in other files": lambda file: file.create_dataset(
                "extra", (61,), dtype=float, external=[(str(pipe), 0, 61 * 8)]
            ),
        }
        result, checkpoint = self.result.read_bytes(), self.checkpoint.read_bytes()
        for message, change in changes.items():
            with self.subTest(message):
                self.result.write_bytes(result)
                self.checkpoint.write_bytes(checkpoint)
                self.change(self.result, change)
                self.refused("verify", self.result, message=message)
                self.refused("claims", self.result, message=message)
                self.refused("resume", self.checkpoint, "-o", self.result, message=message)
                self.result.write_bytes(result)
                self.change(self.checkpoint, change)
                self.refused("resume", self.checkpoint, message=message)
        self.refused("resume", self.checkpoint, message=message, ranks=2)

    def test_declared_terabytes(self):
        def inflate(name):
            def change(file):
                del file[name]
                file.create_dataset(name, (10**12,), dtype=float, chunks=(1024,))

            return change

        self.change(self.result, inflate("claims/claim"))
        self.refused("claims", self.result, message="declares 8e[+]12 bytes, but only 0 are stored")
        self.change(self.checkpoint, inflate("particles/q"))
        outcome = self.ends("resume", self.checkpoint, code=3, ranks=2)
        self.assert_said_once(outcome, "declares 8e+12 bytes, but only 0 are stored")

    def test_pipes_and_devices(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, "/dev/zero"):
            self.refused("verify", path, message="not a regular file")
            self.refused("resume", path, message="not a regular file")
            self.refused("claims", path, message="not a regular file")
            self.refused("resume", self.checkpoint, "-o", path, message="not a regular file", ranks=2)

    def name_table(self, name, text):
        """The result with the name of another table, and its text if given."""

        def change(file):
            resolved = file.attrs["recipe_resolved"]
            file.attrs.modify("recipe_resolved", resolved.replace('"bath.txt"', f'"{name}"'))
            if text is not None:
                file.attrs[f"input_file:{name}"] = text

        return change

    def test_input_files(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        table = "1.0 0.1\n2.0 0.1\n"
        elsewhere = self.victim.with_name("bath.txt")
        elsewhere.write_text(table)
        for name, text, message in (
            (pipe, table, "which has changed or is missing since"),
            ("/dev/zero", table, "which has changed or is missing since"),
            (self.victim, table, "which has changed or is missing since"),
            (elsewhere, None, "which it does not contain"),
            ("../../bath.txt", None, "which it does not contain"),
        ):
            with self.subTest(name):
                original = self.result.read_bytes(), self.checkpoint.read_bytes()
                for path in (self.result, self.checkpoint):
                    self.change(path, self.name_table(name, text))
                self.refused("verify", self.result, message=message)
                self.refused("resume", self.checkpoint, message=message)
                self.result.write_bytes(original[0])
                self.checkpoint.write_bytes(original[1])
        # An unchanged file with an absolute path is accepted.
        self.change(self.result, self.name_table(elsewhere, table))
        self.ends("verify", self.result, code=1)


if __name__ == "__main__":
    unittest.main()
