#!/usr/bin/python3
"""A live look at a run that is under way, read from its result file while that is written.

    watch.py RESULT.h5                       # in this terminal: position and energies of the integrator at work
    watch.py RESULT.h5 --page watch.html     # the whole picture as a page that a browser shows anew by itself

The run flushes its file every few seconds. The look ends when the result is complete or has failed, when no program writes it
any longer, as after a kill, or with Ctrl-C, which the run does not notice."""

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
from bathline.terminal_plot import curve
from bathline.result_file import AnalysisError, ResultFile
from bathline.liveness import is_abandoned

# What a run leaves that was killed, or stopped to be resumed.
ABANDONED = "partial, no longer written by a running program; `bathline resume` goes on with it"

_SHOWN = {"q[0][0]": "position", "energy_particles": "energy of the particles", "energy_total": "sum of all energies"}


def _status_of(path, result):
    """The status of an open result, which says of one that was left as it is that it was."""
    return ABANDONED if result.status == "partial" and is_abandoned(path) else result.status


def text_of(path, width):
    """Status and text of a look at the file: how far every integrator has come, and curves of the last one."""
    with ResultFile(path) as result:
        status = _status_of(path, result)
        lines = [f"{result.title}: {status}"]
        begun = [label for label in result.labels if (result.shape(f"{label}.time") or (0,))[0] > 0]
        for label in begun:
            now = result.quantity(f"{label}.time.last")
            lines.append(f"  {label}: at {float(now.values):.6g} {now.units}")
        for name, title in _SHOWN.items() if begun else ():
            path = f"{begun[-1]}.{name}"
            if result.has(path) and np.isfinite(result.quantity(path).values).any():
                lines += _plot(result.quantity(path), f"{begun[-1]}: {title}", width)
        return status, "\n".join(lines)


def _plot(quantity, title, width):
    """A curve of five lines with the ends of its range beside it."""
    values = quantity.values
    low, high = (f"{value:.6g}" for value in (np.nanmin(values), np.nanmax(values)))
    rows = curve(quantity.scale.values, values, width - 14, 5)
    margins = [high, "", "", "", low]
    heading = f"{title} ({quantity.units})" if quantity.units not in ("", "1") else title
    return ["", heading, *(f"{margin:>12} {row}" for margin, row in zip(margins, rows))]


def _figure_of(result):
    """The recipe's figure, or what there is to see together with what stands in the way of that figure."""
    from bathline.figure import draw, draw_default

    try:
        return draw(result), None
    except AnalysisError as error:
        return draw_default(result), str(error).removeprefix(f"{result.path}: ")


def page_of(path, seconds):
    """Status and HTML of a look at the file: its picture, to be shown anew until the run has ended."""
    with ResultFile(path) as result:
        picture = io.BytesIO()
        figure, obstacle = _figure_of(result)
        figure.canvas.print_png(picture)
        status = _status_of(path, result)
        again = f'<meta http-equiv="refresh" content="{seconds:g}">\n' if status == "partial" else ""
        # Before the end the recipe's figure may be of integrators that have not begun.
        why = "" if obstacle is None or status == "partial" else f"<p>The recipe's figure: {html.escape(obstacle)}</p>\n"
        title = html.escape(f"{result.title}: {status}")
        data = base64.b64encode(picture.getvalue()).decode("ascii")
        return status, (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{again}<title>{title}</title>\n'
            # Without an icon of its own a page makes browsers ask for one.
            '<link rel="icon" href="data:,">\n</head>\n<body>\n'
            f'<h1>{title}</h1>\n<p>{time.strftime("%H:%M:%S")}</p>\n{why}'
            f'<img alt="{title}" src="data:image/png;base64,{data}" style="max-width: 100%">\n</body>\n</html>\n'
        )


def watch(look, show, path, seconds):
    """Looks again and again until the run has ended; what stands in the way of a look is said once."""
    said = None
    while True:
        try:
            # In a process of its own: in the middle of being written a file can be anything.
            status, content = run_isolated(look)
        except Exception as error:
            reason = str(error).removeprefix(f"{path}: ")
            if reason != said:
                print(f"watch: {path}: {reason}; looking again", file=sys.stderr)
            said = reason
        else:
            show(content)
            if status != "partial":
                return
        time.sleep(seconds)


def _show_in_terminal(text):
    clear = "\x1b[H\x1b[J" if sys.stdout.isatty() else "\n"
    print(clear + text, flush=True)


def _write(page, text):
    """Replaces the page at once, so that no browser sees a half of it."""
    beside = page.with_name(page.name + ".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, page)


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", metavar="RESULT.h5", type=Path)
    parser.add_argument("--page", metavar="FILE.html", type=Path, help="write a page for a browser instead")
    parser.add_argument("--every", metavar="SECONDS", type=float, default=2.0, help="between two looks; 2 by default")
    options = parser.parse_args(arguments)
    seconds = max(options.every, 0.1)
    try:
        if options.page is None:
            width = min(shutil.get_terminal_size().columns, 120)
            watch(lambda: text_of(options.result, width), _show_in_terminal, options.result, seconds)
        else:
            # Once, and not in the process of every look.
            import bathline.figure  # noqa: F401

            options.page.parent.mkdir(parents=True, exist_ok=True)
            print(f"watch: open file://{options.page.resolve()}", file=sys.stderr)
            look = lambda: page_of(options.result, seconds)  # noqa: E731
            watch(look, lambda text: _write(options.page, text), options.result, seconds)
    except KeyboardInterrupt:
        pass
    except OSError as error:
        print(f"watch: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
