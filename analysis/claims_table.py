#!/usr/bin/python3
"""Prints the claims of result files as a table.

    claims_table.py RESULT.h5...

The exit code is 1 if a claim fails, a file cannot be read or a run did not finish; the latter two have a line each.
"""

import argparse
import sys
from pathlib import Path

from tabulate import tabulate

from bathline.isolated_process import run_isolated
from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.values import format_number

_HEADINGS = ("recipe", "claim", "measured", "expected", "uncertainty", "verdict")


class Table:
    """The claims of result files as rows of text.

    Parameters
    ----------
    paths : iterable of path-like
        Result files.

    Attributes
    ----------
    rows : list of tuple of str
        One row for each claim and each unfinished run.
    passed, failed, unsupported, unfinished : int
        Numbers of claims and of runs.
    """

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
        except Exception as error:  # an error caused by a damaged file must not end the table
            status, claims = f"unreadable: {error}".splitlines()[0], []
        for claim in claims:
            measured = format_number(claim.measured)
            self.rows.append((name, claim.name, measured, claim.target, claim.accuracy, claim.verdict))
            self.passed += claim.passed and claim.supported
            self.failed += not claim.passed
            self.unsupported += claim.passed and not claim.supported
        if status != "complete":
            self.rows.append((name, "status of the run", status, "complete", "", "FAIL"))
            self.unfinished += 1

    @property
    def good(self):
        """bool : Whether all runs finished and all claims passed."""
        return self.failed == 0 and self.unfinished == 0

    def text(self):
        """Format the rows in columns.

        Returns
        -------
        str
            Lines with headings.
        """
        return tabulate(self.rows, _HEADINGS, tablefmt="simple", disable_numparse=True)

    def counts(self):
        """Format the numbers of claims.

        Returns
        -------
        str
            For instance '5 PASS, 1 FAIL, 2 not supported'.
        """
        parts = [f"{self.passed} PASS", f"{self.failed} FAIL"]
        if self.unsupported:
            parts.append(f"{self.unsupported} not supported")
        if self.unfinished:
            parts.append(f"{self.unfinished} not finished")
        return ", ".join(parts)


def _read(path):
    with RunResult(path) as result:
        return result.status, result.claim_list()


def main(arguments=None):
    """Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        Command line, by default `sys.argv[1:]`.

    Returns
    -------
    int
        Exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", metavar="RESULT.h5", nargs="*")
    parser.add_argument("--count", action="store_true", help="one line instead of the table")
    options = parser.parse_args(arguments)
    table = Table(options.results)
    print(table.counts() if options.count else f"{table.text()}\n\nclaims: {table.counts()}")
    return 0 if table.good else 1


if __name__ == "__main__":
    sys.exit(main())
