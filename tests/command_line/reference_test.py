"""experiments/reference/ agrees with the program's descriptions, and experiments/README.md lists all recipes."""

import subprocess
import sys
import unittest

from program import SOURCE


class ReferenceTest(unittest.TestCase):
    def test_it_is_up_to_date(self):
        command = [sys.executable, str(SOURCE / "experiments" / "reference.py"), "--check"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
