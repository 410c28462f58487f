"""The examples that need no other package, as a user runs them."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from test_beckon import LEFT

EXAMPLE = Path(__file__).parent.parent.parent / "Examples/python/listen_async.py"


class Examples(unittest.TestCase):
    def run_example(self, *arguments):
        return subprocess.run([sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, timeout=120, env={**os.environ})

    def test_words_of_a_program_that_records(self):
        heard = self.run_example("48000", "tail", "--bytes=+45", str(LEFT))
        self.assertEqual((heard.stderr, heard.returncode), ("", 0))
        self.assertRegex(heard.stdout, r"^ +0\.7\d s  left     0\.9\d\n$")

    def test_without_operands(self):
        said = self.run_example()
        self.assertEqual((said.returncode, said.stderr.count("\n")), (1, 1))


if __name__ == "__main__":
    unittest.main()
