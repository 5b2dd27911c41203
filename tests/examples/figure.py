"""Example of a user-defined figure: the phase portrait of a particle, momentum against position, one curve per integrator.

In the tree this would be `analysis/bathline/figure_kinds/phase.py`, with its name in the list of kinds in
`src/recipe/recipe_schema.cpp`, so that `[figure] kind = "phase"` is accepted and a misspelt kind is reported before the run.
"""

from bathline import style


def draw(result, spec):
    """Return the figure of an open result file; `spec` is the recipe's table `figure`."""
    figure = style.new_figure(spec.get("width", style.COLUMN_WIDTH), spec.get("height", style.COLUMN_WIDTH))
    axes = figure.subplots()
    for label in result.labels:
        q, p = (result.read(f"{label}.{name}[0]") for name in ("q", "p"))
        axes.plot(q.values, p.values, label=label)
    axes.set_xlabel(f"position ({q.units})")
    axes.set_ylabel(f"momentum ({p.units})")
    axes.legend()
    return figure
