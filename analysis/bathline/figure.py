"""Figures of result files: the recipe's own, or the default figure of its study."""

import subprocess
import tomllib
from pathlib import Path

from bathline import default_figures, figure_kinds, style
from bathline.exceptions import AnalysisError
from bathline.server import program


def draw(result):
    """Draw the figure that the recipe of a result describes, or the default figure of its study.

    Parameters
    ----------
    result : RunResult
        An open result.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        If the kind of figure is unknown, a text cannot be typeset, or the file lacks what the figure shows.
    """
    spec = result.figure
    # `kind` defaults to `lines`, which needs panels.
    if spec.get("kind", "lines") == "lines" and not spec.get("panels"):
        return draw_default(result)
    return _draw(result, spec)


def draw_default(result):
    """Draw the default figure of the study of a result from what the file contains so far.

    Parameters
    ----------
    result : RunResult
        An open result, complete or not.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        If the file contains nothing to draw.
    """
    return _draw(result, {**result.figure, **default_figures.default_figure(result)})


def draw_into(result, axes, panel=0):
    """Draw one panel of the figure of a result into axes, in the style of their figure.

    Parameters
    ----------
    result : RunResult
        An open result.
    axes : matplotlib.axes.Axes
        The axes.
    panel : int
        Index of the panel.

    Returns
    -------
    matplotlib.figure.Figure
        The figure of the axes.

    Raises
    ------
    AnalysisError
        If the figure has no such panel, or its kind is not `lines`.
    """
    spec = result.figure
    if spec.get("kind", "lines") == "lines" and not spec.get("panels"):
        spec = {**spec, **default_figures.default_figure(result)}
    panels = spec.get("panels") or []
    if spec.get("kind", "lines") != "lines" or not 0 <= panel < len(panels):
        raise AnalysisError(f"{result.path}: axes can show one of {len(panels)} panels with lines, not panel {panel}")
    figure_kinds.load("lines").draw_into(axes, result, panels, panel)
    return axes.get_figure()


@style.context()
def _draw(result, spec):
    kind = spec.get("kind", "lines")
    try:
        module = figure_kinds.load(kind)
    except KeyError:
        kinds = ", ".join(figure_kinds.names())
        raise AnalysisError(f"{result.path}: unknown figure.kind '{kind}'; the kinds are: {kinds}") from None
    check_texts(result.path, spec)
    return module.draw(result, spec)


@style.context()
def check_texts(path, spec):
    """Check that matplotlib can typeset all texts of a table `figure`.

    Parameters
    ----------
    path : path-like
        File named in the error message.
    spec : dict
        The table `figure` of a recipe.

    Raises
    ------
    AnalysisError
        If a text cannot be typeset; the message names its key.
    """
    page = style.new_figure(style.COLUMN_WIDTH, style.COLUMN_WIDTH)
    for key, text in _texts("figure", spec):
        try:
            page.text(0, 0, text).get_window_extent(page.canvas.get_renderer())
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1]
            raise AnalysisError(f"{path}: {key} = {text!r} cannot be typeset: {reason}") from error


def _texts(key, value):
    """All texts of a table and its sub-tables with their keys, except captions, which matplotlib does not typeset."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, member in value.items():
            if name != "caption":
                yield from _texts(f"{key}.{name}", member)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _texts(f"{key}[{index}]", member)


def check_recipe(path):
    """Check before a run that the texts of a recipe's figure can be typeset, with the values of its cases inserted.

    A recipe that the program refuses is checked as it stands.

    Parameters
    ----------
    path : path-like
        A recipe.

    Raises
    ------
    AnalysisError
        If the recipe cannot be read or a text cannot be typeset.
    """
    try:
        resolved = subprocess.run([program(), "resolve", path], capture_output=True, encoding="utf-8")
        text = resolved.stdout if resolved.returncode == 0 else Path(path).read_text(encoding="utf-8")
        recipe = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path}: cannot be read: {error}") from error
    check_texts(path, recipe.get("figure") or {})


@style.context()
def save(figure, stem):
    """Write a figure as STEM.png and STEM.pdf without dates, so that equal results give equal files.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure made by `style.new_figure`.
    stem : path-like
        Path of the files without extension; missing folders are created.

    Raises
    ------
    AnalysisError
        If the files cannot be written.
    """
    # Imported here because figures on screen and checks of recipes do not need this slow import.
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    stem = Path(stem)
    if not stem.name:
        raise AnalysisError(f"{stem}: is a folder; the path of a file without extension is needed")
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        # `savefig` would draw each file twice, once only for the layout, which `print_png` computes anyway.
        figure.canvas.print_png(stem.with_name(stem.name + ".png"), metadata={"Software": None})
        style.freeze_layout(figure)
        FigureCanvasPdf(figure).print_pdf(
            stem.with_name(stem.name + ".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None}
        )
    except FileExistsError as error:
        raise AnalysisError(f"{error.filename}: is not a folder, so no file can be written in it") from error
    except OSError as error:
        raise AnalysisError(f"{error.filename or stem}: cannot be written: {error.strerror or error}") from error
