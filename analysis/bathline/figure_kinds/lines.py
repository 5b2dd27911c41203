"""Series against time or against each other, in one or more panels: `figure.kind = "lines"`.

    [figure]
    kind = "lines"
    width = 3.4, height = 3.0, columns = 1      # all optional
    [[figure.panels]]
    title, xlabel, ylabel, xlim, ylim, xscale, yscale, x      # all optional
    series = [{of = "closed.q[1]", name = "closed line", style = "dashdot", color = 0, scale = 1.0, x = ".."}]
    marks = [{at = 79.06, name = "echo"}]       # thin vertical lines

A series is a quantity over `x`, by default the scale of its first dimension, usually time. Another `x` is a quantity,
"open.q[0][0]", or one of the same group, "q[0][0]". A single number is a horizontal line. The numbers of several cases
form one series: of = "ensemble.{}.escape_rate" with cases = ["weak", "strong"] and x = [0.1, 5.0]. Values of a theory
are written as of = [1.0, 2.0] with x = [..]. `scale` is one factor, or one for each value.

minus = "theory.energy_particles" subtracts another quantity row by row; a logarithmic axis shows the magnitude of the
difference. error = ".." is the standard error, drawn as bars on points and as a band around a line. The style "points"
draws rings at equal distances along the path, "marked" a line with a mark at every value, "dots" a dot for every value,
as in Poincare sections. Panels with two positions of one particle (unless the path is very elongated) or with aspect =
"equal" have the same scale on both axes. Colours, dashes and marks are those that `style.py` gives to the method with
the quantity's label; `color`, or `style` with the name of dashes, is for quantities that belong to no method, or for
several series of one method. figure.legend = "shared" puts one legend above all panels. Default names and labels come
from `labels.py`.

Default figures use two more keys: `band` draws the envelope of a series, or its maximum on a logarithmic axis, and
`between` restricts a panel to the times between two values.
"""

from dataclasses import replace

import numpy as np
from matplotlib.lines import Line2D

from bathline import labels, legend, style
from bathline.axis_limits import mask_undrawable
from bathline.downsampling import downsample, marker_indices
from bathline.envelopes import envelope
from bathline.exceptions import AnalysisError
from bathline.quantity_file import Quantity

_MARKED_STYLES = ("points", "marked")
# More dots than this are rasterised in the PDF, where each would be an object of its own.
MAX_VECTOR_DOTS = 2000
# Diameter in points of at least MANY_DOTS dots; fewer dots are larger.
MIN_DOT_DIAMETER = 1.6
MANY_DOTS = 300
# A path longer than this multiple of its width would be reduced to a line by equal scales on both axes.
MAX_ASPECT_RATIO = 8.0


