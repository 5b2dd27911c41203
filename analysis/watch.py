#!/usr/bin/python3
"""Displays the progress of a running program from its result file.

    watch.py RESULT.h5                       # in this terminal: position and energies of the current integrator
    watch.py RESULT.h5 --page watch.html     # the whole figure as a page that reloads itself in a browser

The run flushes its file every few seconds. The display ends when the run is complete or has failed, when no program writes
the file any longer, as after a kill, or with Ctrl-C, which does not affect the run.
"""

import argparse
import base64
import html
import io
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from bathline.isolated_process import run_isolated
from bathline.liveness import is_abandoned
from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.terminal_plot import braille_curve

# Status of a run that was killed, or stopped to be resumed.
ABANDONED = "partial, no longer written by a running program; `bathline resume` continues it"

_SHOWN = {"q[0][0]": "position", "energy_particles": "energy of the particles", "energy_total": "sum of all energies"}


def _status_of(path, result):
    """Status of an open result, also distinguishing partial results that no program writes any longer."""
    return ABANDONED if result.status == "partial" and is_abandoned(path) else result.status


def text_of(path, width):
    """Describe the state of a run as text.

    Parameters
    ----------
    path : pathlib.Path
        The result file.
    width : int
        Width of the text in characters.

    Returns
    -------
    status : str
        Status of the run.
    text : str
        Current time of every integrator, and curves of the last one.
    """
    with RunResult(path) as result:
        status = _status_of(path, result)
        lines = [f"{result.title}: {status}"]
        started = [label for label in result.labels if (result.shape(f"{label}.time") or (0,))[0] > 0]
        for label in started:
            now = result.read(f"{label}.time.last")
            lines.append(f"  {label}: at {float(now.values):.6g} {now.units}")
        for name, title in _SHOWN.items() if started else ():
            path = f"{started[-1]}.{name}"
            if result.has(path) and np.isfinite(result.read(path).values).any():
                lines += _plot(result.read(path), f"{started[-1]}: {title}", width)
        return status, "\n".join(lines)


def _plot(quantity, title, width):
    """A curve of five lines with its minimum and maximum in the margin."""
    values = quantity.values
    low, high = (f"{value:.6g}" for value in (np.nanmin(values), np.nanmax(values)))
    rows = braille_curve(quantity.scale.values, values, width - 14, 5)
    margins = [high, "", "", "", low]
    heading = f"{title} ({quantity.units})" if quantity.units not in ("", "1") else title
    return ["", heading, *(f"{margin:>12} {row}" for margin, row in zip(margins, rows))]


def _figure_of(result):
    """The recipe's figure, or the default figure with the reason why the recipe's cannot be drawn."""
    from bathline.figure import draw, draw_default

    try:
        return draw(result), None
    except AnalysisError as error:
        return draw_default(result), str(error).removeprefix(f"{result.path}: ")


def page_of(path, seconds):
    """Describe the state of a run as a page with its figure.

    Parameters
    ----------
    path : pathlib.Path
        The result file.
    seconds : float
        Time after which the page reloads itself while the run continues.

    Returns
    -------
    status : str
        Status of the run.
    page : str
        HTML.
    """
    with RunResult(path) as result:
        picture = io.BytesIO()
        figure, reason = _figure_of(result)
        figure.canvas.print_png(picture)
        status = _status_of(path, result)
        refresh = f'<meta http-equiv="refresh" content="{seconds:g}">\n' if status == "partial" else ""
        # Before the end of a run the recipe's figure may show integrators that have not started.
        is_hidden = reason is None or status == "partial"
        note = "" if is_hidden else f"<p>The recipe's figure cannot be drawn: {html.escape(reason)}</p>\n"
        title = html.escape(f"{result.title}: {status}")
        data = base64.b64encode(picture.getvalue()).decode("ascii")
        return status, (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{refresh}<title>{title}</title>\n'
            # Browsers request an icon from pages without one.
            '<link rel="icon" href="data:,">\n</head>\n<body>\n'
            f'<h1>{title}</h1>\n<p>{time.strftime("%H:%M:%S")}</p>\n{note}'
            f'<img alt="{title}" src="data:image/png;base64,{data}" style="max-width: 100%">\n</body>\n</html>\n'
        )


def watch(describe, show, path, seconds):
    """Show the state of a run repeatedly until it has ended; a repeated error is reported once.

    Parameters
    ----------
    describe : callable
        Returns the status and the content to show.
    show : callable
        Shows the content.
    path : pathlib.Path
        The result file, for error messages.
    seconds : float
        Time between two reads.
    """
    reported = None
    while True:
        try:
            # In a child process, because a partially written file can crash HDF5.
            status, content = run_isolated(describe)
        except Exception as error:
            reason = str(error).removeprefix(f"{path}: ")
            if reason != reported:
                print(f"watch: {path}: {reason}; trying again", file=sys.stderr)
            reported = reason
        else:
            show(content)
            if status != "partial":
                return
        time.sleep(seconds)


def _show_in_terminal(text):
    clear = "\x1b[H\x1b[J" if sys.stdout.isatty() else "\n"
    print(clear + text, flush=True)


def _write(page, text):
    """Replace the page atomically, so that a browser never reads a partial one."""
    temporary = page.with_name(page.name + ".new")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, page)


def main(arguments=None):
    """Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        Command line, by default `sys.argv[1:]`.

    Returns
    -------
    int
        Exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", metavar="RESULT.h5", type=Path)
    parser.add_argument("--page", metavar="FILE.html", type=Path, help="write a page for a browser instead")
    parser.add_argument("--every", metavar="SECONDS", type=float, default=2.0, help="time between two reads; 2 by default")
    options = parser.parse_args(arguments)
    seconds = max(options.every, 0.1)
    try:
        if options.page is None:
            width = min(shutil.get_terminal_size().columns, 120)
            watch(lambda: text_of(options.result, width), _show_in_terminal, options.result, seconds)
        else:
            # Imported once here, instead of in every child process.
            import bathline.figure  # noqa: F401

            options.page.parent.mkdir(parents=True, exist_ok=True)
            print(f"watch: open file://{options.page.resolve()}", file=sys.stderr)
            describe = lambda: page_of(options.result, seconds)  # noqa: E731
            watch(describe, lambda text: _write(options.page, text), options.result, seconds)
    except KeyboardInterrupt:
        pass
    except OSError as error:
        print(f"watch: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
