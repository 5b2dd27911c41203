#!/usr/bin/python3
"""Writes a CSV table of the results of a sweep: swept keys and measured values of claims.

    analysis/sweep_table.py many.*.h5 -o many.csv

Each file is one row, in the order of the sweep: its name, its status, the value of every swept key, for every claim the
measured value and whether it passed (1 or 0), and the numbers requested by --of, such as --of closed.energy_particles.last.
Cells without a value are empty. A file that cannot be read is a row with the status `unreadable`. Unreadable files and
missing numbers are reported on standard error with exit code 1; the exit code is 2 if the table cannot be written. Texts
that a spreadsheet would evaluate as formulas begin with an apostrophe.
"""

import argparse
import csv
import sys

from bathline.isolated_process import run_isolated
from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.sweep_settings import settings_of, sweep_order_key
from bathline.sweeps import files_of_sweep


def row_of(path, quantities):
    """Read the row of a result.

    Parameters
    ----------
    path : str
        A result file.
    quantities : iterable of str
        Paths of additional numbers.

    Returns
    -------
    order : list
        Sort key of the result in its sweep.
    row : dict
        Cells by column.
    missing : list of str
        Reasons why quantities have no value.

    Raises
    ------
    AnalysisError
        If the file is not a result.
    """
    missing = []
    with RunResult(path) as result:
        if "status" not in result.attributes:
            raise AnalysisError(f"{path}: not a result of bathline: the attribute `status` is missing")
        row = {"file": as_cell(path), "status": as_cell(result.attributes["status"])}
        settings = result.attributes.get("sweep_settings", "")
        for line in settings.splitlines():
            key, _, value = line.partition("=")
            row[as_cell(key)] = as_cell(value)
        for claim in result.claim_list():
            row[as_cell(claim.name)] = repr(claim.measured)
            row[as_cell(f"{claim.name} passed")] = int(claim.passed)
        for quantity in quantities:
            try:
                row[as_cell(quantity)] = repr(_number(result, quantity))
            except AnalysisError as error:
                row[as_cell(quantity)] = ""
                missing.append(str(error))
        return sweep_order_key(settings_of(settings), result.attributes.get("recipe", "")), row, missing


def _number(result, quantity):
    values = result.read(quantity).values
    if values.ndim:
        hint = f"a statistic makes it a number, as in '{quantity}.last'"
        raise AnalysisError(f"{result.path}: '{quantity}' is a series; {hint}")
    return values.item()


def as_cell(text):
    """Quote a text that a spreadsheet would evaluate as a formula.

    Parameters
    ----------
    text : str
        Content of a cell.

    Returns
    -------
    str
        With an apostrophe in front if it begins like a formula and is not a number.
    """
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
    return text


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.h5", help="results of one sweep, or their folder")
    parser.add_argument("-o", "--output", help="CSV file, by default standard output")
    parser.add_argument("--of", action="append", default=[], metavar="QUANTITY", help="path of an additional number")
    options = parser.parse_args(arguments)
    ordered, code = [], 0
    for path in sorted(files_of_sweep(options.files)):
        try:
            order, row, missing = run_isolated(row_of, path, options.of)
        except Exception as error:  # an error caused by a damaged file must not end the table
            reason = str(error).removeprefix(f"{path}: ").removeprefix("cannot be read: ")
            print(f"sweep_table: {path} cannot be read: {reason}", file=sys.stderr)
            order, row, missing = [], {"file": as_cell(path), "status": "unreadable"}, []
            code = 1
        for reason in missing:
            print(f"sweep_table: {reason}", file=sys.stderr)
            code = 1
        ordered.append((order, row))
    rows = [row for _, row in sorted(ordered, key=lambda entry: entry[0])]
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
