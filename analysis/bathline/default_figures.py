"""Default figures: for each study a table `figure` with the keys of a recipe, for results whose recipe has none."""

import numpy as np

from bathline import axis_limits, default_styles, style
from bathline.default_panels import (
    deviation_panel,
    difference_panels,
    drawable_values,
    labels_with_paths,
    ledger_panels,
    mode_panel,
    observable_panels,
    panel_of_labels,
    path_panels,
    section_panels,
)
from bathline.exceptions import AnalysisError
from bathline.integrators import integrator_of

MIN_CHAIN = 16  # particles of a chain that is drawn over space and time
MIN_PROFILE = 3  # particles of an ensemble whose temperatures are drawn as a profile
MAX_TITLE_LABELS = 4  # labels whose numbers are in the title of a panel
MAX_MARKED_VALUES = 16

_ERRORS = {"q": "position", "p": "momentum", "energy": "energy"}


def default_figure(result):
    """Default figure of the study of a result.

    Parameters
    ----------
    result : RunResult
        An open result, complete or not.

    Returns
    -------
    dict
        A table `figure` with the keys of a recipe.

    Raises
    ------
    AnalysisError
        If the file contains neither paths nor results of its study.
    """
    study = (result.recipe.get("study") or {}).get("kind", "trajectory")
    # A stopped run may lack what its study computes at the end; then its paths are drawn.
    figure = _STUDIES.get(study, _trajectory)(result) or _trajectory(result)
    if not figure:
        raise AnalysisError(f"{result.path}: contains neither a path nor results of its study to draw")
    return figure


def error_panels(result, against, kinds=_ERRORS, labels=None):
    """Panels of the errors in the group `convergence`.

    Parameters
    ----------
    result : RunResult
        An open result.
    against : {"step", "work"}
        Variable of the horizontal axis.
    kinds : iterable of {"q", "p", "energy"}
        Errors to draw, one panel each.
    labels : list of str, optional
        Labels of integrators, by default all in the group.

    Returns
    -------
    list of dict
        Tables `figure.panels`; empty if the file contains no errors.
    """
    labels = [
        label
        for label in labels or result.groups("convergence")
        if against == "step" or result.has(f"convergence.{label}.{against}")
    ]
    panels = [panel_of_labels(result, "convergence", labels, f"error_{kind}", _ERRORS[kind]) for kind in kinds]
    # The key `x` is "step" or "work"; the kind `convergence` finds that variable for each series.
    return [{**panel, "x": against} for panel in panels if panel]


def _convergence(result):
    """For each error panels over step and work; closed and open runs are separated if their styles coincide."""
    labels = result.groups("convergence")
    parts = {"": labels}
    if any(default_styles.styles_by_label(result, labels).values()):
        closed = [label for label in labels if (integrator_of(result.recipe, label) or {}).get("on") == "closed"]
        parts = {", closed": closed, ", open": [label for label in labels if label not in closed]}
    panels = [
        panel | {"title": panel["title"] + part}
        for kind in ("q", "energy")
        for part, members in parts.items()
        if members
        for against in ("step", "work")
        for panel in error_panels(result, against, [kind], members)
    ]
    return _figure(*panels, kind="convergence")


def _trajectory(result):
    labels = labels_with_paths(result)
    modes = mode_panel(result, labels)
    if not modes and _is_long_chain(result, labels):
        return _chain_wave(result, labels)
    panels = [modes] if modes else path_panels(result, labels)
    panels += observable_panels(result, labels) + section_panels(result, labels) + ledger_panels(result, labels)
    return _figure(*panels)


def _is_long_chain(result, labels):
    """Whether the particles form a chain with one axis, which is drawn over space and time."""
    system = result.recipe.get("system") or {}
    particles, axes = max((result.shape(f"{label}.q")[1:] for label in labels), default=(0, 0))
    return particles >= MIN_CHAIN and axes == 1 and system.get("pairs") in ("neighbours", "ring")


