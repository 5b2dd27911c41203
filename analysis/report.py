#!/usr/bin/python3
"""Writes one page with the figures, claims and provenance of all results under a folder.

    report.py RESULTS -o report.html

The page is self-contained: figures and style are embedded, nothing is loaded from elsewhere.
"""

import argparse
import base64
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bathline.isolated_process import ChildProcessDied, run_isolated
from bathline.claim import Claim
from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.values import format_number, natural_key
from bathline.text_to_html import to_html

# Attributes that come first, in this order, with their names in the report; all other attributes follow.
_LEADING_ATTRIBUTES = {
    "status": "status",
    "bathline_version": "bathline",
    "git_commit": "commit",
    "git_dirty": "uncommitted changes",
    "mpi_ranks": "ranks",
    "compiler": "compiler",
    "compiler_flags": "compiler flags",
    "petsc_version": "PETSc",
    "hdf5_version": "HDF5",
    "mpi_version": "MPI",
    "mpi_library": "MPI",
    "seed": "seed",
    "started": "started",
    "wall_time_s": "wall time",
}
_SHOWN_ELSEWHERE = {"title", "recipe", "recipe_resolved", "warnings"}


@dataclass
class Entry:
    """The contents of one result in the report.

    Attributes
    ----------
    file : pathlib.Path
        The result file, which may be missing.
    root : pathlib.Path
        The folder of the report.
    title, status : str
        Title and status of the result.
    trouble : str
        Reason why the result is missing or incomplete.
    recipe : dict
        The recipe.
    recipe_text : str
        Text of the recipe.
    claims : list of Claim
        The claims.
    provenance : list of (str, str)
        Names and texts of attributes.
    warnings : list of str
        Warnings of the program.
    """

    file: Path
    root: Path
    title: str = ""
    status: str = "no result"
    trouble: str = ""
    recipe: dict = field(default_factory=dict)
    recipe_text: str = ""
    claims: list[Claim] = field(default_factory=list)
    provenance: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.title = self.title or self.short_name

    @property
    def is_of_recipe(self):
        """bool : Whether the path is that of experiments/reproduce: <paper>/<recipe>/result.h5."""
        return self.file.name == "result.h5" and len(self.file.relative_to(self.root).parts) == 3

    @property
    def section(self):
        """str : The paper, or the path of the folder; for the folder of the report its name."""
        folder = self.file.parent.parent if self.file.name == "result.h5" else self.file.parent
        return str(folder.relative_to(self.root)) if self.root in folder.parents else folder.name

    @property
    def short_name(self):
        """str : Name of the result within its section."""
        return self.file.parent.name if self.file.name == "result.h5" else self.file.name

    @property
    def name(self):
        """str : Section and name of the result."""
        return f"{self.section}/{self.short_name}"

    @property
    def anchor(self):
        """str : Anchor of the result in the page."""
        return self.name.replace("/", "-") if self.is_of_recipe else str(self.file.relative_to(self.root))

    @property
    def picture(self):
        """pathlib.Path : The figure as PNG, as named by experiments/reproduce or by analysis/figure.py."""
        reproduced = self.file.with_name(f"{self.file.parent.name}.png")
        is_reproduced = self.file.name == "result.h5" and reproduced.is_file()
        return reproduced if is_reproduced else self.file.with_suffix(".png")

    def end_of_log(self):
        """Read the last lines of the run's output, which experiments/reproduce writes to run.log.

        Returns
        -------
        str
            Empty if there is no such file.
        """
        log = self.file.with_name("run.log")
        exists = self.file.name == "result.h5" and log.is_file()
        try:
            return "\n".join(log.read_text(errors="replace").splitlines()[-12:]) if exists else ""
        except OSError as error:
            return f"run.log cannot be read: {error.strerror}"

    @property
    def finished(self):
        """bool : Whether the run is complete."""
        return self.status == "complete"

    @property
    def failed(self):
        """list of Claim : The claims that failed."""
        return [claim for claim in self.claims if not claim.passed]

    @property
    def unsupported(self):
        """list of Claim : Claims that pass because the numbers contradict a paper's statement, as the recipe states."""
        return [claim for claim in self.claims if claim.passed and not claim.supported]

    @property
    def source(self):
        """str : Paper and figure; the paper only if its key differs from the name of the folder."""
        paper = self.recipe.get("paper") or {}
        key = paper.get("key", "") if paper.get("key") != self.section else ""
        return ", ".join(text for text in (key, paper.get("figure", "")) if text)

    @property
    def caption(self):
        """str : Caption of the figure."""
        return (self.recipe.get("figure") or {}).get("caption") or ""

    def figure(self, home):
        """The picture of the result.

        Parameters
        ----------
        home : pathlib.Path
            Folder of the page.

        Returns
        -------
        dict
            `data` in base64 and `width` in pixels of the page, `pdf`, the relative address of the PDF, and `problem`.
        """
        picture, pdf = self.picture, self.picture.with_suffix(".pdf")
        address = Path(os.path.relpath(pdf, home)).as_posix() if pdf.is_file() else ""
        try:
            content = picture.read_bytes() if picture.is_file() else b""
        except OSError as error:
            return {"problem": f"{picture.name} cannot be read: {error.strerror}."}
        # Figures are drawn at 200 dots per inch and shown at 120. Bytes 16 to 19 of a PNG are its width.
        width = int.from_bytes(content[16:20], "big") * 3 // 5
        return {"data": base64.b64encode(content).decode("ascii"), "width": width, "pdf": address}


