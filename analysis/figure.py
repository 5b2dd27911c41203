#!/usr/bin/python3
"""Draws the figure of a result: the one described by its recipe, or the default figure of its study.

    figure.py RESULT.h5 [-o STEM]        # writes STEM.png and STEM.pdf, by default beside the result with its name
    figure.py --check RECIPE.toml...     # checks before a run whether matplotlib can typeset the texts of the figures
"""

import argparse
import sys

try:
    from bathline.isolated_process import ChildProcessDied, run_isolated
    from bathline.figure import check_recipe, draw, save
    from bathline.exceptions import AnalysisError
    from bathline.result_file import RunResult
except ModuleNotFoundError as missing:
    package = missing.name.split(".")[0].replace("_", "-")
    print(
        f"figure: {sys.executable} has no module {missing.name}; install it by `pip install {package}`, `conda install -c "
        f"conda-forge {package}` or, for Debian's /usr/bin/python3, `apt-get install python3-{package}`, or name another "
        "interpreter by BATHLINE_PYTHON",
        file=sys.stderr,
    )
    sys.exit(2)


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
    parser.add_argument("result", metavar="RESULT.h5", nargs="?")
    parser.add_argument(
        "-o", "--output", metavar="STEM", help="path of the figures without extension, by default that of the result"
    )
    parser.add_argument(
        "--check", metavar="RECIPE.toml", nargs="+", help="only check that the texts of these recipes' figures can be typeset"
    )
    options = parser.parse_args(arguments)
    if options.check:
        return _check_all(options.check)
    if not options.result:
        parser.error("RESULT.h5 is needed, or --check RECIPE.toml")
    try:
        # The time of drawing depends on the recipe and has no limit.
        run_isolated(_draw, options.result, options.output or options.result.removesuffix(".h5"), unlimited=True)
    except AnalysisError as error:
        print(f"figure: {error}", file=sys.stderr)
        return 2
    except ChildProcessDied as error:
        print(f"figure: {options.result}: {error}", file=sys.stderr)
        return 2
    return 0


def _draw(path, stem):
    with RunResult(path) as result:
        save(draw(result), stem)


def _check_all(recipes):
    """Check the figures of all recipes; return exit code 2 if a text of one cannot be typeset."""
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
