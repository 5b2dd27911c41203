"""The results of a sweep in order, as a table and as a figure."""

from numbers import Real

from bathline.result_file import AnalysisError
from bathline.sweep_settings import sweep_order_key


class Sweep:
    """The results of a sweep; iterating yields the results.

    Parameters
    ----------
    results : list of RunResult
        Open results, in the order of the sweep.

    Attributes
    ----------
    results : list of RunResult
        The results.
    table : pandas.DataFrame
        One row for each result: the swept keys, then the measured value of every claim.
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
        """Read a quantity of every result.

        Parameters
        ----------
        quantity : str
            Path of a quantity, such as "convergence.gamma.order_q".

        Returns
        -------
        list of (float or ndarray)
            In the order of the sweep.
        """
        return [result.quantity(quantity) for result in self.results]

    def tabulate(self, *quantities):
        """The table with additional columns for numbers that are no claims.

        Parameters
        ----------
        *quantities : str
            Paths of numbers, such as "closed.q[0].max".

        Returns
        -------
        pandas.DataFrame
        """
        return self.table.assign(**{quantity: self.numbers(quantity) for quantity in quantities})

    def plot(self, *quantities, against, xscale="linear", yscale="linear"):
        """Draw numbers over a swept key, one curve for each quantity and each combination of the other swept keys.

        Parameters
        ----------
        *quantities : str
            Paths of numbers, such as "closed.energy_particles.last", or claims.
        against : str
            A swept key, such as "time.step".
        xscale, yscale : {"linear", "log"}
            Scales of the axes.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        AnalysisError
            If `against` was not swept, or a quantity does not exist or is a series.
        """
        from bathline.style import unfreeze_layout
        from bathline.sweep_figure import draw

        return unfreeze_layout(draw(self, quantities, against, xscale, yscale))

    @property
    def keys(self):
        """list of str : The swept keys, in alphabetical order."""
        return sorted({key for result in self for key in result.settings})

    def numbers(self, quantity):
        """Read a number of every result.

        Parameters
        ----------
        quantity : str
            Path of a number, or a claim.

        Returns
        -------
        list of float
            In the order of the sweep.

        Raises
        ------
        AnalysisError
            If the quantity is a series.
        """
        if quantity in self.table and quantity not in self.keys:
            return list(self.table[quantity])
        values = self.gather(quantity)
        if not all(isinstance(value, Real) for value in values):
            raise AnalysisError(f"'{quantity}' is a series; a statistic makes it a number, as in '{quantity}.last'")
        return values


def sort_results(results):
    """Sort the results of one sweep.

    Parameters
    ----------
    results : list of RunResult
        Open results.

    Returns
    -------
    list of RunResult
        In the order of the sweep.
    """

    def order(result):
        return sweep_order_key(result.settings, str(result.attributes.get("recipe", "")))

    return sorted(results, key=order)