def _chain_wave(result, labels):
    """Energies of the particles of a chain, where they are recorded, else displacements, of the first label."""
    title = labels[0] if len(labels) > 1 else ""
    if result.has_variable(f"{labels[0]}.particle_energy"):
        series = {"of": f"{labels[0]}.particle_energy", "name": "energy of a particle"}
        return {"kind": "wave", "panels": [{"title": title, "xlabel": "particle", "series": [series]}]}
    path = f"{labels[0]}.q"
    q = axis_limits.mask_undrawable(result.array(path)[0])[..., 0]
    # Positions along a chain at rest differ by the spacings, displacements do not.
    are_positions = np.all(np.diff(q[0]) > 0) and np.ptp(q[0]) > np.nanmax(np.abs(q - q[0]), initial=0.0)
    series = {"of": path, "name": "displacement from the start" if are_positions else "displacement"}
    if are_positions:
        series["minus"] = f"{path}.first"
    return {"kind": "wave", "panels": [{"title": title, "xlabel": "particle", "series": [series]}]}


def _reduction(result):
    labels = labels_with_paths(result)
    differences = difference_panels(result)
    if not differences:
        return None
    return _figure(*path_panels(result, labels), *differences, *ledger_panels(result, labels))


def _energy(result):
    labels = result.groups("energy")
    keys = {"minus": "initial", "yscale": "log", "ylabel": "deviation from the start"}
    means = panel_of_labels(result, "energy", labels, "block_mean", "means over blocks", **keys)
    return _figure(*section_panels(result, labels), deviation_panel(result, labels), means) if means else None


def _fit(result):
    panels = []
    for label in result.groups("fit"):
        group = f"fit.{label}"
        for index in range(result.shape(f"{group}.data")[1]):
            panels.append(
                {
                    "title": label,
                    "ylabel": "observed value",
                    "series": [
                        {"of": f"{group}.data[{index}]", "name": "data", "style": "dots", "color": 0},
                        {"of": f"{group}.fitted[{index}]", "name": "fit", "style": "solid", "color": 1},
                    ],
                }
            )
            residuals = [{"of": f"{group}.residual[{index}]", "style": "dots", "color": 0}]
            panels.append({"title": label, "ylabel": "residual", "series": residuals})
    return _figure(*panels)


def _kernel_from_data(result):
    panels = []
    for variable, title, ylabel in (("kernel", "memory kernel", "kernel"), ("kernel_integral", "its integral", "integral")):
        of = f"memory-kernel.data.{variable}"
        series = [{"of": of, "error": f"{of}_error", "name": "fitted", "style": "solid", "color": 1}]
        if result.has(f"{of}_inverted"):
            series.insert(0, {"of": f"{of}_inverted", "name": "lag by lag", "style": "dots", "color": 0})
        panels.append({"title": title, "x": "memory-kernel.data.lag", "xlabel": "lag (s)", "ylabel": ylabel, "series": series})
    return _figure(*panels)


def _memory(result):
    if result.has("memory-kernel.data.kernel"):
        return _kernel_from_data(result)
    labels = result.groups("memory-kernel")
    groups = {
        f"memory-kernel.{label}.{environment}": f"{environment}, {label}" if len(labels) > 1 else environment
        for label in labels
        for environment in result.groups(f"memory-kernel/{label}")
    }
    panels = []
    for variable, title, ylabel in (
        ("kernel", "memory kernel", "kernel"),
        ("kernel_integral", "integral of the kernel", "integral"),
        ("random_force", "random force", "force"),
    ):
        component = "[0]" if variable == "random_force" else ""
        # An environment that starts cold exerts no random force.
        if not any(np.any(np.nan_to_num(drawable_values(result, f"{group}.{variable}{component}"))) for group in groups):
            continue
        measured = [
            {
                "of": f"{group}.{variable}{component}",
                "name": name,
                "color": default_styles.nth_colour(index),
                "style": "solid",
            }
            for index, (group, name) in enumerate(groups.items())
        ]
        formulas = [
            {
                "of": f"{group}.{variable}_formula{component}",
                "color": default_styles.nth_colour(index),
                **default_styles.FORMULA,
            }
            for index, group in enumerate(groups)
            if result.has(f"{group}.{variable}_formula{component}")
        ]
        panels.append({"title": title, "ylabel": ylabel, "series": measured + formulas})
    return _figure(*panels) if groups else None


