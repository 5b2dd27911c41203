"""Citation keys are known, libraries stay in their rooms, and rooms do not use each other in a circle."""

import graphlib
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
    """Rooms, the folders of src/, do not use each other in a circle."""

    def test_no_room_uses_itself_by_way_of_others(self):
        used = {}
        for path in files("src", ".cpp", ".hpp"):
            room = path.relative_to(SOURCE / "src").parts[0]
            if path.parent == SOURCE / "src":  # main.cpp
                continue
            for header in re.findall(r'^#include "(\w+)/[\w/.]+"', path.read_text(), re.MULTILINE):
                if header != room:
                    used.setdefault(room, {})[header] = f"{path.relative_to(SOURCE)} includes a header of {header}"
        self.assertGreater(len(used), 5)
        try:
            graphlib.TopologicalSorter(used).prepare()
        except graphlib.CycleError as error:
            circle = error.args[1]  # each room is used by the next one
            self.fail("\n".join(used[user][room] for room, user in zip(circle, circle[1:])))


class RandomStreams(unittest.TestCase):
    """Keys of random numbers are made in one place, random/streams.hpp, which holds streams apart."""

    MADE = re.compile(r"RngKey(\s+\w+)?\s*\{[^}]|\.stream\b|\b(prepare|draw|begin|start|\w+_pair|fill_normals)\(\{")

    def test_no_other_room_makes_keys(self):
        for path in files("src", ".cpp", ".hpp"):
            if path.parent.name == "random":
                continue
            for line in path.read_text().splitlines():
                self.assertIsNone(self.MADE.search(line), f"{path}: {line}")

    def test_every_purpose_has_a_stream_of_its_own(self):
        users = {}
        for path in files("src", ".cpp", ".hpp"):
            for stream in re.findall(r"streams::(\w+)\.key\(", path.read_text()):
                users.setdefault(stream, set()).add(path)
        self.assertGreater(len(users), 10)
        for stream, paths in users.items():
            self.assertEqual(len(paths), 1, f"{stream}: {paths}")


class Layout(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_files_have_the_layout_of_clang_format(self):
        cpp = files("src", ".cpp", ".hpp") + files("tests", ".cpp", ".hpp")
        done = subprocess.run(["clang-format", "--dry-run", "--Werror", *cpp], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
