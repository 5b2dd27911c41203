#!/usr/bin/env python3
"""One table of many results: what was swept, and what each claim has measured.

    analysis/sweep_table.py many.*.h5 -o many.csv

One row a file: its name, its status, the value of every swept key, and for every claim the measured value and whether it
passed (1 or 0). Cells that a file has nothing for stay empty. A file that cannot be read is a row with the status
`unreadable` and a line on standard error, and the exit code is 1 then. Texts that a spreadsheet would compute begin with
an apostrophe.
"""

import argparse
import csv
import sys

import h5py

from foreign_parts import refuse_foreign_parts


def row_of(path):
    """The cells of one file by column."""
    with h5py.File(path, "r", locking=False) as file:
        refuse_foreign_parts(file)
        row = {"file": as_cell(path), "status": as_cell(file.attrs["status"])}
        for line in file.attrs.get("sweep_settings", "").splitlines():
            key, _, value = line.partition("=")
            row[as_cell(key)] = as_cell(value)
        if "claims" in file:
            claims = file["claims"]
            for name, measured, passed in zip(claims["id"].asstr()[:], claims["measured"][:], claims["passed"][:]):
                row[as_cell(name)] = repr(float(measured))
                row[as_cell(f"{name} passed")] = int(passed)
        return row


def as_cell(text):
    """A text as a spreadsheet shall show it: what begins like a formula and is no number is quoted."""
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.h5")
    parser.add_argument("-o", "--output", help="CSV file; left out, standard output")
    arguments = parser.parse_args()
    rows, columns, code = [], {}, 0
    for path in sorted(arguments.files):
        if ".checkpoint." in path:
            continue
        try:
            rows.append(row_of(path))
        except Exception as error:  # whatever a damaged file leads to concerns its own row alone
            print(f"sweep_table: {path} is no result of bathline: {error}", file=sys.stderr)
            rows.append({"file": as_cell(path), "status": "unreadable"})
            code = 1
        columns.update(dict.fromkeys(rows[-1]))
    with open(arguments.output, "w", newline="") if arguments.output else sys.stdout as out:
        table = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return code


if __name__ == "__main__":
    sys.exit(main())