def read_entry(file, root):
    """Read the entry of a result; a file that is damaged or missing gives an entry with the reason.

    Parameters
    ----------
    file : pathlib.Path
        The result file.
    root : pathlib.Path
        The folder of the report.

    Returns
    -------
    Entry or None
        None if the file is not a result of the program.
    """
    try:
        return run_isolated(_read_entry, file, root)
    except ChildProcessDied as error:
        return _unreadable(file, root, error)


def _read_entry(file, root):
    entry = Entry(file, root)
    try:
        with RunResult(file) as result:
            if not entry.is_of_recipe and "bathline_version" not in result.attributes:
                return None
            entry.title, entry.status, entry.recipe = result.title, result.status, result.recipe
            entry.recipe_text = (
                result.attributes.get("recipe") or result.attributes.get("recipe_resolved") or ""
            )
            entry.claims, entry.warnings = result.claim_list(), result.warnings()
            entry.provenance = _provenance_rows(result.attributes)
            if not entry.finished:
                reasons = [
                    result.attributes[name]
                    for name in ("failure", "reason", "message", "error")
                    if name in result.attributes
                ]
                entry.trouble = "\n".join(map(str, reasons)) or entry.end_of_log()
    except AnalysisError as error:
        if file.is_file():
            entry.status = "unreadable"
        entry.trouble = f"{str(error).removeprefix(str(file.parent) + os.sep)}\n{entry.end_of_log()}".strip()
    except Exception as error:  # an error caused by a damaged file must not end the report
        entry = _unreadable(file, root, error)
    return entry


def _unreadable(file, root, error):
    return Entry(file, root, status="unreadable", trouble=f"{file.name}: {error}")


def _provenance_rows(attributes):
    rows = [(label, attributes[name], name) for name, label in _LEADING_ATTRIBUTES.items() if name in attributes]
    rows += [
        (name.replace("_", " "), value, name)
        for name, value in attributes.items()
        if name not in _LEADING_ATTRIBUTES and name not in _SHOWN_ELSEWHERE
    ]
    return [(label, _attribute_text(name, value)) for label, value, name in rows if value != ""]


def _attribute_text(name, value):
    if name == "git_dirty":
        return "yes" if value in (1, True, "true", "1", "yes") else "no"
    if name == "wall_time_s" and isinstance(value, (int, float)):
        return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"
    return str(value)


def page(entries, home):
    """Compose the report.

    Parameters
    ----------
    entries : list of Entry
        Entries in the order of the report.
    home : pathlib.Path
        Folder of the page, for relative links.

    Returns
    -------
    str
        HTML.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(prose=lambda text: Markup(to_html(text)), number=format_number)
    template = environment.get_template("report.html")
    claims = [claim for entry in entries for claim in entry.claims]
    failed, unsupported = (sum(len(getattr(entry, kind)) for entry in entries) for kind in ("failed", "unsupported"))
    unfinished = sum(not entry.finished for entry in entries)
    of_recipes = all(entry.is_of_recipe for entry in entries)
    sums = [
        (len(entries), "recipes" if of_recipes else "results", ""),
        (len(claims), "claims", ""),
        (len(claims) - failed - unsupported, "passed", "good"),
        (failed, "failed", "bad" if failed else ""),
        (unsupported, "statements of papers not supported", "odd" if unsupported else ""),
    ]
    sums += [(unfinished, "runs not complete", "bad")] if unfinished else []
    context = {"entries": entries, "sums": sums, "of_recipes": of_recipes, "sections": []}
    article = template.make_module(context).article
    sections = {}
    for entry in entries:
        sections.setdefault(entry.section, []).append((entry, _article_or_trouble(article, entry, home)))
    return template.render(context | {"sections": list(sections.items())}) + "\n"


def _article_or_trouble(article, entry, home):
    """The article of an entry; if it cannot be composed, one with the reason."""
    try:
        return article(entry, home)
    except Exception as error:  # for instance a caption in a stranger's recipe that is a number
        trouble = f"{entry.file.name}: {error}"
        return article(Entry(entry.file, entry.root, status=entry.status, trouble=trouble), home)


def entries_of(folder):
    """Read the entries of all results under a folder, including runs of experiments/reproduce without a result.

    Parameters
    ----------
    folder : path-like
        The folder.

    Returns
    -------
    list of Entry
        In natural order of sections and names.
    """
    root = Path(os.path.abspath(folder))
    files = {path for pattern in ("**/*.h5", "*/*/result.h5") for path in root.glob(pattern) if not path.is_dir()}
    files = {path for path in files if ".checkpoint." not in path.name}
    files |= {path.with_name("result.h5") for path in root.glob("*/*/run.log")}
    entries = [entry for path in files if (entry := read_entry(path, root)) is not None]
    return sorted(entries, key=lambda entry: (natural_key(entry.section), natural_key(entry.short_name)))


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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", metavar="RESULTS", help="folder with results, at any depth")
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True)
    options = parser.parse_args(arguments)
    if not Path(options.results).is_dir():
        print(f"report: {options.results}: no such folder", file=sys.stderr)
        return 2
    entries = entries_of(options.results)
    if not entries:
        print(f"report: {options.results}: contains no results of bathline", file=sys.stderr)
        return 2
    output = Path(options.output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page(entries, output.parent), encoding="utf-8")
    except OSError as error:
        print(f"report: {error.filename or output} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
