"""Legends that never cover data: inside the axes where there is room, above them otherwise."""

from matplotlib.transforms import Bbox, ScaledTranslation

from bathline import style

# Tried in this order.
_LOCATIONS = [
    "upper right",
    "upper left",
    "lower right",
    "lower left",
    "center right",
    "upper center",
    "lower center",
]


def place(figure, panels, shared=False):
    """Add legends to all axes of a figure; panels with equal entries get one legend together.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    panels : list of (Axes, list of Line2D)
        Axes and their legend handles.
    shared : bool
        Whether one legend above the figure serves all panels, with one entry for each name, from its first handle.
    """
    panels = [(axes, handles) for axes, handles in panels if handles]
    if not panels:
        return
    if shared:
        first = {}
        for _, handles in panels:
            for handle in handles:
                first.setdefault(handle.get_label(), handle)
        on_top(figure, list(first.values()))
        return
    if len({_entries(handles) for _, handles in panels}) == 1:
        style.lay_out(figure)
        for axes, handles in panels:
            if _place_inside(axes, handles):
                style.freeze_layout(figure)
                return
        on_top(figure, panels[0][1])
        return

    above = set()
    while True:
        for axes, handles in panels:
            if axes in above:
                _place_above(axes, handles)
        style.lay_out(figure)
        # A legend above its axes shrinks them, so the legends inside the others are placed again.
        crowded = {axes for axes, handles in panels if axes not in above and not _place_inside(axes, handles)}
        if not crowded:
            style.freeze_layout(figure)
            return
        above |= crowded


def _entries(handles):
    # matplotlib has no getter for the dashes of a line, so that handles carry a key of their style in `gid`.
    return tuple(
        (handle.get_label(), handle.get_color(), handle.get_marker(), handle.get_gid()) for handle in handles
    )


def _place_inside(axes, handles):
    """Put the legend where it covers nothing; without such a location, leave no legend and return False."""
    overlap_tests = _overlap_tests(axes)
    columns = [1] if len(handles) == 1 else [1, len(handles)]
    for count in columns:
        for location in _LOCATIONS:
            legend = axes.legend(handles=handles, loc=location, ncol=count)
            box = legend.get_window_extent().padded(0.02 * axes.figure.dpi)
            frame = axes.get_window_extent()
            fits = box.width < 0.98 * frame.width and box.height < 0.7 * frame.height
            if fits and not any(overlaps(box) for overlaps in overlap_tests):
                return True
    axes.get_legend().remove()
    return False


def _overlap_tests(axes):
    """For each artist in the axes, a function that returns whether it overlaps a box."""
    tests = []
    for line in axes.lines:
        path = line.get_transform().transform_path(line.get_path())
        if line.get_linestyle() not in ("None", "none", " ", ""):
            tests.append(lambda box, path=path: path.intersects_bbox(box, filled=False))
        if line.get_marker() not in ("None", "none", " ", "", None):
            size = line.get_markersize() * axes.figure.dpi / 72 / 2
            tests.append(
                lambda box, points=path.vertices, size=size: box.padded(size).count_contains(points) > 0
            )
    for collection in axes.collections:  # error bars and bands
        is_filled = collection.get_facecolor().size > 0
        for path in map(collection.get_transform().transform_path, collection.get_paths()):
            tests.append(lambda box, path=path, is_filled=is_filled: path.intersects_bbox(box, filled=is_filled))
    for artist in [*axes.texts, *axes.patches]:
        extent = artist.get_window_extent()
        tests.append(lambda box, extent=extent: Bbox.intersection(box, extent) is not None)
    return tests


def _columns(entries):
    """Numbers of columns to try, largest first, for which all rows but the last are full."""
    return sorted({-(-entries // rows) for rows in range(1, entries + 1)}, reverse=True)


def _place_above(axes, handles):
    """Put the legend above the axes and their title, in as many columns as fit."""
    title, size = axes.get_title(loc="left"), axes.title.get_fontsize()
    room = (size + 3 + 1.2 * size * title.count("\n")) / 72 if title else 0
    offset = ScaledTranslation(0, room, axes.figure.dpi_scale_trans)
    for count in _columns(len(handles)):
        legend = axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncol=count,
            bbox_transform=axes.transAxes + offset,
            borderaxespad=0.1,
            borderpad=0.2,
        )
        if legend.get_window_extent().width <= axes.get_window_extent().width:
            return


def on_top(figure, handles, **options):
    """Add one legend above all panels and enlarge the figure by its height.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    handles : list of Line2D
        Legend handles.
    **options
        Options of `matplotlib.figure.Figure.legend`.
    """
    width, height = figure.get_size_inches()
    for count in _columns(len(handles)):
        legend = figure.legend(handles=handles, loc="upper center", ncol=count, borderaxespad=0.2, **options)
        box = legend.get_window_extent()
        if count == 1 or box.width <= 0.98 * figure.bbox.width:
            break
        legend.remove()
    room = box.height / figure.dpi + 0.02
    figure.set_size_inches(width, height + room)
    figure.get_layout_engine().set(rect=(0, 0, 1, height / (height + room)))