def _ensemble(result):
    """Means with standard errors, densities of the recipe's quantities, and survival of its first passages."""
    labels, panels = result.groups("ensemble"), [*_profile_panels(result, result.groups("ensemble"))]
    # Equipartition and the stationary autocorrelation hold from the start only for a thermal start.
    study = result.recipe.get("study") or {}
    is_thermal = (result.recipe.get("system") or {}).get("start", "given") != "given"
    for variable, title, ylabel, theory in (
        ("mean_q[0][0]", "mean position", "position", None),
        ("kinetic_energy[0]", "mean kinetic energy", "energy", "kinetic_expected"),
        (
            "velocity_autocorrelation[0]",
            "velocity autocorrelation",
            "correlation",
            "velocity_autocorrelation_theory[0]",
        ),
    ):
        error = variable.replace("[", "_error[", 1)
        holds_everywhere = is_thermal or (theory or "").startswith("velocity") and (study.get("burn_in") or 0.0) > 0.0
        panel = panel_of_labels(result, "ensemble", labels, variable, title, error=error, ylabel=ylabel)
        if not panel:
            continue
        if theory and holds_everywhere and result.has(f"ensemble.{labels[0]}.{theory}"):
            line = {"of": f"ensemble.{labels[0]}.{theory}", "name": "theory", **default_styles.THEORY}
            panel["series"].append(line)
        panels.append(panel)
    panels += _density_panels(result, labels) + _survival_panels(result, labels)
    panels = [panel for panel in panels if panel]
    if len(labels) == 1:
        for panel in panels:
            panel["series"][0]["name"] = f"{labels[0]}, with its standard error"
    return _figure(*panels)


def _profile_panels(result, labels):
    """Mean kinetic temperatures over the particles, and means of profiles that were recorded, with standard errors."""
    particles, axes = max((result.shape(f"ensemble.{label}.damping") or (0, 0) for label in labels), default=(0, 0))
    if particles < MIN_PROFILE:
        return []
    panels = []
    for variable, title, xlabel, ylabel, scale in (
        ("kinetic_mean", "temperature profile", "particle", "kT (J)", 2.0 / axes),
        ("bond_current_mean", "energy current", "pair", "current", 1.0),
        ("particle_energy_mean", "energies of the particles", "particle", "energy", 1.0),
        ("mode_energy_mean", "energies of the modes", "mode", "energy", 1.0),
    ):
        keys = {"error": f"{variable}_error", "xlabel": xlabel, "ylabel": ylabel}
        panel = panel_of_labels(result, "ensemble", labels, variable, title, **keys)
        if not panel:
            continue
        for series in panel["series"]:
            series |= {"scale": scale} if scale != 1.0 else {}
            series |= {"style": "points"} if particles <= MAX_MARKED_VALUES else {}
        # Bars at the first and the last particle would hide in the frame.
        numbers = result.read(panel["series"][0]["of"]).scale.values
        panels.append(panel | {"xlim": [float(numbers[0]) - 0.5, float(numbers[-1]) + 0.5]})
    return panels


def _density_panels(result, labels):
    """Histograms of all quantities with bins, with the expected densities."""
    panels = []
    for name in _names_in_study(result, "quantities"):
        variable = f"{name}_density"
        keys = {"error": f"{variable}_error", "xlabel": name, "ylabel": "probability density"}
        panel = panel_of_labels(result, "ensemble", labels, variable, f"distribution of {name}", **keys)
        if panel and result.has(f"ensemble.{labels[0]}.{variable}_expected"):
            expected = {"of": f"ensemble.{labels[0]}.{variable}_expected", "name": "theory", **default_styles.THEORY}
            panel["series"].append(expected)
        panels.append(panel)
    return panels


