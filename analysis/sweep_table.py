#!/usr/bin/env python3
"""One table of many results: what was swept, and what each claim has measured.

    analysis/sweep_table.py many.*.h5 -o many.csv

One row a file: its name, its status, the value of every swept key, and for every claim the measured value and whether it
passed (1 or 0). Cells that a file has nothing for stay empty.
"""

import argparse
import csv
import sys

import h5py


def row_of(path):
    """The cells of one file by column."""
    with h5py.File(path, "r", locking=False) as file:
        row = {"file": path, "status": file.attrs["status"]}
        for line in file.attrs.get("sweep_settings", "").splitlines():
            key, _, value = line.partition("=")
            row[key] = value
        if "claims" in file:
            claims = file["claims"]
            for name, measured, passed in zip(claims["id"].asstr()[:], claims["measured"][:], claims["passed"][:]):
                row[name] = repr(float(measured))
                row[f"{name} passed"] = int(passed)
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.h5")
    parser.add_argument("-o", "--output", help="CSV file; left out, standard output")
    arguments = parser.parse_args()
    rows, columns = [], {}
    for path in sorted(arguments.files):
        if ".checkpoint." in path:
            continue
        try:
            rows.append(row_of(path))
        except (OSError, KeyError) as error:
            sys.exit(f"sweep_table: {path} is no result of bathline: {error}")
        columns.update(dict.fromkeys(rows[-1]))
    with open(arguments.output, "w", newline="") if arguments.output else sys.stdout as out:
        table = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
