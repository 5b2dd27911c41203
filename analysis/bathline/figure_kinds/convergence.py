"""Errors against step or work, on logarithmic axes, with the measured orders: `figure.kind = "convergence"`.

Draws `error_q`, `error_p` and `error_energy` over `step` for every label in the group `convergence`, as far as the
file contains them, one panel each. The line is the fit of order `order_q` (...) through the points used for it; points
excluded from the fit (`used_q` = 0) are hollow, and the legend says why. A grey band covers errors up to ten times that
of the reference (`reference_error_q`), which measure the reference. Means over several starts have a band from
`least_error_q` to `largest_error_q`.
`figure.panels` overrides this: each panel has title, xlabel, ylabel, xlim, ylim and series = [{of =
"convergence.<label>.error_q", name, color}]. With x = "work", errors are drawn over the number of force components
evaluated; lines then join the points and no order is fitted.
"""

import numpy as np
from matplotlib.lines import Line2D

from bathline import legend, style
from bathline.default_figures import error_panels
from bathline.exceptions import AnalysisError

_BAND_COLOR = "0.9"


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
        If the file contains no errors, or a series without its steps.
    """
    panels = spec.get("panels") or error_panels(result, "step")
    if not panels:
        raise AnalysisError(f"{result.path}: the group 'convergence' contains no errors to draw")
    columns = int(spec.get("columns") or min(len(panels), 3))
    rows = -(-len(panels) // columns)
    width = spec.get("width") or (style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH)
    figure = style.new_figure(width, spec.get("height") or 2.5 * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    placed, bands = [], []
    for index, panel in enumerate(panels):
        axes = grid.flat[index]
        fits = _draw_panel(axes, result, panel)
        has_band = _draw_reference_error(axes, result, panel)
        letter = f"({chr(ord('a') + index)})" if len(panels) > 1 else ""
        axes.set_title(f"{letter} {panel.get('title') or ''}".strip())
        placed.append((axes, fits))
        bands.append(has_band)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    extra = []
    if any(_is_hollow(line) for axes, _ in placed for line in axes.lines):
        extra.append(_hollow_handle(result, panels))
    if any(bands):
        label = "error of the reference, times ten"
        extra.append(Line2D([], [], linewidth=6, color="0.75", label=label))
    handles = [(axes, [handle for handle, *_ in fits] + extra) for axes, fits in placed]
    shared = spec.get("legend") == "shared"
    if shared:
        legend.place(figure, handles, shared=True)
    style.lay_out(figure)
    for axes, fits in placed:
        _make_room(axes, fits)
        _write_orders(axes, fits)
    if not shared:
        legend.place(figure, handles)
        # Legends above the axes have changed the layout.
        style.lay_out(figure)
        for axes, fits in placed:
            for text in list(axes.texts):
                text.remove()
            _write_orders(axes, fits)
    return figure


def _is_hollow(line):
    return line.get_markerfacecolor() == "white" and len(line.get_xdata()) > 0


def _hollow_handle(result, panels):
    """The legend's entry for points excluded from the fits, with the reasons in the file."""
    reasons = []
    for panel in panels:
        for series in panel["series"]:
            base, _, kind = series["of"].rpartition(".error_")
            reasons += filter(None, result.attribute(f"{base}.order_{kind}", "not_fitted").split(", "))
    label = "hollow: not fitted"
    if reasons:
        label += f" ({', '.join(dict.fromkeys(reasons))})"
    look = {"marker": "o", "markerfacecolor": "white", "markeredgewidth": 0.8, "color": "0.45"}
    return Line2D([], [], linestyle="none", label=label, **look)


def _draw_reference_error(axes, result, panel):
    """Draw ten times the largest error of a reference as a band; return whether it reaches into the panel."""
    if panel.get("x") == "work":
        return False
    largest = {}
    for series in panel["series"]:
        base, _, kind = series["of"].rpartition(".error_")
        path = f"{base}.reference_error_{kind}"
        if result.has(path):
            for step, error in zip(_steps(result, result.read(series["of"])).values, result.read(path).values):
                largest[step] = max(largest.get(step, 0.0), 10.0 * error)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    if not largest or max(largest.values()) <= bottom:
        return False
    steps = sorted(largest)
    heights = [largest[step] for step in steps]
    axes.fill_between(
        [left, *steps, 10.0 * right],  # the axes are widened for the labels of the orders
        bottom,
        [heights[0], *heights, heights[-1]],
        color=_BAND_COLOR,
        linewidth=0,
        zorder=0,
    )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    return True


def _abscissa(result, panel, error):
    """The variable on the horizontal axis of an error series: `work` if the panel asks for it, or else the steps."""
    if panel.get("x") == "work":
        return result.read(error.path.rpartition(".")[0] + ".work")
    return _steps(result, error)


def _steps(result, error):
    """The steps of an error series: its own scale, or `step` in its group or in the group `convergence`."""
    if error.scale is not None and error.scale.path.endswith("step"):
        return error.scale
    for path in (error.path.rpartition(".")[0] + ".step", "convergence.step"):
        if result.has(path) and result.read(path).values.shape == error.values.shape:
            return result.read(path)
    raise AnalysisError(
        f"{result.path}: '{error.path}' has no steps: there is neither a scale nor a variable 'step'"
    )


