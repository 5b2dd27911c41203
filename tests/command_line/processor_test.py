"""The program on a processor that it was not built for, which QEMU plays."""

import re
import shutil
import subprocess
import unittest

from program import PATIENCE, PROGRAM, run

# Processors, and the instruction sets of -march that they have.
PROCESSORS = {"Nehalem": ["x86-64", "x86-64-v2"], "Haswell": ["x86-64", "x86-64-v2", "x86-64-v3"]}
EMULATOR = shutil.which("qemu-x86_64")


@unittest.skipUnless(EMULATOR, "needs qemu-x86_64, Debian's qemu-user")
class ProcessorTest(unittest.TestCase):
    def test_missing_instructions_are_named(self):
        built_for = re.search(r"-march=(\S+)", run(["--version"]).out)
        if not built_for or not built_for[1].startswith("x86-64"):
            self.skipTest("what a build of another kind needs is not known")
        for processor, sets in PROCESSORS.items():
            with self.subTest(processor=processor, built_for=built_for[1]):
                words = [EMULATOR, "-cpu", processor, PROGRAM, "--version"]
                outcome = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
                if built_for[1] in sets:
                    self.assertEqual(outcome.returncode, 0, outcome.stderr)
                    continue
                self.assertEqual(outcome.returncode, 2, outcome.stderr)
                self.assertEqual(outcome.stdout, "")
                self.assertIn("which this one does not have", outcome.stderr)
                self.assertIn("-DBATHLINE_ARCH=x86-64-v3", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
