"""The report and the table of claims: everything is in them, and nothing from elsewhere."""

import io
import os
import re
import tempfile
import unittest
from contextlib import redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

import h5py

import synthetic
import claims_table
import figure
import report
from markup import to_html

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
    """Collects tags in order, checks that they are closed, and keeps addresses."""

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
            elif not address.startswith("data:image/png;base64,"):
                self.assertTrue((self.results / address).is_file(), address)
                self.assertFalse(os.path.isabs(address))
        self.assertIn("limebeer2020/fig9/fig9.pdf", self.page.addresses)
        self.assertEqual(sum(address.startswith("data:") for address in self.page.addresses), 2)

    def test_every_claim_is_there_with_its_verdict(self):
        table = self.html[self.html.index('<article id="limebeer2020-fig9">') :]
        table = table[table.index("<tbody>") : table.index("</tbody>")]
        rows = table.split("</tr>")[:4]
        for row, (name, measured, expected, style) in zip(
            rows,
            [
                ("energy", "1", "exactly 1", ""),
                ("agrees", "2.77", "at most 3", ""),
                ("identical", "2.77", "0 in [0, 0.001]", "unsupported"),
                ("echo", "70", "79 ± 1.6", "failed"),
            ],
        ):
            self.assertIn(f"<b>{name}</b>", row)
            self.assertIn(f">{measured}</td>", row)
            self.assertIn(f">{expected}</td>", row)
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
                "limebeer2020-fig9",
                "limebeer2020-fig10",
                "older-first",
                "ours-died",
                "ours-stopped",
                "ours-torn",
            ],
        )

    def test_caption_note_provenance_recipe_and_warnings(self):
        self.assertIn("Closed line and damper until 2L/v & after.", self.page.text)
        self.assertIn("What is the paper’s and what is ours.", self.page.text)
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

    def test_a_folder_without_results_and_none(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(report.main([empty, "-o", f"{empty}/report.html"]), 0)
            self.assertEqual(Page(Path(empty, "report.html").read_text()).open, [])


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

    def test_one_line_a_claim_and_the_sum(self):
        code, text = self.table_of(self.path)
        self.assertEqual(code, 1)
        lines = text.splitlines()
        self.assertRegex(lines[2], r"^limebeer2020/fig04  energy +1 +exactly 1 +PASS$")
        self.assertRegex(lines[4], r"identical +2.77 +0 in \[0, 0.001\] +not supported$")
        self.assertRegex(lines[5], r"echo +70 +79 ± 1.6 +FAIL$")
        self.assertEqual(lines[-1], "claims: 2 PASS, 1 FAIL, 1 not supported")

    def test_a_good_file_gives_exit_code_zero(self):
        with h5py.File(self.path, "r+") as file:
            file["claims/passed"][:] = 1
        self.assertEqual(self.table_of("--count", self.path), (0, "3 PASS, 0 FAIL, 1 not supported\n"))

    def test_unfinished_runs_do_not_pass(self):
        with h5py.File(self.path, "r+") as file:
            file["claims/passed"][:] = 1
            file.attrs["status"] = "partial"
        code, text = self.table_of(self.path, self.path.with_name("absent.h5"))
        self.assertEqual(code, 1)
        self.assertRegex(text, r"the run itself +partial +complete +FAIL")
        self.assertRegex(text, r"the run itself +no such file +complete +FAIL")
        self.assertTrue(text.endswith("3 PASS, 0 FAIL, 1 not supported, 2 not finished\n"))


class MarkupTest(unittest.TestCase):
    def test_formulas_code_and_escapes(self):
        self.assertEqual(to_html("a < `b<c`"), "a &lt; <code>b&lt;c</code>")
        self.assertEqual(
            to_html(r"$H_0 \exp(-\alpha t)$"),
            '<span class="formula"><i>H</i><sub>0</sub> exp(−<i>αt</i>)</span>',
        )
        self.assertEqual(to_html(r"$10^{-10}$"), '<span class="formula">10<sup>−10</sup></span>')
        self.assertEqual(to_html("it costs 5 $"), "it costs 5 $")


if __name__ == "__main__":
    unittest.main()
