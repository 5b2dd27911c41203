#!/usr/bin/python3
"""One table of many results: what was swept, and what each claim has measured.

    analysis/sweep_table.py many.*.h5 -o many.csv

One row a file, in the order of the sweep: its name, its status, the value of every swept key, for every claim the measured
value and whether it passed (1 or 0), and any number asked for by --of, such as --of closed.energy_particles.last. Cells
that a file has nothing for stay empty. A file that cannot be read is a row with the status `unreadable`. Of such a file, and of
a file that lacks what --of asks for, there is a line on standard error, and the exit code is 1 then; it is 2 where the table
cannot be written. Texts that a spreadsheet would compute begin with an apostrophe.
"""

import argparse
import csv
import sys

from bathline.isolated_process import run_isolated
from bathline.result_file import AnalysisError, ResultFile
from bathline.sweep_settings import sweep_order_key, settings_of


def row_of(path, quantities):
    """Where a file stands in its sweep, its cells by column, and why it has nothing for some of the quantities."""
    lacks = []
    with ResultFile(path) as result:
        if "status" not in result.attributes:
            raise AnalysisError(f"{path}: it is no result of bathline, which would have a status")
        row = {"file": as_cell(path), "status": as_cell(result.attributes["status"])}
        settings = result.attributes.get("sweep_settings", "")
        for line in settings.splitlines():
            key, _, value = line.partition("=")
            row[as_cell(key)] = as_cell(value)
        for claim in result.claims():
            row[as_cell(claim.name)] = repr(claim.measured)
            row[as_cell(f"{claim.name} passed")] = int(claim.passed)
        for quantity in quantities:
            try:
                row[as_cell(quantity)] = repr(_number(result, quantity))
            except AnalysisError as error:
                row[as_cell(quantity)] = ""
                lacks.append(str(error))
        return sweep_order_key(settings_of(settings), result.attributes.get("recipe", "")), row, lacks


def _number(result, quantity):
    values = result.quantity(quantity).values
    if values.ndim:
        hint = f"a statistic makes it a number, as in '{quantity}.last'"
        raise AnalysisError(f"{result.path}: '{quantity}' is a series; {hint}")
    return values.item()


def as_cell(text):
    """A text as a spreadsheet shall show it: what begins like a formula and is no number is quoted."""
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
    return text


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.h5")
    parser.add_argument("-o", "--output", help="CSV file; left out, standard output")
    parser.add_argument("--of", action="append", default=[], metavar="QUANTITY", help="a number to be listed as well")
    options = parser.parse_args(arguments)
    placed, code = [], 0
    for path in sorted(options.files):
        if ".checkpoint." in path:
            continue
        try:
            place, row, lacks = run_isolated(row_of, path, options.of)
        except Exception as error:  # whatever a damaged file leads to concerns its own row alone
            reason = str(error).removeprefix(f"{path}: ").removeprefix("cannot be read: ")
            print(f"sweep_table: {path} cannot be read: {reason}", file=sys.stderr)
            place, row, lacks = [], {"file": as_cell(path), "status": "unreadable"}, []
            code = 1
        for reason in lacks:
            print(f"sweep_table: {reason}", file=sys.stderr)
            code = 1
        placed.append((place, row))
    rows = [row for _, row in sorted(placed, key=lambda row: row[0])]
    columns = dict.fromkeys(column for row in rows for column in row)
    try:
        with open(options.output, "w", newline="") if options.output else sys.stdout as out:
            table = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    except OSError as error:
        print(f"sweep_table: {options.output or 'the table'} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