def draw(result, spec):
    """Draw the figure.

    Parameters
    ----------
    result : RunResult
        An open result.
    spec : dict
        The recipe's table `figure`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        If a panel has no series, or the file does not contain a quantity with as many values as its `x`.
    """
    panels = spec.get("panels") or []
    if not panels or not all(panel.get("series") for panel in panels):
        raise AnalysisError(f"{result.path}: a figure of kind 'lines' needs figure.panels, each with series")
    curves = [[_read_with_error(result, panel, series) for series in panel["series"]] for panel in panels]

    columns = int(spec.get("columns") or (1 if len(panels) <= 3 else 2))
    rows = -(-len(panels) // columns)
    width = spec.get("width") or (style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH)
    orbits = any(_has_equal_scales(panel, panel_curves) for panel, panel_curves in zip(panels, curves))
    row_height = 0.95 * width / columns if orbits else 2.3 if rows == 1 else 1.65
    figure = style.new_figure(width, spec.get("height") or 0.2 + row_height * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    shape = figure.get_size_inches() / (columns, rows)

    placed = []
    names = labels.legend_names(result.recipe, panels)
    for index, (panel, panel_curves) in enumerate(zip(panels, curves)):
        axes = grid.flat[index]
        handles = _draw_panel(axes, result.recipe, panel, panel_curves, names[index], shape)
        letter = f"({chr(ord('a') + index)})" if len(panels) > 1 else ""
        title = panel.get("title") or ""
        title = title if title.startswith("(") else f"{letter} {title}".strip()
        axes.set_title(labels.wrap_text(axes, title, shape[0]))
        placed.append((axes, handles))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    _join_time_axes(grid)
    figure.align_ylabels()
    legend.place(figure, placed, shared=spec.get("legend") == "shared")
    return figure


def draw_into(axes, result, panels, index):
    """Draw one of the panels of a figure into axes.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The axes.
    result : RunResult
        An open result.
    panels : list of dict
        The panels of the figure.
    index : int
        Index of the panel.

    Raises
    ------
    AnalysisError
        As for `draw`.
    """
    panel = panels[index]
    curves = [_read_with_error(result, panel, series) for series in panel["series"]]
    names = labels.legend_names(result.recipe, panels)[index]
    handles = _draw_panel(axes, result.recipe, panel, curves, names, axes.get_figure().get_size_inches())
    axes.set_title(panel.get("title") or "")
    if handles:
        axes.legend(handles=handles)


class _Curve:
    """A series with its values, its standard error and its scale factors."""

    def __init__(self, series, x, y):
        self.series, self.x, self.y, self.error = series, x, replace(y, values=mask_undrawable(y.values)), None
        self.scale = np.array(series.get("scale") or 1.0)


def _read_with_error(result, panel, series):
    curve = _read(result, panel, series)
    if curve.scale.shape not in ((), curve.y.values.shape):
        raise AnalysisError(
            f"{result.path}: '{curve.y.path}' has {curve.y.values.size} values, its `scale` {curve.scale.size}: give "
            "one factor or as many as there are values"
        )
    if series.get("error"):
        error = _quantity(result, series, "error")
        if error.values.shape != curve.y.values.shape:
            raise AnalysisError(
                f"{result.path}: '{error.path}' has {error.values.size} values, '{curve.y.path}' has "
                f"{curve.y.values.size}: the error needs as many values"
            )
        curve.error = error.values * abs(curve.scale)
    return curve


def _read(result, panel, series):
    if "of" not in series:
        raise AnalysisError(f"{result.path}: a series of figure.panels has no key `of`")
    y = _quantity(result, series, "of")
    if series.get("minus"):
        other = result.read(series["minus"])
        if other.values.shape not in ((), y.values.shape):
            raise AnalysisError(
                f"{result.path}: '{other.path}' has {other.values.size} values, '{y.path}' has "
                f"{y.values.size}: they cannot be subtracted"
            )
        y = replace(y, values=y.values - other.values, long_name=labels.difference_label(y, other))
    y = _between(panel, y)
    if isinstance(series.get("x"), list):
        return _Curve(series, _same_length(result, Quantity("x", np.array(series["x"], dtype=float)), y), y)
    name = series.get("x") or panel.get("x") or "time"
    if not isinstance(series["of"], str):
        raise AnalysisError(f"{result.path}: numbers in `of` need as many in `x`")
    if name == "time" or y.values.ndim == 0:
        return _Curve(series, y.scale, y)
    group = series["of"].split("[")[0].rpartition(".")[0]
    name_in_group = f"{group}.{name}"
    x = result.read(name_in_group if not result.has(name) and result.has(name_in_group) else name)
    return _Curve(series, _same_length(result, _between(panel, x), y), y)


def _between(panel, quantity):
    """The part of a series between the two times of the panel's key `between`."""
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
            "they cannot be drawn against each other"
        )
    return x


def _quantity(result, series, key):
    """The quantity that a key of a series names, single numbers of several cases in a row, or given numbers."""
    name, cases = series[key], series.get("cases")
    if isinstance(name, list):
        return Quantity("of", np.array(name, dtype=float))
    if not cases:
        return result.read(name)
    numbers = [result.read(name.replace("{}", case)) for case in cases]
    if any(number.values.ndim for number in numbers):
        raise AnalysisError(f"{result.path}: '{name}' with `cases` must be a single number in each case")
    values = np.array([number.values for number in numbers])
    return Quantity(name, values, numbers[0].units, numbers[0].long_name)


def _is_orbit(curves):
    """Whether x and y are positions of the same particle."""
    pairs = [(curve.x.path.split("["), curve.y.path.split("[")) for curve in curves if curve.x is not None]
    return bool(pairs) and all(
        x[0] == y[0] and x[0].split(".")[-1] == "q" and x != y and x[1:-1] == y[1:-1] for x, y in pairs
    )


def _has_equal_scales(panel, curves):
    """Whether both axes have the same scale: on request, and for orbits that are not too elongated."""
    if panel.get("aspect") == "equal":
        return True
    if not _is_orbit(curves):
        return False
    shown = {"xlim": [curve.x.values for curve in curves], "ylim": [curve.y.values * curve.scale for curve in curves]}
    sizes = [
        np.ptp(panel[axis]) if panel.get(axis) else
        np.nanmax([np.ptp(values[np.isfinite(values)]) for values in arrays if np.isfinite(values).any()], initial=0.0)
        for axis, arrays in shown.items()
    ]
    return max(sizes) < MAX_ASPECT_RATIO * min(sizes)


def _line_options(recipe, series, index, size):
    """matplotlib's line properties of the series with this index in its panel and this number of values."""
    options = style.style_of_series(recipe, series, index)
    line = style.line_properties(options) | {"label": "_unnamed"}
    if series.get("style") == "dots":
        # Few dots are larger, such that the inked area is about the same, up to 2.5 times the diameter.
        diameter = MIN_DOT_DIAMETER * np.clip(np.sqrt(MANY_DOTS / max(size, 1)), 1.0, 2.5)
        return line | {"linestyle": "none", "marker": ".", "markersize": diameter, "markeredgewidth": 0, "gid": "dots"}
    if series.get("style") not in _MARKED_STYLES:
        return line | {"gid": options.dashes}
    marks = {"marker": options.marker, "markersize": 3.4, "markerfacecolor": "white", "markeredgewidth": 0.8}
    if series["style"] == "points":
        line["linestyle"] = "none"
    return line | marks | {"linewidth": 0.8, "zorder": 2.6, "gid": f"{series['style']} {options.dashes}"}


def _draw_panel(axes, recipe, panel, curves, names, shape):
    """Draw one panel, whose part of the figure has this shape in inches; return the handles of its legend."""
    log_x, log_y = panel.get("xscale") == "log", panel.get("yscale") == "log"
    axes.set_xscale(panel.get("xscale") or "linear")
    axes.set_yscale(panel.get("yscale") or "linear")
    equal_scales = _has_equal_scales(panel, curves)
    is_ordered = all(curve.x is None or not np.any(np.diff(curve.x.values) < 0) for curve in curves)
    if is_ordered and not equal_scales and not any(curve.series.get("style") in ("marked", "dots") for curve in curves):
        axes.margins(x=0)

    handles = []
    for index, curve in enumerate(curves):
        options = _line_options(recipe, curve.series, index, curve.y.values.size)
        if log_y and not _is_positive(curve):
            # Series without positive values are omitted and marked in the legend.
            missing = f"{names[index] or curve.y.path} (not positive)"
            handles.append(Line2D([], [], linestyle="none", label=missing, gid="not positive"))
            continue
        if names[index]:
            larger = {"markersize": 5} if curve.series.get("style") == "dots" else {}
            handles.append(Line2D([], [], **options | {"label": names[index]} | larger))
        if curve.y.values.ndim == 0:
            axes.axhline(float(curve.y.values) * curve.scale, **options)
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
            _draw_band(axes, *envelope(x, y, log_x), options, log_y)
            continue
        drawn = _drawn_indices(curve.series.get("style"), x, y, log_x)
        axes.plot(x[drawn], y[drawn], rasterized=options["gid"] == "dots" and len(drawn) > MAX_VECTOR_DOTS, **options)
        if error is not None and curve.series.get("style") == "points":
            axes.errorbar(
                x[drawn], y[drawn], error[drawn], fmt="none", ecolor=options["color"], elinewidth=0.8, zorder=2.5
            )
        elif error is not None:
            axes.fill_between(
                x[drawn], (y - error)[drawn], (y + error)[drawn], color=options["color"], alpha=0.25, linewidth=0
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
    _show_marks_at_limits(axes)
    style.arrange_ticks(axes, all(_is_counted(curve) for curve in curves))
    if equal_scales:
        axes.set_aspect("equal", adjustable="box" if panel.get("xlim") or panel.get("ylim") else "datalim")
    labels.label_axes(axes, panel, curves, shape)
    return handles


def _show_marks_at_limits(axes):
    """Draw marks at the limits of the axes whole; marks beyond the limits stay hidden."""
    (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    for line in axes.lines:
        if line.get_marker() in (None, "None", "", " ") or line.get_gid() == "dots":
            continue
        x, y = line.get_xdata(), line.get_ydata()
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
        if line.get_linestyle() == "None":
            line.set_data(x, np.where(inside, y, np.nan))
        elif not np.all(inside | np.isnan(y)):
            continue
        line.set_clip_on(False)


def _is_positive(curve):
    """Whether a logarithmic axis can show any value of a series; true also if no value is finite."""
    values = curve.y.values * curve.scale
    return bool(np.any(values != 0 if curve.series.get("minus") else values > 0)) or not np.any(np.isfinite(values))


def _draw_band(axes, x, low, high, options, log_y):
    """Draw the envelope of a series and fill it; on a logarithmic axis only the upper edge."""
    axes.plot(x, high, **options)
    if log_y:
        return
    axes.plot(x, low, **options)
    axes.fill_between(x, low, high, color=options["color"], alpha=0.2, linewidth=0)


def _is_counted(curve):
    """Whether the horizontal axis of a series is a dimensionless integer index, such as that of particles or modes."""
    scale = curve.y.scale
    return scale is not None and curve.x is scale and not style.units_text(scale.units) and not np.any(scale.values % 1)


def _drawn_indices(kind, x, y, log_x):
    """Indices of the values to draw in a style."""
    if kind == "dots":
        return np.arange(len(x))
    return marker_indices(x, y) if kind == "points" else downsample(x, y, log_x)


def _join_time_axes(grid):
    """Show tick labels of equal x axes in a column only at the bottom."""
    for index in range(grid.shape[1]):
        column = [axes for axes in grid[:, index] if axes.get_visible()]
        if any(axes.get_aspect() != "auto" for axes in column):
            continue
        if len({(axes.get_xlabel(), axes.get_xscale(), axes.get_xlim()) for axes in column}) == 1:
            for axes in column[:-1]:
                axes.set_xlabel("")
                axes.tick_params(labelbottom=False)
