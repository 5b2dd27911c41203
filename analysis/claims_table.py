#!/usr/bin/python3
"""Prints the claims of result files as a table.

    claims_table.py RESULT.h5...

The exit code is 1 when a claim fails. A file that cannot be read, or a run that did not finish, is a line
of its own and gives exit code 1 too.
"""

import argparse
import sys
from pathlib import Path

from bathline.isolated_process import run_isolated
from bathline.result_file import AnalysisError, ResultFile, format_number

_HEADINGS = ("recipe", "claim", "measured", "expected", "uncertainty", "verdict")


class Table:
    """The claims of some result files as rows of text."""

    def __init__(self, paths):
        self.rows = []
        self.passed = self.failed = self.unsupported = self.unfinished = 0
        for path in map(Path, paths):
            self._add("/".join(path.parts[-3:-1]), path)

    def _add(self, name, path):
        try:
            status, claims = run_isolated(_read, path)
        except AnalysisError as error:
            status, claims = str(error).removeprefix(f"{path}: "), []
        except Exception as error:  # whatever a damaged file leads to concerns its own line alone
            status, claims = f"unreadable: {error}".splitlines()[0], []
        for claim in claims:
            measured = format_number(claim.measured)
            self.rows.append((name, claim.name, measured, claim.target, claim.accuracy, claim.verdict))
            self.passed += claim.passed and claim.supported
            self.failed += not claim.passed
            self.unsupported += claim.passed and not claim.supported
        if status != "complete":
            self.rows.append((name, "the run itself", status, "complete", "", "FAIL"))
            self.unfinished += 1

    @property
    def good(self):
        """Whether everything finished and every claim passed."""
        return self.failed == 0 and self.unfinished == 0

    def text(self):
        """The rows under their headings, in columns as wide as needed."""
        lines = [_HEADINGS, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
        texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([texts[0], "  ".join("-" * width for width in widths), *texts[1:]])

    def counts(self):
        """'5 PASS, 1 FAIL' and what else is worth knowing."""
        parts = [f"{self.passed} PASS", f"{self.failed} FAIL"]
        if self.unsupported:
            parts.append(f"{self.unsupported} not supported")
        if self.unfinished:
            parts.append(f"{self.unfinished} not finished")
        return ", ".join(parts)


def _read(path):
    with ResultFile(path) as result:
        return result.status, result.claims()


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", metavar="RESULT.h5", nargs="*")
    parser.add_argument("--count", action="store_true", help="one line instead of the table")
    options = parser.parse_args(arguments)
    table = Table(options.results)
    print(table.counts() if options.count else f"{table.text()}\n\nclaims: {table.counts()}")
    return 0 if table.good else 1


if __name__ == "__main__":
    sys.exit(main())
