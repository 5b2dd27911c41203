"""The report is complete and self-contained; tables of claims and of sweeps have a row for each file."""

import collections
import base64
import csv
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import h5py
import numpy as np

import synthetic
import claims_table
import figure
import report
import sweep_table
from bathline import isolated_process, result_file
from bathline.text_to_html import to_html

RECIPE = """# <b>not bold</b>
[paper]
key = "limebeer2020"
figure = "Fig. 4"
note = "The masses are the paper's, `every` is ours."
[figure]
kind = "lines"
caption = "Closed line and damper until $2L/v$ & after."
[[figure.panels]]
series = [{of = "closed.q[0][0]", name = "closed"}]
"""


class Page(HTMLParser):
    """Parser of a page that checks that all tags are closed, and collects addresses, anchors and text."""

    VOID = {"meta", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.anchors, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href"):
                self.addresses.append(value)
            if name == "id":
                self.anchors.append(value)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.results = Path(cls.temporary.name) / "results"
        for name in ("fig10", "fig9"):
            folder = cls.results / "limebeer2020" / name
            synthetic.trajectory(folder / "result.h5", RECIPE, warnings="the echo comes at 7.9 s")
            figure.main([str(folder / "result.h5"), "-o", str(folder / name)])
        synthetic.trajectory(
            cls.results / "ours" / "stopped" / "result.h5",
            RECIPE,
            status="failed",
            failure="step 12: residual 1e+3",
        )
        (cls.results / "ours" / "died").mkdir()
        (cls.results / "ours" / "died" / "run.log").write_text("first line\nkilled by <signal> 9\n")
        (cls.results / "ours" / "torn").mkdir()
        (cls.results / "ours" / "torn" / "result.h5").write_text("torn")
        with h5py.File(cls.results / "ours" / "torn" / "older.h5", "w") as file:
            file.attrs["title"] = "An older layout"
        (cls.results / "older" / "first").mkdir(parents=True)
        (cls.results / "ours" / "torn" / "older.h5").rename(cls.results / "older" / "first" / "result.h5")
        assert report.main([str(cls.results), "-o", str(cls.results / "report.html")]) == 0
        cls.html = (cls.results / "report.html").read_text(encoding="utf-8")
        cls.page = Page(cls.html)

    def test_it_is_well_formed(self):
        self.assertEqual(self.page.open, [])
        self.assertIn('<meta name="viewport"', self.html)

    def test_nothing_is_loaded_from_elsewhere(self):
        without_pictures = re.sub(r"base64,[A-Za-z0-9+/=]*", "", self.html)
        self.assertLess(len(without_pictures), 60000)
        self.assertEqual(re.findall(r"https?:|//[a-z]|@import|url\(|<script|<link", without_pictures), [])
        for address in self.page.addresses:
            if address.startswith("#"):
                self.assertIn(address[1:], self.page.anchors)
            elif not address.startswith(("data:image/png;base64,", "data:image/svg+xml;base64,")):
                self.assertTrue((self.results / address).is_file(), address)
                self.assertFalse(os.path.isabs(address))
        self.assertIn("limebeer2020/fig9/fig9.pdf", self.page.addresses)
        self.assertEqual(sum(address.startswith("data:image/png") for address in self.page.addresses), 2)

    def test_every_claim_is_there_with_its_verdict(self):
        table = self.html[self.html.index('<article id="limebeer2020-fig9">') :]
        table = table[table.index("<tbody>") : table.index("</tbody>")]
        rows = table.split("</tr>")[:4]
        for row, (name, measured, expected, uncertainty, style) in zip(
            rows,
            [
                ("energy", "1", "exactly 1", "", ""),
                ("agrees", "2.77", "at most 3", "", ""),
                ("identical", "2.77", "0 in [0, 0.001]", "0.0001", "unsupported"),
                ("echo", "70", "79 ± 1.6", "0.25", "failed"),
            ],
        ):
            self.assertIn(f"<b>{name}</b>", row)
            self.assertIn(f">{measured}</td>", row)
            self.assertIn(f">{expected}</td>", row)
            self.assertIn(f'data-label="uncertainty">{uncertainty}</td>', row)
            self.assertIn(f'<tr class="{style}">', row)
        self.assertIn("paper’s statement is not supported by the numbers", rows[2])
        self.assertNotIn("not supported", rows[3])
        self.assertIn("conserved &lt;exactly&gt;", rows[0])

    def test_the_summary_counts(self):
        sums = re.findall(r'<li><b class="\w*">(\d+)</b><span>([^<]*)</span>', self.html)
        self.assertEqual(
            dict((label, int(number)) for number, label in sums),
            {
                "recipes": 6,
                "claims": 12,
                "passed": 6,
                "failed": 3,
                "statements of papers not supported": 3,
                "runs not complete": 4,
            },
        )

    def test_order_is_by_paper_and_number(self):
        self.assertEqual(
            self.page.anchors,
            [
                "contents",
                "limebeer2020-recipes",
                "limebeer2020-fig9",
                "limebeer2020-fig10",
                "older-recipes",
                "older-first",
                "ours-recipes",
                "ours-died",
                "ours-stopped",
                "ours-torn",
            ],
        )

    def test_the_contents_link_to_all_papers_and_recipes_in_order(self):
        contents = self.html[self.html.index('<nav id="contents">') : self.html.index("</nav>")]
        targets = re.findall(r'<a href="#([^"]+)">([^<]*)</a>', contents)
        self.assertEqual([target for target, _ in targets], self.page.anchors[1:])
        self.assertEqual(
            [text for _, text in targets],
            ["limebeer2020", "fig9", "fig10", "older", "first", "ours", "died", "stopped", "torn"],
        )
        self.assertIn("<h2>Contents</h2>", contents)
        # A result without a title is named once in each list.
        self.assertEqual(contents.count("torn"), 2)
        # The contents come first, and every recipe links back to them.
        self.assertLess(self.html.index("</nav>"), self.html.index('class="banner'))
        self.assertEqual(self.page.addresses.count("#contents"), 6)

    def test_caption_note_provenance_recipe_and_warnings(self):
        self.assertIn("Closed line and damper until  & after.", self.page.text)
        self.assertIn('<img class="formula" alt="2L/v" style="height: ', self.html)
        self.assertIn("Parameters of the paper and our own.", self.page.text)
        self.assertIn("the echo comes at 7.9 s", self.page.text)
        self.assertIn("&lt;b&gt;not bold&lt;/b&gt;", self.html)
        for fact in (
            "0123456789abcdef",
            "GNU 12.2.0",
            "Release -O3",
            "3.18.5",
            "1.10.8",
            "2026-01-02T03:04:05Z",
            "1.5 s",
        ):
            self.assertIn(f"<td>{fact}</td>", self.html)

    def test_failed_torn_and_missing_results_are_shown(self):
        self.assertIn("step 12: residual 1e+3", self.page.text)
        self.assertIn("killed by <signal> 9", self.page.text)
        self.assertIn("not a readable HDF5 file", self.page.text)
        self.assertIn("An older layout", self.page.text)
        for status in ("failed", "no result", "unreadable", "unknown"):
            self.assertIn(f"Status of this run: {status}", self.page.text)


class OwnResultsTest(unittest.TestCase):
    """Folders of results with other paths than <paper>/<recipe>/result.h5."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / "many"
        self.folder.mkdir()

    def report_of(self, folder):
        """The exit code, standard error, and the page if it was written."""
        page = self.folder.parent / "report.html"
        page.unlink(missing_ok=True)
        errors = io.StringIO()
        with redirect_stderr(errors):
            code = report.main([str(folder), "-o", str(page)])
        return code, errors.getvalue(), Page(page.read_text()) if page.is_file() else None

    def test_all_results_are_found_and_named_by_their_paths(self):
        for name in ("a.h5", "mine/b10.h5", "mine/b9.h5", "mine/deep/c/result.h5", "paper/fig1/result.h5"):
            synthetic.trajectory(self.folder / name, RECIPE, steps=5)
        synthetic.trajectory(self.folder / "a.checkpoint.12.h5", RECIPE, steps=5)
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = 1.0
        (self.folder / "torn.h5").write_text("torn")
        figure.main([str(self.folder / "mine" / "b9.h5")])
        code, stderr, page = self.report_of(self.folder)
        self.assertEqual((code, stderr, page.open), (0, "", []))
        articles = [
            "many-recipes",
            "a.h5",
            "torn.h5",
            "mine-recipes",
            "mine/b9.h5",
            "mine/b10.h5",
            "mine/deep-recipes",
            "mine/deep/c/result.h5",
            "paper-recipes",
            "paper-fig1",
        ]
        self.assertEqual(page.anchors, ["contents", *articles])
        for name in ("many/a.h5", "mine/b10.h5", "mine/deep/c", "paper/fig1", "many/torn.h5"):
            self.assertIn(name, page.text)
        self.assertIn("many/mine/b9.pdf", page.addresses)
        self.assertEqual(sum(address.startswith("data:image/png") for address in page.addresses), 1)
        self.assertIn("There is no figure of this result; analysis/figure.py b10.h5 draws one.", page.text)
        self.assertIn("6results", page.text)
        self.assertNotIn("experiments/reproduce", page.text)

    def test_a_folder_of_one_paper_or_one_recipe(self):
        synthetic.trajectory(self.folder / "fig1" / "result.h5", RECIPE, steps=5)
        for folder in (self.folder, self.folder / "fig1"):
            self.assertEqual(self.report_of(folder)[2].anchors[1], "many-recipes")
            self.assertIn("many/fig1", self.report_of(folder)[2].text)

    def test_a_folder_without_results_is_an_error(self):
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = 1.0
        synthetic.trajectory(self.folder / "a.checkpoint.12.h5", RECIPE, steps=5)
        stderr = f"report: {self.folder}: contains no results of bathline\n"
        self.assertEqual(self.report_of(self.folder), (2, stderr, None))
        absent = self.folder / "absent"
        self.assertEqual(self.report_of(absent), (2, f"report: {absent}: no such folder\n", None))


class ClaimsTableTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = Path(temporary.name) / "limebeer2020" / "fig04" / "result.h5"
        synthetic.trajectory(self.path, RECIPE)

    def table_of(self, *arguments):
        output = io.StringIO()
        with redirect_stdout(output):
            code = claims_table.main([*map(str, arguments)])
        return code, output.getvalue()

    def test_one_line_for_each_claim_and_the_counts(self):
        code, text = self.table_of(self.path)
        self.assertEqual(code, 1)
        lines = text.splitlines()
        self.assertRegex(lines[2], r"^limebeer2020/fig04  energy +1 +exactly 1 +PASS$")
        self.assertRegex(lines[4], r"identical +2.77 +0 in \[0, 0.001\] +0.0001 +not supported$")
        self.assertRegex(lines[5], r"echo +70 +79 ± 1.6 +0.25 +FAIL$")
        self.assertEqual(lines[-1], "claims: 2 PASS, 1 FAIL, 1 not supported")

    def test_passed_claims_give_exit_code_zero(self):
        with h5py.File(self.path, "r+") as file:
            file["claims/passed"][:] = 1
        self.assertEqual(self.table_of("--count", self.path), (0, "3 PASS, 0 FAIL, 1 not supported\n"))

    def test_unfinished_runs_do_not_pass(self):
        with h5py.File(self.path, "r+") as file:
            file["claims/passed"][:] = 1
            file.attrs["status"] = "partial"
        code, text = self.table_of(self.path, self.path.with_name("absent.h5"))
        self.assertEqual(code, 1)
        self.assertRegex(text, r"status of the run +partial +complete +FAIL")
        self.assertRegex(text, r"status of the run +no such file +complete +FAIL")
        self.assertTrue(text.endswith("3 PASS, 0 FAIL, 1 not supported, 2 not finished\n"))


class StrangeFilesTest(unittest.TestCase):
    """Files with contents that the program never writes, among valid ones."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.paths = [self.folder / "paper" / name / "result.h5" for name in ("a", "b", "c", "d", "e", "f")]
        for path in self.paths:
            synthetic.trajectory(path, RECIPE)
            with h5py.File(path, "r+") as file:
                file["claims/passed"][:] = 1
        self.strange = self.paths[1:5]
        with h5py.File(self.paths[1], "r+") as file:
            del file["claims/measured"]
            file["claims/measured"] = np.array([b"much"] * 4)
        with h5py.File(self.paths[2], "r+") as file:
            del file["claims/name"]
            file.create_group("claims/name")
        with h5py.File(self.paths[3], "r+") as file:
            del file.attrs["recipe_resolved"], file.attrs["recipe"]
            file.attrs["recipe_resolved"] = 5
        with h5py.File(self.paths[4], "r+") as file:
            file.attrs["recipe_resolved"] = 'paper = 3\nfigure = { caption = 7 }\n'
            file.attrs["sweep_settings"] = h5py.Empty("f")

    def test_the_report_contains_the_valid_files(self):
        self.assertEqual(report.main([str(self.folder), "-o", str(self.folder / "report.html")]), 0)
        page = Page((self.folder / "report.html").read_text())
        for name in "abcdef":
            self.assertIn(f"paper/{name}", page.text)
        self.assertGreaterEqual(page.text.count("conserved <exactly>"), 2)

    def test_the_table_of_claims_has_a_line_for_each(self):
        output = io.StringIO()
        with redirect_stdout(output):
            self.assertEqual(claims_table.main([*map(str, self.paths)]), 1)
        lines = output.getvalue().splitlines()
        for name in "bcd":
            self.assertEqual(sum(line.startswith(f"paper/{name} ") for line in lines), 1, lines)
        for name in "af":
            self.assertEqual(sum(line.startswith(f"paper/{name} ") for line in lines), 4, lines)

    def test_the_table_of_a_sweep_has_a_row_for_each(self):
        (self.folder / "-1.h5").write_text("no HDF5")
        with h5py.File(self.paths[0], "r+") as file:
            file.attrs["sweep_settings"] = "system.k=-1.5\n@key==1+1\nname=-x\n"
        done = subprocess.run(
            [sys.executable, synthetic.SOURCE / "analysis" / "sweep_table.py", *self.paths[:3], "--", "-1.h5"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)
        rows = {Path(row["file"]).parent.name or row["file"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual([rows[name]["status"] for name in "abc"], ["complete", "unreadable", "unreadable"])
        self.assertEqual(rows["a"]["system.k"], "-1.5")
        self.assertEqual(rows["a"]["'@key"], "'=1+1")
        self.assertEqual(rows["a"]["name"], "'-x")
        self.assertEqual(rows["'-1.h5"]["status"], "unreadable")


class SweepTableTest(unittest.TestCase):
    """Missing quantities, and files that are no results, in the table of a sweep."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def table_of(self, *arguments):
        errors = io.StringIO()
        with redirect_stderr(errors):
            code = sweep_table.main([*map(str, arguments), "-o", str(self.folder / "table.csv")])
        with open(self.folder / "table.csv", newline="") as file:
            return code, errors.getvalue().splitlines(), list(csv.DictReader(file))

    def test_a_missing_quantity_leaves_its_cell_empty(self):
        a, b = self.folder / "a.h5", self.folder / "b.h5"
        synthetic.trajectory(a, RECIPE, steps=5)
        synthetic.trajectory(b, RECIPE, steps=5)
        with h5py.File(b, "r+") as file:
            del file["closed/limit"]
        code, stderr, rows = self.table_of(a, b, "--of", "closed.limit", "--of", "open.limit")
        self.assertEqual(code, 1)
        self.assertEqual(len(stderr), 1)
        self.assertTrue(stderr[0].startswith(f"sweep_table: {b}: no variable 'closed.limit'; the group 'closed' has "), stderr)
        self.assertEqual([row["closed.limit"] for row in rows], ["0.5", ""])
        for row in rows:
            self.assertEqual((row["status"], row["open.limit"], row["energy"]), ("complete", "0.5", "1.0"))
        code, stderr, rows = self.table_of(a, "--of", "closed.q[0][0]")
        self.assertEqual((code, rows[0]["closed.q[0][0]"]), (1, ""))
        self.assertRegex(stderr[0], r"a.h5: 'closed.q\[0\]\[0\]' is a series; a statistic makes it a number")

    def test_a_file_that_is_no_result(self):
        path = self.folder / "other.h5"
        with h5py.File(path, "w") as file:
            file["x"] = 1.0
        code, stderr, rows = self.table_of(path)
        self.assertEqual((code, rows[0]["status"]), (1, "unreadable"))
        self.assertEqual(
            stderr, [f"sweep_table: {path} cannot be read: not a result of bathline: the attribute `status` is missing"]
        )


class CrashTest(unittest.TestCase):
    """One file among three with which HDF5 crashes or does not end."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.paths = [self.folder / "paper" / name / "result.h5" for name in "abc"]
        for path in self.paths:
            synthetic.trajectory(path, RECIPE, steps=5)
            with h5py.File(path, "r+") as file:
                file["claims/passed"][:] = 1

    def while_reading_b(self, ending):
        """For the rest of the test, opening the second file calls `ending`."""
        really = h5py.File

        def opened(path, *arguments, **options):
            return ending() if path == self.paths[1] else really(path, *arguments, **options)

        patch = mock.patch.object(result_file.h5py, "File", opened)
        patch.start()
        self.addCleanup(patch.stop)

    def check_outcome(self, stderr):
        """The report and both tables contain the other files, and one line with the reason for the second one."""
        self.assertEqual(report.main([str(self.folder), "-o", str(self.folder / "report.html")]), 0)
        page = Page((self.folder / "report.html").read_text())
        self.assertEqual(page.text.count("conserved <exactly>"), 2)
        self.assertEqual(page.text.count(stderr), 1)

        output, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(output):
            self.assertEqual(claims_table.main([*map(str, self.paths)]), 1)
        lines = output.getvalue().splitlines()
        self.assertEqual([sum(line.startswith(f"paper/{name} ") for line in lines) for name in "abc"], [4, 1, 4])
        self.assertEqual(output.getvalue().count(stderr), 1)

        with redirect_stderr(errors):
            self.assertEqual(sweep_table.main([*map(str, self.paths), "-o", str(self.folder / "table.csv")]), 1)
        self.assertRegex(errors.getvalue(), f"^sweep_table: {self.paths[1]} .*{stderr}\\n$")
        rows = list(csv.DictReader((self.folder / "table.csv").read_text().splitlines()))
        self.assertEqual([row["status"] for row in rows], ["complete", "unreadable", "complete"])

    def test_a_file_that_crashes_hdf5(self):
        this = os.getpid()

        def crash():
            self.assertNotEqual(os.getpid(), this)
            os.kill(os.getpid(), signal.SIGSEGV)

        self.while_reading_b(crash)
        self.check_outcome("SIGSEGV")

    def test_a_file_that_sends_hdf5_into_an_endless_loop(self):
        limit = mock.patch.object(isolated_process, "CPU_LIMIT_S", 1)
        limit.start()
        self.addCleanup(limit.stop)
        # Ten times the limit, so that a failing test ends as well.
        self.while_reading_b(lambda: collections.deque(iter(lambda: time.process_time() > 10, True), 0))
        self.check_outcome("SIGXCPU")

    def test_a_pipe_is_not_opened(self):
        self.paths[1].unlink()
        os.mkfifo(self.paths[1])
        self.while_reading_b(lambda: self.fail("opened"))
        self.check_outcome("not a file")


class TextToHtmlTest(unittest.TestCase):
    def test_formulas_code_and_escapes(self):
        self.assertEqual(to_html("a < `b<c`"), "a &lt; <code>b&lt;c</code>")
        formula = to_html(r"a $H_0 < \alpha t$.")
        self.assertRegex(formula, r'^a <img class="formula" alt="H_0 &lt; \\alpha t" style="height: 0\.9em; vertical-align: -0')
        svg = base64.b64decode(re.search("base64,([^\"]+)", formula)[1]).decode()
        self.assertIn("<svg", svg)
        self.assertNotIn("date", svg)  # equal reports from equal results
        self.assertEqual(to_html(r"$\frac{<$"), r"<code>$\frac{&lt;$</code>")
        self.assertEqual(to_html("it costs 5 $"), "it costs 5 $")


if __name__ == "__main__":
    unittest.main()