def _survival_panels(result, labels):
    """Fractions of the realisations without a first passage so far; mean times and final fractions are in the title."""
    panels = []
    for name in _names_in_study(result, "first_passages"):
        keys = {"error": f"{name}_survival_error", "ylabel": "fraction of the realisations"}
        lines = [f"survival until the first {name}"]
        for label in labels[:MAX_TITLE_LABELS]:
            passage = f"ensemble.{label}.{name}"
            fraction, mean, error = (
                float(drawable_values(result, f"{passage}_{part}")) for part in ("fraction", "mean", "mean_error")
            )
            # The mean counts the time that realisations without a passage have waited; it is undrawable without passages.
            times = f"mean {mean:.3g} ± {error:.2g} s" if np.isfinite(mean) else "no mean time"
            lines.append((f"{label}: " if len(labels) > 1 else "") + f"{times}, {fraction:.0%} passed")
        title = "\n".join(lines)
        panels.append(panel_of_labels(result, "ensemble", labels, f"{name}_survival", title, **keys))
    return panels


def _names_in_study(result, key):
    return [table.get("name", "") for table in (result.recipe.get("study") or {}).get(key, [])]


def _covariance(result):
    """Temperatures of the coordinates, and the mean power of noise minus friction of each."""
    labels = result.groups("covariance")
    panels = []
    for variable, title, ylabel in (
        ("temperature", "temperatures", "temperature"),
        ("heat", "noise minus friction", r"$kT\,C/m - \langle v\,C\,v\rangle$"),
    ):
        panel = panel_of_labels(result, "covariance", labels, variable, title, xlabel="coordinate", ylabel=ylabel)
        if panel:
            marked = result.shape(f"covariance.{labels[0]}.{variable}")[0] <= MAX_MARKED_VALUES
            for series in panel["series"]:
                if series["of"] == f"covariance.langevin.{variable}":
                    series |= default_styles.THEORY
                elif marked:
                    series["style"] = "marked"
            panels.append(panel)
    return _figure(*panels)


def _transport(result):
    """Temperatures and currents along the chains, and conductivities over the length."""
    groups = {
        f"transport.{label}.{name}": f"{name}, {label}" if len(result.groups("transport")) > 1 else name
        for label in result.groups("transport")
        for name in result.groups(f"transport/{label}")
    }
    panels = []
    for variable, title, keys in (
        ("temperature", "temperature profile", {"xlabel": "place", "ylabel": "kT (J)"}),
        ("local_current", "heat current", {"xlabel": "spring", "ylabel": "current (W)"}),
        ("kappa", "conductivity", {"xlabel": "number of places", "ylabel": r"$\kappa$ (1/s)", "xscale": "log", "yscale": "log"}),
    ):
        series = [
            {"of": f"{group}.{variable}", "error": f"{group}.{variable}_error", "name": name}
            for group, name in groups.items()
            if result.shape(f"{group}.{variable}")
        ]
        if series:
            panels.append({"title": title, "series": series, **keys})
    return _figure(*panels)


def _wave(result):
    snapshots = any(name.startswith("displacement") for label in result.labels for name in result.variables(label))
    return {"kind": "wave"} if snapshots else None


def _figure(*panels, kind="lines"):
    """The table `figure` of the panels that are not None; None if there are none."""
    panels = [panel for panel in panels if panel]
    if not panels:
        return None
    # Orbits are square. Three panels fill one row, so that none stands alone in a second one.
    in_threes = len(panels) == 3 or any(panel["title"].startswith("orbit") for panel in panels)
    # A position and its first and last periods fill a row.
    in_threes = in_threes or any(panel["title"].endswith(", first periods") for panel in panels)
    columns = 3 if in_threes else min(len(panels), 2)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    return {"kind": kind, "columns": columns, "width": width, "legend": "shared", "panels": panels}


_STUDIES = {
    "convergence": _convergence,
    "covariance": _covariance,
    "energy": _energy,
    "ensemble": _ensemble,
    "fit": _fit,
    "memory-kernel": _memory,
    "reduction": _reduction,
    "transport": _transport,
    "wave": _wave,
}
