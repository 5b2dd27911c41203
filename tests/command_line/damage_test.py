"""Single bytes changed in results and checkpoints: all programs report it, or their output is unchanged.

BATHLINE_FLIPS says how many bytes of each file are tried.
"""

import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from program import OSCILLATOR, PATIENCE, FolderTest, changed, end, run, start, variables, write_recipe

FLIPS = int(os.environ.get("BATHLINE_FLIPS", "6"))
CLAIM = {"name": "start", "quantity": "closed.q.max", "bounds": [0.0, 2.0]}
RECIPE = changed(OSCILLATOR, claims=[CLAIM], output={"checkpoint_every": 25, "keep_checkpoints": 1})

# A long line with few records, for a run that is killed.
LONG = changed(
    OSCILLATOR,
    environments=[OSCILLATOR["environments"][0] | {"sites": 20000}],
    time={"steps": 2000000},
    output={"every": 50, "checkpoint_every": 20000},
)


class DamageTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        recipe = write_recipe(cls.folder / "run.toml", RECIPE)
        cls.whole = cls.folder / "whole.h5"
        cls.stopped = cls.folder / "run.h5"
        for arguments, code in (
            (["run", recipe, "-o", cls.whole], 0),
            (["run", recipe, "-o", cls.stopped, "--wall-time", "1e-6"], 85),
        ):
            outcome = run([*arguments, "--progress", "none"])
            if outcome.code != code:
                raise AssertionError(outcome.text)
        (cls.checkpoint,) = cls.folder.glob("run.checkpoint.*.h5")

    def flips(self, path, seed):
        """Contents of a file with one byte changed, at offsets spread over all of it."""
        content = path.read_bytes()
        generator = random.Random(seed)
        for i in range(FLIPS):
            offset = (len(content) * i + generator.randrange(len(content))) // FLIPS
            flipped = bytearray(content)
            flipped[offset] ^= 1 << generator.randrange(8)
            yield offset, bytes(flipped)

    def check_outcome(self, outcome, what, codes):
        self.assertIn(outcome.code, codes, f"{what}: {outcome.text}")
        self.assertNotIn("internal error", outcome.err, what)
        self.assertNotIn("signal", outcome.err.lower(), what)
        if outcome.code != 0:
            self.assertEqual(outcome.text.count("error: "), 1, f"{what}: {outcome.text}")

    def test_a_complete_result(self):
        path = self.new_folder() / "whole.h5"
        before = {command: run([command, self.whole], ranks=None).out for command in ("claims", "verify")}
        for command, said in before.items():
            self.assertRegex(said, "PASS" if command == "claims" else "VERIFIED")
        for offset, content in self.flips(self.whole, 1):
            path.write_bytes(content)
            for command, said in before.items():
                outcome = run([command, path])
                self.check_outcome(outcome, f"{command} with byte {offset}", (0, 2))
                if outcome.code == 0:
                    # The end of the line with the checksum itself.
                    self.assertGreater(offset, len(content) - 80)
                    self.assertEqual(outcome.out, said.replace(str(self.whole), str(path)))
                    self.assertIn("does not end with its checksum", outcome.err)

    def test_a_result_without_a_checkpoint_cannot_be_resumed(self):
        path = self.new_folder() / "alone.h5"
        damaged = bytearray(self.whole.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        for content, reason in (
            (damaged, "damaged (its checksum does not match)"),
            (self.stopped.read_bytes(), "the result of an unfinished run"),
        ):
            path.write_bytes(content)
            outcome = run(["resume", path], ranks=2)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, f"error: {path} is {reason}, and there is no checkpoint beside it")
            self.assertEqual(path.read_bytes(), content)

    def test_a_result_that_is_resumed(self):
        for offset, content in self.flips(self.stopped, 2):
            folder = self.new_folder()
            path = folder / "run.h5"
            path.write_bytes(content)
            shutil.copy(self.checkpoint, folder)
            for command in ("claims", "verify"):
                self.check_outcome(run([command, path]), f"{command} with byte {offset}", (2,))
            outcome = run(["resume", path, "--progress", "none"])
            self.check_outcome(outcome, f"resume with byte {offset}", (0, 2))
            if outcome.code == 0:
                self.assert_same_bits(path, self.whole)
            else:
                # Only damage of the data that identify the run may prevent resuming it.
                self.assertRegex(outcome.err, "different recipe|records")

    def test_a_record_of_a_result_that_is_resumed(self):
        """HDF5 reads changed values without an error; the checkpoint has a copy of the original."""
        with h5py.File(self.stopped) as file:
            records = file["closed/q"]
            offset = records.id.get_chunk_info(0).byte_offset
            before = records[0, 0, 0]
        content = bytearray(self.stopped.read_bytes())
        content[offset] ^= 1
        folder = self.new_folder()
        path = folder / "run.h5"
        path.write_bytes(content)
        with h5py.File(path) as file:
            self.assertNotEqual(file["closed/q"][0, 0, 0], before)
        shutil.copy(self.checkpoint, folder)
        self.assert_code(run(["resume", path, "--progress", "none"]), 0)
        self.assert_same_bits(path, self.whole)

    def test_a_checkpoint(self):
        for offset, content in self.flips(self.checkpoint, 3):
            folder = self.new_folder()
            copy = folder / self.checkpoint.name
            copy.write_bytes(content)
            shutil.copy(self.stopped, folder)
            outcome = run(["resume", copy, "--progress", "none"])
            self.check_outcome(outcome, f"resume with byte {offset}", (2,))

    def test_files_of_older_versions(self):
        """Without a checksum and in HDF5's older format: they are read, with a warning about the missing checksum."""
        path = self.new_folder() / "old.h5"
        with h5py.File(self.whole) as source, h5py.File(path, "w", libver="earliest") as target:
            for name, value in source.attrs.items():
                target.attrs[name] = value
            for name in source:
                source.copy(name, target)
        for command, word in (("claims", "PASS"), ("verify", "VERIFIED")):
            outcome = run([command, path])
            self.assert_code(outcome, 0)
            self.assertIn(word, outcome.out)
            self.assert_said_once(outcome, "does not end with its checksum")
        # A variable that HDF5 cannot read is named.
        with h5py.File(path, "r+") as file:
            values = file["closed/q"][:]
            del file["closed/q"]
            broken = file.create_dataset("closed/q", data=values, chunks=values.shape, fletcher32=True)
            offset = broken.id.get_chunk_info(0).byte_offset
        content = bytearray(path.read_bytes())
        content[offset] ^= 1
        path.write_bytes(content)
        outcome = run(["verify", path], ranks=2)
        self.assert_code(outcome, 2)
        self.assertRegex(outcome.err, "closed/q of .* cannot be read")


