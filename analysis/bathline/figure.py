"""The figure that the recipe inside a result file asks for."""

import tomllib
from pathlib import Path

from bathline import default_figures, figure_kinds, style
from bathline.result_file import AnalysisError


def draw(result):
    """The figure of an open result, as a matplotlib Figure: its recipe's, or else the one that its study calls for."""
    spec = result.figure
    # Left out, the kind is `lines`, which shows nothing without panels.
    if spec.get("kind", "lines") == "lines" and not spec.get("panels"):
        return draw_default(result)
    return _draw(result, spec)


def draw_default(result):
    """The figure that the study of an open result calls for, of what is in it by now; a matplotlib Figure."""
    return _draw(result, {**result.figure, **default_figures.figure_of(result)})


def _draw(result, spec):
    kind = spec.get("kind", "lines")
    try:
        module = figure_kinds.load(kind)
    except KeyError:
        raise AnalysisError(f"{result.path}: no figure.kind '{kind}'; there is: {', '.join(figure_kinds.names())}") from None
    style.use()
    check_texts(result.path, spec)
    return module.draw(result, spec)


def check_texts(path, spec):
    """AnalysisError naming the first text of a table `figure` that matplotlib cannot typeset."""
    page = style.new_figure(style.COLUMN_WIDTH, style.COLUMN_WIDTH)
    for key, text in _texts("figure", spec):
        try:
            page.text(0, 0, text).get_window_extent(page.canvas.get_renderer())
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1]
            raise AnalysisError(f"{path}: {key} = {text!r} cannot be typeset: {reason}") from error


def _texts(key, value):
    """All texts of a table and of what is in it, with their keys; the caption is no business of matplotlib."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, member in value.items():
            if name != "caption":
                yield from _texts(f"{key}.{name}", member)
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _texts(f"{key}[{place}]", member)


def check_recipe(path):
    """AnalysisError where the figure of a recipe cannot be drawn, whatever its run results in."""
    style.use()
    try:
        recipe = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path}: cannot be read: {error}") from error
    check_texts(path, recipe.get("figure") or {})


def save(figure, stem):
    """Writes STEM.png and STEM.pdf. Neither holds a date, so that the same result gives the same files."""
    # Pictures on a screen and checks of recipes have no use for it, nor for what it takes to load.
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    stem = Path(stem)
    if not stem.name:
        raise AnalysisError(f"{stem}: a folder, not the beginning of a file's name")
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        # `savefig` would draw each of them twice, once for the layout alone, which drawing finds by itself.
        figure.canvas.print_png(stem.with_name(stem.name + ".png"), metadata={"Software": None})
        style.keep_layout(figure)
        FigureCanvasPdf(figure).print_pdf(
            stem.with_name(stem.name + ".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None}
        )
    except FileExistsError as error:
        raise AnalysisError(f"{error.filename}: not a folder, so that nothing can be written in it") from error
    except OSError as error:
        raise AnalysisError(f"{error.filename or stem}: cannot be written: {error.strerror or error}") from error
