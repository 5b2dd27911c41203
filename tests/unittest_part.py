"""Runs the tests of a Python file: unittest_part.py FILE

As GoogleTest's programs do, one of GTEST_TOTAL_SHARDS parts, that of GTEST_SHARD_INDEX, if these variables are set. Exit code 77
if all tests were left out, 1 if one failed or there were none.
"""

import os
import sys
import unittest
from pathlib import Path


def cases_of(suite):
    """The single tests of a suite, in their order."""
    for one in suite:
        yield from cases_of(one) if isinstance(one, unittest.TestSuite) else [one]


count, index = (int(os.environ.get(f"GTEST_{name}", default)) for name, default in (("TOTAL_SHARDS", 1), ("SHARD_INDEX", 0)))
file = Path(sys.argv[1])
cases = [*cases_of(unittest.defaultTestLoader.discover(file.parent, pattern=file.name))]
mine = cases[len(cases) * index // count : len(cases) * (index + 1) // count]
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(mine))
if not cases or not result.wasSuccessful():
    sys.exit(1)
sys.exit(77 if len(result.skipped) >= max(result.testsRun, 1) else 0)
