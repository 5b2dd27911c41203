"""Every citation key in sources and recipes stands in the bibliography, and libraries stay in their rooms."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
KEY = re.compile(r"\b([a-z]{3,}(?:19|20)\d\d)\b")


def files(folder, *endings):
    return [path for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in endings]


class References(unittest.TestCase):
    def setUp(self):
        text = (SOURCE / "src" / "references.bib").read_text()
        self.keys = re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)

    def test_keys_are_unique(self):
        self.assertEqual(len(self.keys), len(set(self.keys)))
        self.assertIn("limebeer2020", self.keys)

    def test_every_cited_key_is_known(self):
        cited = {}
        for path in files("src", ".cpp", ".hpp") + files("experiments", ".toml"):
            for key in KEY.findall(path.read_text()):
                cited.setdefault(key, path)
        self.assertGreater(len(cited), 3)
        for key, path in cited.items():
            self.assertIn(key, self.keys, f"{path} cites {key}")


class Names(unittest.TestCase):
    def test_no_two_headers_declare_the_same_name(self):
        """The linker would make one of two classes of one name, without a word."""
        found = {}
        for path in files("src", ".hpp"):
            text = path.read_text()
            namespace = re.findall(r"^namespace (bathline[\w:]*) \{", text, re.MULTILINE)
            for name in re.findall(r"^(?:class|struct|enum class) (\w+)\b(?!::)[^;{]*\{", text, re.MULTILINE):
                place = found.setdefault((*namespace, name), path)
                self.assertEqual(place, path, name)
        self.assertGreater(len(found), 100)


class Rooms(unittest.TestCase):
    """Which library may appear where; a folder, or `.cpp` for its implementation files only."""

    ALLOWED = {
        r"<mpi\.h>": ["parallel/", "solve/*.cpp", "record/*.cpp"],
        r"<petsc[\w/]*\.h>": ["solve/*.cpp", "solve/petsc_handle.hpp"],
        r"<hdf5[\w]*\.h>": ["record/*.cpp", "record/hdf5_handle.hpp"],
        r"<toml\+\+[\w/.]*>": ["recipe/"],
        r"<CLI/[\w.]*>": ["command_line/"],
    }

    def test_headers_stay_in_their_rooms(self):
        seen = set()
        for path in files("src", ".cpp", ".hpp"):
            place = path.relative_to(SOURCE / "src")
            for line in path.read_text().splitlines():
                for header, rooms in self.ALLOWED.items():
                    if not re.match(rf"\s*#include {header}", line):
                        continue
                    seen.add(header)
                    allowed = any(
                        str(place).startswith(room) if room.endswith("/") else place.match(room) for room in rooms
                    )
                    self.assertTrue(allowed, f"{place}: {line}")
        self.assertEqual(seen, set(self.ALLOWED))


class Neighbours(unittest.TestCase):
    """Which room may use which, as the table of src/README.md says it."""

    def setUp(self):
        rows = re.findall(r"^\| `([\w/]+)` \|.*\| ([^|]*) \|$", (SOURCE / "src" / "README.md").read_text(), re.MULTILINE)
        self.allowed = {room: set(re.findall(r"`([\w/]+)`", neighbours)) for room, neighbours in rows}

    def test_every_room_is_in_the_table(self):
        rooms = {path.parent.relative_to(SOURCE / "src").as_posix() for path in files("src", ".cpp", ".hpp")} - {"."}
        self.assertEqual({room for room in rooms if self.row_of(room) is None}, set())
        self.assertEqual(set(self.allowed) - rooms, set())

    def row_of(self, room):
        """The row that speaks for a room: its own, or that of the room which it lies in."""
        while room not in self.allowed:
            if "/" not in room:
                return None
            room = room.rpartition("/")[0]
        return room

    def test_rooms_use_what_the_table_lets_them(self):
        used = {room: set() for room in self.allowed}
        for path in files("src", ".cpp", ".hpp"):
            mine = self.row_of(path.parent.relative_to(SOURCE / "src").as_posix())
            if mine is None:
                continue
            for header in re.findall(r'^#include "([\w/]+)/[\w.]+"', path.read_text(), re.MULTILINE):
                theirs = self.row_of(header)
                if theirs == mine:
                    continue
                self.assertIn(theirs, self.allowed[mine], f"{path} includes a header of {header}")
                used[mine].add(theirs)
        # What is allowed is also needed, so that the table says no more than there is.
        self.assertEqual(used, self.allowed)

    def test_no_two_rooms_use_each_other(self):
        for room in self.allowed:
            reached, todo = set(), [room]
            while todo:
                for next_room in self.allowed[todo.pop()] - reached:
                    reached.add(next_room)
                    todo.append(next_room)
            self.assertNotIn(room, reached)


class RandomStreams(unittest.TestCase):
    """Keys of random numbers are made in one place, random/streams.hpp, which holds streams apart."""

    MADE = re.compile(r"RngKey(\s+\w+)?\s*\{[^}]|\.stream\b|\b(prepare|draw|begin|start|\w+_pair|fill_normals)\(\{")

    def test_no_other_room_makes_keys(self):
        for path in files("src", ".cpp", ".hpp"):
            if path.parent.name == "random":
                continue
            for line in path.read_text().splitlines():
                self.assertIsNone(self.MADE.search(line), f"{path}: {line}")


class Environments(unittest.TestCase):
    """What reads recipes for all environments asks only for what every kind of them may have."""

    READS = re.compile(r"""[eE]nvironments?(?:\[[^]]*\])?(?:\.|->)\w+\("(\w+)"[,)]""")
    COMMON = {"name", "kind", "attach", "couple", "kT", "file"}
    FIELDS = {"w", "p"}

    def test_no_kind_is_known_by_its_keys(self):
        read = {}
        for room in ("steppers", "command_line", "driver", "record", "study"):
            for path in files(f"src/{room}", ".cpp", ".hpp"):
                for key in self.READS.findall(path.read_text()):
                    read.setdefault(key, path)
        self.assertLessEqual({"name", "kind", "kT"}, set(read))
        self.assertEqual({key: path for key, path in read.items() if key not in self.COMMON | self.FIELDS}, {})


class Tested(unittest.TestCase):
    """Every unit has a test of its own name, or says at its top which other one is its test."""

    SAYS_WHERE = re.compile(r"^// Tested by (tests/[\w/.]+)\.$", re.MULTILINE)

    LOGIC = re.compile(r"\b(?:for|while|if|switch) \(")

    def units(self):
        """All .cpp files, and the headers with logic that have none."""
        for path in files("src", ".cpp", ".hpp"):
            text = path.read_text()
            if path.suffix == ".cpp" or self.LOGIC.search(text) and not path.with_suffix(".cpp").is_file():
                yield path.relative_to(SOURCE / "src").with_suffix("").as_posix(), text

    def test_every_unit_has_a_test(self):
        untested, missing = [], []
        for unit, text in self.units():
            named = self.SAYS_WHERE.findall(text.split("#include", 1)[0])
            missing += [f"{unit}: {name}" for name in named if not (SOURCE / name).is_file()]
            if not named and not (SOURCE / "tests" / f"{unit}_test.cpp").is_file():
                untested.append(unit)
        self.assertEqual(untested, [])
        self.assertEqual(missing, [])


class Layout(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed; tests/lint installs it")
    def test_files_have_the_layout_of_clang_format(self):
        cpp = files("src", ".cpp", ".hpp") + files("tests", ".cpp", ".hpp")
        done = subprocess.run(["clang-format", "--dry-run", "--Werror", *cpp], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