def _draw_panel(axes, result, panel):
    """Draw one panel; return for every series its handle, the end of its fit and its order."""
    fits = []
    axes.set_xscale("log")
    axes.set_yscale("log")
    for index, series in enumerate(panel["series"]):
        error = result.read(series["of"])
        x = _abscissa(result, panel, error)
        base, _, kind = error.path.rpartition(".error_")
        drawn = np.isfinite(error.values) & (error.values > 0) & (x.values > 0)
        fitted = drawn.copy()
        if result.has(f"{base}.used_{kind}"):
            fitted &= result.read(f"{base}.used_{kind}").values > 0
        method = style.style_of_series(result.recipe, series, index)
        # Marks shrink from series to series, so that those below remain visible.
        size = 5.8 - 2.4 * index / max(len(panel["series"]) - 1, 1)
        look = {"color": method.color, "marker": method.marker, "markersize": size}
        hollow = look | {"markerfacecolor": "white", "markeredgewidth": 0.8}
        if result.has(f"{base}.largest_error_{kind}"):
            edges = [
                result.read(f"{base}.{which}_error_{kind}").values for which in ("least", "largest")
            ]
            axes.fill_between(x.values, *edges, color=look["color"], alpha=0.18, linewidth=0, zorder=1)
        axes.plot(x.values[fitted], error.values[fitted], linestyle="none", **look)
        axes.plot(x.values[drawn & ~fitted], error.values[drawn & ~fitted], linestyle="none", **hollow)
        end, order = None, None
        if panel.get("x") == "work":
            axes.plot(x.values[drawn], error.values[drawn], color=look["color"], linewidth=0.7, zorder=1.5)
        elif fitted.sum() > 1:
            end, order = _draw_fit(axes, result, f"{base}.order_{kind}", x.values[fitted], error.values[fitted], look)
        fits.append(
            (Line2D([], [], linewidth=0.7, label=series.get("name") or series["of"], **look), end, order)
        )
    if panel.get("xlim"):
        axes.set_xlim(panel["xlim"])
    if panel.get("ylim"):
        axes.set_ylim(panel["ylim"])
    style.label_short_decades(axes.xaxis)
    style.arrange_ticks(axes)
    first = result.read(panel["series"][0]["of"])
    x = _abscissa(result, panel, first)
    axes.set_xlabel(
        style.with_units(panel.get("xlabel") or x.long_name or "step", x.units)
    )
    axes.set_ylabel(
        style.with_units(panel.get("ylabel") or first.long_name or "error", first.units)
    )
    return fits


def _draw_fit(axes, result, path, steps, errors, look):
    """Draw the line of the file's order, or of one fitted here; return its upper end and the order."""
    x, y = np.log(steps), np.log(errors)
    order = float(result.read(path).values) if result.has(path) else np.polyfit(x, y, 1)[0]
    level = np.mean(y - order * x)
    ends = np.array([x.min(), x.max()])
    axes.plot(np.exp(ends), np.exp(level + order * ends), color=look["color"], linewidth=0.7, zorder=1.5)
    return np.exp([x.max(), y[np.argmax(x)]]), order


def _make_room(axes, fits):
    """Widen the axes at the right for the labels of the orders."""
    if all(end is None for _, end, _ in fits):
        return
    frame, dots = axes.get_window_extent(), axes.figure.dpi / 72
    left, right = axes.get_xlim()
    axes.set_xlim(left, left * (right / left) ** (1 / (1 - min(38 * dots / frame.width, 0.6))))


def _write_orders(axes, fits):
    """Write the orders at the ends of the fits, moved apart where they would overlap."""
    ends = sorted(
        ((*end, order, handle.get_color()) for handle, end, order in fits if end is not None),
        key=lambda end: end[1],
    )
    if not ends:
        return
    frame, dots = axes.get_window_extent(), axes.figure.dpi / 72
    end_heights = np.array([axes.transData.transform(end[:2])[1] for end in ends])
    text_heights = _spread_apart(end_heights, 8.5 * dots, frame.y0 + 5 * dots, frame.y1 - 5 * dots)
    for (x, y, order, color), text_height, end_height in zip(ends, text_heights, end_heights):
        axes.annotate(
            f"order {order:.2f}",
            (x, y),
            xytext=(5, (text_height - end_height) / dots),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=7,
            color=color,
        )


def _spread_apart(targets, spacing, lowest, highest):
    """Sorted heights near the sorted targets, at least `spacing` apart and between the limits if they fit."""
    heights = np.clip(targets, lowest, highest)
    for _ in range(200):
        overlap = np.maximum(spacing - np.diff(heights), 0.0)
        if overlap.max(initial=0.0) < 0.01 * spacing:
            break
        heights[:-1] -= 0.5 * overlap
        heights[1:] += 0.5 * overlap
        heights = np.clip(heights, lowest, highest)
    return heights
