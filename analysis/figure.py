#!/usr/bin/python3
"""Draws the figure that the recipe inside a result file asks for, or else the one that its study calls for.

    figure.py RESULT.h5 [-o STEM]            # STEM.png and STEM.pdf; left out, beside the result and named after it
    figure.py --check RECIPE.toml...     # before the run: can matplotlib typeset what the recipes want to write?
"""

import argparse
import sys

try:
    from bathline.isolated_process import ChildProcessDied, run_isolated
    from bathline.figure import check_recipe, draw, save
    from bathline.result_file import AnalysisError, ResultFile
except ModuleNotFoundError as missing:
    print(
        f"figure: {sys.executable} has no module {missing.name}; on Debian /usr/bin/python3 has it with the package "
        f"python3-{missing.name}, and BATHLINE_PYTHON names another interpreter",
        file=sys.stderr,
    )
    sys.exit(2)


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("result", metavar="RESULT.h5", nargs="?")
    parser.add_argument(
        "-o", "--output", metavar="STEM", help="path of the pictures without extension; left out, that of the result"
    )
    parser.add_argument(
        "--check", metavar="RECIPE.toml", nargs="+", help="only typeset the texts of these recipes' figures"
    )
    options = parser.parse_args(arguments)
    if options.check:
        return _check_all(options.check)
    if not options.result:
        parser.error("RESULT.h5 is needed, or --check RECIPE.toml")
    try:
        # Of a picture nobody knows how long it takes: how much it shows is the recipe's affair.
        run_isolated(_draw, options.result, options.output or options.result.removesuffix(".h5"), endless=True)
    except AnalysisError as error:
        print(f"figure: {error}", file=sys.stderr)
        return 2
    except ChildProcessDied as error:
        print(f"figure: {options.result}: {error}", file=sys.stderr)
        return 2
    return 0


def _draw(path, stem):
    with ResultFile(path) as result:
        save(draw(result), stem)


def _check_all(recipes):
    """The exit code: 2 where a figure of these recipes cannot be drawn, each with a line of its own."""
    code = 0
    for recipe in recipes:
        try:
            check_recipe(recipe)
        except AnalysisError as error:
            print(f"figure: {error}", file=sys.stderr)
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
