"""Series against time or against each other, in one or more panels: `figure.kind = "lines"`.

    [figure]
    kind = "lines"
    width = 3.4, height = 3.0, columns = 1      # all optional
    [[figure.panels]]
    title, xlabel, ylabel, xlim, ylim, xscale, yscale, x      # all optional
    series = [{of = "closed.q[1]", name = "closed line", style = "dashdot", color = 0, scale = 1.0, x = ".."}]
    marks = [{at = 79.06, name = "echo"}]       # thin vertical lines

Numbers that several cases have make one series, of = "ensemble.{}.escape_rate" with cases = ["weak", "strong"] and their
x = [0.1, 5.0], and of = [1.0, 2.0] with x are values of a theory. `scale` is a factor, or one for each value.

A series may subtract another quantity row by row: minus = "theory.energy_particles", of which a logarithmic axis shows the
magnitude; error = ".." is its standard error, drawn as bars on rings and as a band around a line. Rings (style "points") stand
at equal distances along the path; style "marked" is a line with a mark at every value, style "dots" a dot for every value, as
in Poincare sections. `x` is the first dimension's scale, usually time, unless it names another quantity: "open.q[0][0]", or
"q[0][0]" in the group of the series. A single number is a horizontal line. Two positions of one particle are drawn to the same
scale, unless they drift far, and so is a panel with aspect = "equal". Colours, dashes and marks are those that `style.py` gives
to the method by whose label a quantity goes; `color`, or `style` with the name of dashes, are for what is no method's, or
several series of one. What pictures without a recipe's figure are made of besides: a series with `band` is seen by how far
it reaches in every column, and on a logarithmic axis by the largest of it; a panel shows paths `between` two times alone.
`figure.legend = "shared"` names what all panels show once, above them. What else pictures are labelled with is in labels.py.
"""

from dataclasses import replace

import numpy as np
from matplotlib.lines import Line2D

from bathline import labels, legend, style
from bathline.envelopes import reach
from bathline.result_file import AnalysisError, Quantity
from bathline.axis_limits import drawable
from bathline.downsampling import marker_indices, downsample

_MARKED = ("points", "marked")
# Dots in a PDF are an image where they are more than this: each would be an object of its own.
MOST_DRAWN_DOTS = 2000
# Dots have this diameter in points where they are many.
SMALLEST_DOT = 1.6
MANY_DOTS = 300
# A drift that is so many times as long as it is wide would be no more than a line if both axes had one scale.
MOST_ELONGATED = 8.0


