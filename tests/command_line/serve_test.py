"""`bathline serve`: commands of another program through pipes."""

import json
import signal
import subprocess
import time
import unittest

import h5py

from program import OSCILLATOR, PATIENCE, FolderTest, changed, command_of, toml


def request(folder, *arguments, recipe=None):
    text = "" if recipe is None else f", recipe = {json.dumps(recipe)}"
    return f"{{folder = {json.dumps(str(folder))}, arguments = {json.dumps([*map(str, arguments)])}{text}}}\n"


class ServeTest(FolderTest):
    def start(self, ranks=None):
        process = subprocess.Popen(
            command_of(["serve"], ranks), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for pipe in (process.stdout, process.stderr, process.stdin):
            self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ask(self, process, *arguments, recipe=None):
        process.stdin.write(request(self.folder, *arguments, recipe=recipe))
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def test_commands_follow_one_another_whatever_becomes_of_them(self):
        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                process, recipe = self.start(ranks), toml(OSCILLATOR)
                name = f"a{ranks}.h5"
                run = ["run", "own.toml", "-o", name, "--progress", "none"]
                self.assertEqual(self.ask(process, *run, recipe=recipe)["code"], 0)
                again = self.ask(process, *run, recipe=recipe)
                self.assertEqual(again["code"], 2)
                self.assertRegex(again["messages"][-1]["message"], rf"{name} exists already")
                wrong = self.ask(process, "check", "own.toml", recipe=recipe.replace("steps", "stops"))
                self.assertEqual((wrong["code"], wrong["messages"][0]["level"]), (2, "error"))
                self.assertRegex(wrong["messages"][0]["message"], r"^own\.toml:\d+:\d+: unknown key `stops`")
                failing = toml(changed(OSCILLATOR, claims=[{"name": "no", "quantity": "closed.q.max", "bounds": [9.0, 10.0]}]))
                claim = self.ask(process, *run, "--overwrite", recipe=failing)
                self.assertEqual((claim["code"], claim["output"].count("FAIL")), (1, 1))
                self.assertEqual(self.ask(process, "serve")["code"], 2)
                self.assertEqual(self.ask(process, "list", "studies")["output"].count("trajectory"), 1)
                with h5py.File(self.folder / name) as file:
                    self.assertEqual(file.attrs["status"], "complete")
                process.stdin.close()
                self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_run_stops_on_a_signal_or_at_the_end_of_input_and_the_process_goes_on_after_the_signal(self):
        long = toml(changed(OSCILLATOR, time={"steps": 2000000000}, output={"every": 100000}))
        process = self.start()
        for name in ("a.h5", "b.h5"):
            process.stdin.write(request(self.folder, "run", "own.toml", "-o", name, "--progress", "none", recipe=long))
            process.stdin.flush()
            while not (self.folder / name).exists():
                time.sleep(0.01)
            if name == "a.h5":
                process.send_signal(signal.SIGUSR1)
                reply = json.loads(process.stdout.readline())
                self.assertEqual(reply["code"], 85)
                self.assertIn("SIGUSR1", reply["messages"][-1]["message"])
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        for name in "ab":
            self.assertEqual(len(list(self.folder.glob(f"{name}.checkpoint.*.h5"))), 1, name)

    def test_a_signal_before_a_request_stops_its_run_and_no_other(self):
        process = self.start()
        recipe = toml(OSCILLATOR)
        codes = []
        for number in range(4):
            if number == 1:
                process.send_signal(signal.SIGUSR1)
            words = ["run", "own.toml", "-o", f"{number}.h5", "--progress", "none"]
            process.stdin.write(request(self.folder, *words, recipe=recipe))
            process.stdin.flush()
            codes.append(json.loads(process.stdout.readline())["code"])
        self.assertEqual(codes, [0, 85, 0, 0])

    def test_what_is_no_request(self):
        process = self.start()
        for line in ("{", "[1]", '{arguments = []}', '{folder = "/"}', f'{{folder = "{self.folder}/none", arguments = ["list"]}}'):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["code"], 2, line)


if __name__ == "__main__":
    unittest.main()
