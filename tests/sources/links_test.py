"""Links, anchors, paths and recipes that the documents name exist, and each of their blocks says whether it is run."""

import os
import re
import unittest
from functools import lru_cache
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
FOLDERS = ("analysis", "cluster", "experiments", "src", "tests")
DOCUMENTS = [SOURCE / "README.md", *(path for folder in FOLDERS for path in sorted((SOURCE / folder).rglob("*.md")))]
# Pages with runnable blocks; each page runs in a folder of its own.
PAGES = [SOURCE / "README.md", SOURCE / "analysis" / "README.md", *sorted((SOURCE / "experiments" / "guide").glob("*.md"))]
MAX_LINES = {"README.md": 130, "src/README.md": 200}


def blocks_and_prose(text):
    """Fenced blocks as (words behind the fence, text), and what is left of the document."""
    blocks, prose, fence = [], [], None
    for line in text.splitlines():
        if fence is None and (mark := re.match(r" *(`{3,})([^`]*)$", line)):
            fence, words, content = mark.group(1), mark.group(2).split() or ["unmarked"], []
        elif fence is not None and line.strip() == fence:
            blocks.append((words, "\n".join(content) + "\n"))
            fence = None
        elif fence is not None:
            content.append(line)
        else:
            prose.append(line)
    return blocks, "\n".join(prose)


def code_spans(prose):
    """What stands in single backticks, on one line or two."""
    without_double = re.sub(r"``+[^\n]*?``+", "", prose)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", without_double)]


@lru_cache(None)
def anchors(path):
    """Those that GitHub gives headings, and explicit ones."""
    _, prose = blocks_and_prose(path.read_text())
    found = set(re.findall(r'<a id="([^"]+)"', prose))
    for heading in re.findall(r"^#+ (.*)$", prose, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def broken_links(path, text):
    _, prose = blocks_and_prose(text)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'<img src="([^"]+)"', prose)
    for target in targets:
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(goal):
            yield f"{target}: there is no such anchor"


def unknown_paths(path, text):
    """Of code such as `src/main.cpp`; in src/README.md, of paths within src/, with or without an ending."""
    papers = "|".join(folder.name for folder in (SOURCE / "experiments").iterdir() if list(folder.glob("*.toml")))
    for span in code_spans(blocks_and_prose(text)[1]):
        if re.fullmatch(rf"(?:{papers})/\w+", span):
            if not (SOURCE / "experiments" / f"{span}.toml").exists():
                yield f"`{span}`: there is no such recipe"
        elif re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]+", span):
            if not list(SOURCE.glob(span.rstrip("/"))):
                yield f"`{span}`: there is no such file"
        elif re.fullmatch(r"[\w/]+\.(?:cpp|hpp|py)", span):
            if not any(list((SOURCE / folder).rglob(span)) for folder in FOLDERS):
                yield f"`{span}`: there is no such file"
        elif path == SOURCE / "src" / "README.md" and re.fullmatch(r"\w+/[\w./]+", span):
            if not list((SOURCE / "src").glob(span.rstrip("/"))) + list((SOURCE / "src").glob(f"{span}.?pp")):
                yield f"`{span}`: there is no such file in src/"


CHECKS = (broken_links, unknown_paths)


class Links(unittest.TestCase):
    def test_what_they_name_exists(self):
        self.assertGreater(len(DOCUMENTS), 25)
        problems = [
            f"{path.relative_to(SOURCE)}: {problem}"
            for path in DOCUMENTS
            for check in CHECKS
            for problem in check(path, path.read_text())
        ]
        self.assertEqual(problems, [])

    def test_each_check_finds_what_is_wrong(self):
        wrong = {
            "[a](nowhere.md)": "nowhere.md: there is no such file",
            "![a](nowhere.png)": "nowhere.png: there is no such file",
            '<img src="nowhere.png">': "nowhere.png: there is no such file",
            "[a](src/README.md#nowhere)": "src/README.md#nowhere: there is no such anchor",
            "`src/mane.cpp`": "`src/mane.cpp`: there is no such file",
            "`mane.cpp`": "`mane.cpp`: there is no such file",
            "`ours/mane`": "`ours/mane`: there is no such recipe",
        }
        for text, problem in wrong.items():
            with self.subTest(text):
                found = {one for check in CHECKS for one in check(SOURCE / "README.md", text + "\n")}
                self.assertEqual(found, {problem})
        self.assertEqual(
            list(unknown_paths(SOURCE / "src" / "README.md", "`model/mane`")), ["`model/mane`: there is no such file in src/"]
        )

    def test_the_first_pages_are_short(self):
        for name, lines in MAX_LINES.items():
            self.assertLessEqual(len((SOURCE / name).read_text().splitlines()), lines, name)

    def test_every_block_is_run_or_says_that_it_is_not(self):
        for path in DOCUMENTS:
            for words, block in blocks_and_prose(path.read_text())[0]:
                with self.subTest(path=path.relative_to(SOURCE), block=block[:60]):
                    kind = " ".join(words[:2]) if words[1:2] in (["fragment"], ["not-run"]) else words[0]
                    allowed = ("text", "math", "sh not-run")
                    if path in PAGES:
                        allowed += ("toml", "toml fragment", "sh", "python")
                    self.assertIn(kind, allowed)


if __name__ == "__main__":
    unittest.main()
