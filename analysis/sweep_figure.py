#!/usr/bin/python3
"""Draws numbers of a sweep over one of its keys, as STEM.png and STEM.pdf.

    bathline-sweep figure many.*.h5 --of closed.energy_particles.last --against time.step -o STEM
"""

import argparse
import sys

import bathline
from bathline.figure import save


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.h5", help="results of one sweep, or their folder")
    parser.add_argument("--of", required=True, action="append", metavar="QUANTITY", help="path of a number, or a claim")
    parser.add_argument("--against", required=True, metavar="KEY", help="a swept key, such as time.step")
    parser.add_argument("--xscale", choices=["linear", "log"], default="linear")
    parser.add_argument("--yscale", choices=["linear", "log"], default="linear")
    parser.add_argument("-o", "--output", required=True, metavar="STEM", help="path of the figures without extension")
    options = parser.parse_args(arguments)
    try:
        sweep = bathline.open_sweep(options.files)
        save(sweep.plot(*options.of, against=options.against, xscale=options.xscale, yscale=options.yscale), options.output)
    except bathline.AnalysisError as error:
        print(f"sweep_figure: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
