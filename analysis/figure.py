#!/usr/bin/python3
"""Draws the figure that the recipe inside a result file asks for, as STEM.png and STEM.pdf.

    figure.py RESULT.h5 -o STEM
"""

import argparse
import sys
from pathlib import Path

import style
from result import AnalysisError, Result

import kinds


def draw(result):
    """The figure of an open result, as a matplotlib Figure."""
    kind = result.figure.get("kind")
    if not kind:
        raise AnalysisError(
            f"{result.path}: its recipe has no figure.kind; there is: {', '.join(kinds.names())}"
        )
    try:
        module = kinds.load(kind)
    except KeyError:
        raise AnalysisError(
            f"{result.path}: no figure.kind '{kind}'; there is: {', '.join(kinds.names())}"
        ) from None
    style.use()
    return module.draw(result, result.figure)


def save(figure, stem):
    """Writes STEM.png and STEM.pdf. Neither holds a date, so that the same result gives the same files."""
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(stem.with_name(stem.name + ".png"), metadata={"Software": None})
    figure.savefig(
        stem.with_name(stem.name + ".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None}
    )


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("result", metavar="RESULT.h5")
    parser.add_argument(
        "-o", "--output", metavar="STEM", required=True, help="path of the pictures without extension"
    )
    options = parser.parse_args(arguments)
    try:
        with Result(options.result) as result:
            save(draw(result), options.output)
    except AnalysisError as error:
        print(f"figure: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
