"""Legends that never cover data: inside the axes where a corner is free, above them otherwise."""

from matplotlib.transforms import Bbox, ScaledTranslation

from bathline import style

# Tried in this order.
_CORNERS = [
    "upper right",
    "upper left",
    "lower right",
    "lower left",
    "center right",
    "upper center",
    "lower center",
]


def place(figure, panels, shared=False):
    """Gives each axes its legend; `panels` is a list of (axes, handles).

    One legend serves panels with equal entries, and all of them where it is `shared`: it stands above them and has
    every name once, as the first panel with it shows it.
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
                style.keep_layout(figure)
                return
        on_top(figure, panels[0][1])
        return

    above = set()
    while True:
        for axes, handles in panels:
            if axes in above:
                _place_above(axes, handles)
        style.lay_out(figure)
        # Each legend above its axes makes the axes smaller, so the other ones are tried anew.
        crowded = {axes for axes, handles in panels if axes not in above and not _place_inside(axes, handles)}
        if not crowded:
            style.keep_layout(figure)
            return
        above |= crowded


def _entries(handles):
    # The dashes of a line cannot be asked for; whoever makes handles says in `gid` what tells them apart.
    return tuple(
        (handle.get_label(), handle.get_color(), handle.get_marker(), handle.get_gid()) for handle in handles
    )


def _place_inside(axes, handles):
    """Puts the legend where it covers nothing; False, leaving no legend, when there is no such place."""
    obstacles = _obstacles(axes)
    columns = [1] if len(handles) == 1 else [1, len(handles)]
    for count in columns:
        for corner in _CORNERS:
            legend = axes.legend(handles=handles, loc=corner, ncol=count)
            box = legend.get_window_extent().padded(0.02 * axes.figure.dpi)
            frame = axes.get_window_extent()
            fits = box.width < 0.98 * frame.width and box.height < 0.7 * frame.height
            if fits and not any(covered(box) for covered in obstacles):
                return True
    axes.get_legend().remove()
    return False


def _obstacles(axes):
    """For everything drawn in the axes, a function that tells whether it touches a box."""
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
    for artist in [*axes.texts, *axes.patches]:
        extent = artist.get_window_extent()
        tests.append(lambda box, extent=extent: Bbox.intersection(box, extent) is not None)
    return tests


def _columns(entries):
    """Numbers of columns to try, widest first, whose rows are equally full but for the last."""
    return sorted({-(-entries // rows) for rows in range(1, entries + 1)}, reverse=True)


def _place_above(axes, handles):
    """Puts the legend over the axes and their title, in as many columns as fit."""
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
    """One legend over the whole figure, which grows by the legend's height; options go to matplotlib."""
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