# A library that hangs when it opens a file to read it, and a clock that runs 60 times as fast.
HANGS = """
#include <hdf5.h>
#include <unistd.h>
hid_t H5Fopen(const char* name, unsigned flags, hid_t access) {
  if (flags == H5F_ACC_RDONLY) for (;;) pause();
  hid_t (*real)(const char*, unsigned, hid_t) = (hid_t (*)(const char*, unsigned, hid_t))dlsym(RTLD_NEXT, "H5Fopen");
  return real(name, flags, access);
}
unsigned alarm(unsigned seconds) {
  unsigned (*real)(unsigned) = (unsigned (*)(unsigned))dlsym(RTLD_NEXT, "alarm");
  return real((seconds + 59) / 60);
}
"""


class HangingTest(FolderTest):
    def test_a_file_that_cannot_be_opened_in_time(self):
        path = self.folder / "run.h5"
        recipe = write_recipe(self.folder / "run.toml", RECIPE)
        self.assertEqual(run(["run", recipe, "-o", path, "--progress", "none"]).code, 0)
        # Without its checksum it is read once by a child process.
        content = path.read_bytes()
        path.write_bytes(content[: content.rindex(b"bathline result of ")])
        (checkpoint,) = self.folder.glob("run.checkpoint.*.h5")
        for command, file in (("claims", path), ("resume", checkpoint)):
            outcome = run([command, file], env=self.shim(HANGS))
            self.assert_code(outcome, 2)
            self.assertIn("opening the file: not finished within 60 s", outcome.err)


class KilledTest(FolderTest):
    def test_what_was_flushed_is_read_by_others(self):
        path = write_recipe(self.folder / "long.toml", LONG)
        for ranks in (None, 2):
            result = self.folder / f"killed-{ranks}.h5"
            process = start(["run", path, "-o", result, "--progress", "none"], ranks)
            try:
                for _ in range(60000):
                    if list(self.folder.glob(f"killed-{ranks}.checkpoint.*.h5")):
                        break
                    time.sleep(0.01)
                victims = subprocess.run(
                    ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False
                ).stdout.split() or [process.pid]
                os.kill(int(victims[-1]) if ranks else process.pid, signal.SIGKILL)
                process.communicate(timeout=PATIENCE)
            finally:
                end(process)
            with h5py.File(result) as file:
                self.assertEqual(file.libver[0], "v110")  # the metadata have checksums
                self.assertGreater(len(file["closed/time"]), 0)
                rows = len(file["closed/time"])
            script = f"import xarray; d = xarray.open_dataset('{result}', group='closed', engine='h5netcdf'); print(len(d.time), float(d.q[-1, 0, 0]))"
            said = subprocess.run(
                ["/usr/bin/python3", "-c", script], capture_output=True, text=True, check=True
            ).stdout.split()
            self.assertEqual(int(said[0]), rows)
            self.assertTrue(variables(result))


if __name__ == "__main__":
    unittest.main()