def draw(result, spec):
    """The figure of all panels."""
    panels = spec.get("panels") or []
    if not panels or not all(panel.get("series") for panel in panels):
        raise AnalysisError(f"{result.path}: a figure of kind 'lines' needs figure.panels, each with series")
    curves = [[_read_with_error(result, panel, series) for series in panel["series"]] for panel in panels]

    columns = int(spec.get("columns") or (1 if len(panels) <= 3 else 2))
    rows = -(-len(panels) // columns)
    width = spec.get("width") or (style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH)
    orbits = any(_is_orbit(panel, its) for panel, its in zip(panels, curves))
    row_height = 0.95 * width / columns if orbits else 2.3 if rows == 1 else 1.65
    figure = style.new_figure(width, spec.get("height") or 0.2 + row_height * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    shape = figure.get_size_inches() / (columns, rows)

    placed = []
    names = labels.names_of(result.recipe, panels)
    for place, (panel, panel_curves) in enumerate(zip(panels, curves)):
        axes = grid.flat[place]
        handles = _draw_panel(axes, result.recipe, panel, panel_curves, names[place], shape)
        letter = f"({chr(ord('a') + place)})" if len(panels) > 1 else ""
        title = panel.get("title") or ""
        title = title if title.startswith("(") else f"{letter} {title}".strip()
        axes.set_title(labels.wrapped(axes, title, shape[0]))
        placed.append((axes, handles))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    _join_time_axes(grid)
    figure.align_ylabels()
    legend.place(figure, placed, shared=spec.get("legend") == "shared")
    return figure


class _Curve:
    """One series with its values at hand."""

    def __init__(self, series, x, y):
        self.series, self.x, self.y, self.error = series, x, replace(y, values=drawable(y.values)), None
        self.scale = np.array(series.get("scale") or 1.0)


def _read_with_error(result, panel, series):
    curve = _read(result, panel, series)
    if curve.scale.shape not in ((), curve.y.values.shape):
        raise AnalysisError(
            f"{result.path}: '{curve.y.path}' has {curve.y.values.size} values, its `scale` {curve.scale.size}: either "
            "one factor or as many"
        )
    if series.get("error"):
        error = _quantity(result, series, "error")
        if error.values.shape != curve.y.values.shape:
            raise AnalysisError(
                f"{result.path}: '{error.path}' has {error.values.size} values, '{curve.y.path}' has "
                f"{curve.y.values.size}: one cannot be the error of the other"
            )
        curve.error = error.values * abs(curve.scale)
    return curve


def _read(result, panel, series):
    if "of" not in series:
        raise AnalysisError(f"{result.path}: a series of figure.panels does not say what it is: of = ...")
    y = _quantity(result, series, "of")
    if series.get("minus"):
        other = result.quantity(series["minus"])
        if other.values.shape not in ((), y.values.shape):
            raise AnalysisError(
                f"{result.path}: '{other.path}' has {other.values.size} values, '{y.path}' has "
                f"{y.values.size}: one cannot be subtracted from the other"
            )
        y = replace(y, values=y.values - other.values, long_name=labels.difference(y, other))
    y = _between(panel, y)
    if isinstance(series.get("x"), list):
        return _Curve(series, _same_length(result, Quantity("x", np.array(series["x"], dtype=float)), y), y)
    name = series.get("x") or panel.get("x") or "time"
    if not isinstance(series["of"], str):
        raise AnalysisError(f"{result.path}: values in `of` need as many in `x`")
    if name == "time" or y.values.ndim == 0:
        return _Curve(series, y.scale, y)
    group = series["of"].split("[")[0].rpartition(".")[0]
    beside = f"{group}.{name}"
    x = result.quantity(beside if not result.has(name) and result.has(beside) else name)
    return _Curve(series, _same_length(result, _between(panel, x), y), y)


def _between(panel, quantity):
    """The part of a series between the times that its panel is about."""
    if not panel.get("between") or quantity.scale is None:
        return quantity
    first, last = panel["between"]
    rows = (quantity.scale.values >= first) & (quantity.scale.values <= last)
    scale = replace(quantity.scale, values=quantity.scale.values[rows])
    return replace(quantity, values=quantity.values[rows], scale=scale)


def _same_length(result, x, y):
    if x.values.shape != y.values.shape:
        raise AnalysisError(
            f"{result.path}: '{x.path}' has {x.values.size} values, '{y.path}' has {y.values.size}: "
            "one cannot be drawn against the other"
        )
    return x


def _quantity(result, series, key):
    """What a key of a series names: a quantity, single numbers of several cases in a row, or values as they are."""
    name, cases = series[key], series.get("cases")
    if isinstance(name, list):
        return Quantity("of", np.array(name, dtype=float))
    if not cases:
        return result.quantity(name)
    each = [result.quantity(name.replace("{}", case)) for case in cases]
    if any(one.values.ndim for one in each):
        raise AnalysisError(f"{result.path}: '{name}' of several `cases` is no single number of each")
    return Quantity(name, np.array([one.values for one in each]), each[0].units, each[0].long_name)


def _same_scale(curves):
    """Whether x and y are positions of the same particle, an orbit."""
    pairs = [(curve.x.path.split("["), curve.y.path.split("[")) for curve in curves if curve.x is not None]
    return bool(pairs) and all(
        x[0] == y[0] and x[0].split(".")[-1] == "q" and x != y and x[1:-1] == y[1:-1] for x, y in pairs
    )


def _is_orbit(panel, curves):
    """Whether both axes get one scale: where the panel asks for it, and for orbits that are seen in this way."""
    if panel.get("aspect") == "equal":
        return True
    if not _same_scale(curves):
        return False
    shown = {"xlim": [curve.x.values for curve in curves], "ylim": [curve.y.values * curve.scale for curve in curves]}
    sizes = [
        np.ptp(panel[axis]) if panel.get(axis) else
        np.nanmax([np.ptp(values[np.isfinite(values)]) for values in of_axis if np.isfinite(values).any()], initial=0.0)
        for axis, of_axis in shown.items()
    ]
    return max(sizes) < MOST_ELONGATED * min(sizes)


def _properties(recipe, series, place, size):
    """matplotlib's properties of the series at a place of its panel, which has so many values."""
    look = style.series_look(recipe, series, place)
    line = style.line_of(look) | {"label": "_unnamed"}
    if series.get("style") == "dots":
        # Few dots are as much ink as the many that would fill a panel, but never blots.
        diameter = SMALLEST_DOT * np.clip(np.sqrt(MANY_DOTS / max(size, 1)), 1.0, 2.5)
        return line | {"linestyle": "none", "marker": ".", "markersize": diameter, "markeredgewidth": 0, "gid": "dots"}
    if series.get("style") not in _MARKED:
        return line | {"gid": look.dashes}
    marks = {"marker": look.marker, "markersize": 3.4, "markerfacecolor": "white", "markeredgewidth": 0.8}
    if series["style"] == "points":
        line["linestyle"] = "none"
    return line | marks | {"linewidth": 0.8, "zorder": 2.6, "gid": f"{series['style']} {look.dashes}"}


def _draw_panel(axes, recipe, panel, curves, names, shape):
    """Draws one panel, whose share of the figure has this shape; returns the handles of its legend."""
    log_x, log_y = panel.get("xscale") == "log", panel.get("yscale") == "log"
    axes.set_xscale(panel.get("xscale") or "linear")
    axes.set_yscale(panel.get("yscale") or "linear")
    orbit = _is_orbit(panel, curves)
    onwards = all(curve.x is None or not np.any(np.diff(curve.x.values) < 0) for curve in curves)
    if onwards and not orbit and not any(curve.series.get("style") in ("marked", "dots") for curve in curves):
        axes.margins(x=0)

    handles = []
    for place, curve in enumerate(curves):
        look = _properties(recipe, curve.series, place, curve.y.values.size)
        if log_y and not _is_positive(curve):
            # Where nothing is seen of a curve, the legend shows no line that could be taken for another's.
            missing = f"{names[place] or curve.y.path} (not positive)"
            handles.append(Line2D([], [], linestyle="none", label=missing, gid="not positive"))
            continue
        if names[place]:
            seen = {"markersize": 5} if curve.series.get("style") == "dots" else {}
            handles.append(Line2D([], [], **look | {"label": names[place]} | seen))
        if curve.y.values.ndim == 0:
            axes.axhline(float(curve.y.values) * curve.scale, **look)
            continue
        x, y = curve.x.values, curve.y.values * curve.scale
        error = curve.error
        if panel.get("xlim") and np.all(np.diff(x) > 0):
            first, last = np.searchsorted(x, panel["xlim"])
            shown = slice(max(first - 1, 0), last + 1)
            x, y, error = x[shown], y[shown], None if error is None else error[shown]
        if log_y:
            y = np.abs(y) if curve.series.get("minus") else y
            y = np.where(y > 0, y, np.nan)
        if curve.series.get("band"):
            _draw_band(axes, *reach(x, y, log_x), look, log_y)
            continue
        drawn = _drawn(curve.series.get("style"), x, y, log_x)
        axes.plot(x[drawn], y[drawn], rasterized=look["gid"] == "dots" and len(drawn) > MOST_DRAWN_DOTS, **look)
        if error is not None and curve.series.get("style") == "points":
            axes.errorbar(
                x[drawn], y[drawn], error[drawn], fmt="none", ecolor=look["color"], elinewidth=0.8, zorder=2.5
            )
        elif error is not None:
            axes.fill_between(
                x[drawn], (y - error)[drawn], (y + error)[drawn], color=look["color"], alpha=0.25, linewidth=0
            )

    for mark in panel.get("marks") or []:
        axes.axvline(mark["at"], color="0.45", linewidth=0.6, zorder=1)
        if mark.get("name"):
            axes.annotate(
                mark["name"],
                (mark["at"], 1),
                xycoords=("data", "axes fraction"),
                xytext=(-2, -3),
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="top",
                fontsize=7,
                color="0.3",
            )

    if panel.get("xlim"):
        axes.set_xlim(panel["xlim"])
    if panel.get("ylim"):
        axes.set_ylim(panel["ylim"])
    style.arrange_ticks(axes, all(_is_counted(curve) for curve in curves))
    if orbit:
        axes.set_aspect("equal", adjustable="box" if panel.get("xlim") or panel.get("ylim") else "datalim")
    labels.label_axes(axes, panel, curves, shape)
    return handles


def _is_positive(curve):
    """Whether a logarithmic axis shows anything of a series, or it has nothing to show on any axis."""
    values = curve.y.values * curve.scale
    return bool(np.any(values != 0 if curve.series.get("minus") else values > 0)) or not np.any(np.isfinite(values))


def _draw_band(axes, x, low, high, look, log_y):
    """How far a series reaches: its edges and what is between them, or how large it becomes."""
    axes.plot(x, high, **look)
    if log_y:
        return
    axes.plot(x, low, **look)
    axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)


def _is_counted(curve):
    """Whether a series goes by the numbers of particles, modes or other things that its file counts."""
    scale = curve.y.scale
    return scale is not None and curve.x is scale and not style.units_text(scale.units) and not np.any(scale.values % 1)


def _drawn(kind, x, y, log_x):
    """The indices of the values to draw in one of the styles."""
    if kind == "dots":
        return np.arange(len(x))
    return marker_indices(x, y) if kind == "points" else downsample(x, y, log_x)


def _join_time_axes(grid):
    """Panels over each other with the same x axis show its numbers once, at the bottom."""
    for place in range(grid.shape[1]):
        column = [axes for axes in grid[:, place] if axes.get_visible()]
        if any(axes.get_aspect() != "auto" for axes in column):
            continue
        if len({(axes.get_xlabel(), axes.get_xscale(), axes.get_xlim()) for axes in column}) == 1:
            for axes in column[:-1]:
                axes.set_xlabel("")
                axes.tick_params(labelbottom=False)
