"""Concurrent runs: a result has one writer at a time, and a second one is told which process that is."""

import os
import re
import signal
import socket
import time
import unittest
from pathlib import Path

from program import OSCILLATOR, PATIENCE, FolderTest, changed, end, kill, run, start, toml, write_recipe

# Long enough to be still running when tested, with checkpoints.
LONG = changed(
    OSCILLATOR,
    environments=[OSCILLATOR["environments"][0] | {"sites": 20000}],
    time={"steps": 10000000},
    output={"every": 10000, "checkpoint_every": 20000},
)

# The behaviour of a file system without locks; other operations of fcntl are passed on.
NO_LOCKS = """
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int answer(const char* name, int descriptor, int command, void* argument) {
  if (command == F_OFD_SETLK) { errno = ENOLCK; return -1; }
  int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  return real(descriptor, command, argument);
}
int fcntl(int descriptor, int command, ...) {
  va_list more; va_start(more, command); void* argument = va_arg(more, void*); va_end(more);
  return answer("fcntl", descriptor, command, argument);
}
int fcntl64(int descriptor, int command, ...) {
  va_list more; va_start(more, command); void* argument = va_arg(more, void*); va_end(more);
  return answer("fcntl64", descriptor, command, argument);
}
"""


class LockTest(FolderTest):
    def setUp(self):
        self.folder = self.new_folder()
        self.recipe = write_recipe(self.folder / "long.toml", LONG)
        self.short = write_recipe(self.folder / "short.toml", OSCILLATOR)
        self.result = self.folder / "run.h5"
        self.lock = self.folder / "run.h5.lock"

    def checkpoints(self, stem="run"):
        return list(self.folder.glob(f"{stem}.checkpoint.*.h5"))

    def wait_for(self, condition, process):
        for _ in range(60000):
            if condition():
                return
            if process.poll() is not None:
                self.fail(f"ended: {process.communicate()}")
            time.sleep(0.01)
        self.fail("nothing came")

    def under_way(self, arguments=None, ranks=None, stem="run"):
        """A run that has written a checkpoint and is still running."""
        process = start(arguments or ["run", self.recipe, "-o", self.result, "--progress", "none"], ranks)
        self.addCleanup(end, process)
        self.wait_for(lambda: self.checkpoints(stem), process)
        return process

    def check_refused(self, arguments, pid, ranks=(None,), **options):
        for count in ranks:
            outcome = run([*arguments, "--progress", "none"], count, **options)
            self.assert_code(outcome, 2)
            holder = re.findall(r"is being written by process (\d+) on (\S+) since (\d{4}-\S+Z)", outcome.err)
            self.assertEqual(len(holder), 1, outcome.text)
            self.assertEqual(holder[0][1], socket.gethostname())
            if pid is not None:
                self.assertEqual(int(holder[0][0]), pid)

    def test_a_second_writer_is_refused(self):
        process = self.under_way()
        link = self.new_folder() / "link.h5"
        link.symlink_to(self.result)
        self.check_refused(["run", self.short, "-o", self.result], process.pid)
        self.check_refused(["run", self.short, "-o", self.result, "--overwrite"], process.pid, ranks=(None, 2))
        self.check_refused(["run", self.short, "-o", link, "--overwrite"], process.pid)
        self.check_refused(["resume", self.result], process.pid)
        # A checkpoint that the run does not remove during the test.
        checkpoint = self.new_folder() / "kept.h5"
        for _ in range(20):
            try:
                os.link(self.checkpoints()[0], checkpoint)
                break
            except (FileNotFoundError, IndexError):
                continue
        self.check_refused(["resume", checkpoint, "-o", self.result], process.pid)
        # Reading is permitted, and so is writing another result.
        self.assert_code(run(["claims", self.result]), 0)
        self.assert_code(run(["run", self.short, "-o", self.folder / "other.h5", "--progress", "none"]), 0)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 85)
        self.assertEqual(list(self.folder.glob("*.lock")), [])

    def test_a_resumed_run_is_a_writer_too(self):
        process = self.under_way()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        second = start(["resume", self.result, "--progress", "none"])
        self.addCleanup(end, second)
        self.wait_for(lambda: self.lock.exists() and self.lock.read_text(), second)
        self.check_refused(["resume", self.result], second.pid)
        self.check_refused(["run", self.recipe, "-o", self.result, "--overwrite"], second.pid)

    def test_ranks_hold_it_together(self):
        self.under_way(ranks=2)
        self.check_refused(["resume", self.result], None, ranks=(2,))

    def test_a_kill_leaves_nothing_to_be_removed_by_hand(self):
        kill(self.under_way())
        self.assertTrue(self.lock.exists())
        outcome = run(["run", self.short, "-o", self.result, "--overwrite", "--progress", "none"], ranks=2)
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.err, "")
        self.assertFalse(self.lock.exists())

    def test_elements_of_a_sweep(self):
        self.recipe.write_text(toml(LONG) + "\n[sweep]\nsystem.k = [1.0, 2.0]\n")
        sweep = ["run", self.recipe]
        listed = run(["sweep", self.recipe], cwd=self.folder).out
        first = Path(listed.split()[1]).stem
        process = self.under_way([*sweep, "-o", self.folder / "long.h5", "--progress", "none"], stem=first)
        self.check_refused([*sweep, "--element", "0"], process.pid, cwd=self.folder)
        self.check_refused([*sweep, "--overwrite"], process.pid, cwd=self.folder)

    def test_many_at_once(self):
        """Of runs that write the same result at the same time, each has exclusive access or is refused."""
        arguments = ["run", self.short, "-o", self.result, "--overwrite", "--progress", "none"]
        crowd = [start(arguments) for _ in range(6)]
        codes = []
        for process in crowd:
            out, err = process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (0, 2), out + err)
            if process.returncode == 2:
                self.assertIn("is being written by", err)
            codes.append(process.returncode)
        self.assertIn(0, codes)
        self.assert_code(run(["verify", self.result, "--progress", "none"]), 0)
        self.assertFalse(self.lock.exists())

    def test_foreign_lock_files_are_not_changed(self):
        kept = self.folder / "diary.txt"
        kept.write_text("dear diary")
        for make in (lambda: self.lock.write_text("dear diary"), lambda: self.lock.symlink_to(kept), self.lock.mkdir):
            make()
            outcome = run(["run", self.short, "-o", self.result, "--progress", "none"], ranks=2)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, "run.h5.lock is not a lock file of bathline")
            self.assertFalse(self.result.exists())
            self.assertEqual(kept.read_text(), "dear diary")
            if self.lock.is_dir():
                self.lock.rmdir()
            else:
                self.assertEqual(self.lock.read_text(), "dear diary")
                self.lock.unlink()

    def test_short_runs_in_quick_succession(self):
        for _ in range(5):
            processes = [
                start(["run", self.short, "-o", self.folder / f"run.{i}.h5", "--overwrite", "--progress", "none"])
                for i in range(6)
            ]
            for process in processes:
                out, err = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, err), (0, ""), out + err)

    def test_a_file_system_without_locks(self):
        self.recipe.write_text(toml(OSCILLATOR) + "\n[sweep]\nsystem.k = [1.0, 2.0]\n")
        outcome = run(["run", self.recipe, "--progress", "none"], env=self.shim(NO_LOCKS), cwd=self.folder)
        self.assert_code(outcome, 0)
        self.assert_said_once(outcome, "cannot be locked (No locks available)")
        self.assertEqual(list(self.folder.glob("*.lock")), [])
        self.assertEqual(len(list(self.folder.glob("long.*.h5"))), 2)


if __name__ == "__main__":
    unittest.main()
