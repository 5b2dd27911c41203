"""What a sweep has computed: its results in order, as a table and as a picture."""

from numbers import Real

from bathline.result_file import AnalysisError
from bathline.sweep_settings import sweep_order_key


class Sweep:
    """The results of a sweep.

    results  opened results, in the order of the sweep
    table    a pandas DataFrame: one row a result, the swept keys, then what every claim measured
    """

    def __init__(self, results):
        import pandas

        self.results = results
        self.table = pandas.DataFrame(
            [{**result.settings, **result.claims["measured"].to_dict()} for result in results]
        )

    def __iter__(self):
        return iter(self.results)

    def __len__(self):
        return len(self.results)

    def gather(self, quantity):
        """A quantity of every result by its path, such as "convergence.gamma.order_q": a list, in the sweep's order."""
        return [result.quantity(quantity) for result in self.results]

    def tabulate(self, *quantities):
        """The table with a column more for each of these quantities, such as "closed.q[0].max", which no claim needs to name."""
        return self.table.assign(**{quantity: self.numbers(quantity) for quantity in quantities})

    def plot(self, *quantities, against, xscale="linear", yscale="linear"):
        """Numbers over a swept key, as a matplotlib Figure; whatever else was swept, and each quantity, has its own curve.

        quantities  paths of numbers, such as "closed.energy_particles.last", or ids of claims
        against     a swept key, such as "time.step"
        """
        from bathline.style import free_layout
        from bathline.sweep_figure import draw

        return free_layout(draw(self, quantities, against, xscale, yscale))

    @property
    def keys(self):
        """The swept keys, in alphabetical order."""
        return sorted({key for result in self for key in result.settings})

    def numbers(self, quantity):
        """A number of every result, by its path or by the id of a claim; AnalysisError where it is a series."""
        if quantity in self.table and quantity not in self.keys:
            return list(self.table[quantity])
        values = self.gather(quantity)
        if not all(isinstance(value, Real) for value in values):
            raise AnalysisError(f"'{quantity}' is a series; a statistic makes it a number, as in '{quantity}.last'")
        return values


def in_order(results):
    """Opened results of one sweep in its order."""
    return sorted(results, key=lambda result: sweep_order_key(result.settings, str(result.attributes.get("recipe", ""))))
