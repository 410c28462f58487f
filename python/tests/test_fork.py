"""Processes that a program forks, by itself or by multiprocessing, use what it made."""

import array
import multiprocessing
import os
import signal
import threading
import time
import unittest

import beckon
from test_beckon import LEFT, recording

#: A child that takes longer hangs.
LIMIT = 60


def wait(child):
    """The exit status of a child; a child that hangs is ended."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def fork(body):
    """Runs `body` in a child, whose exit status is 0 if it returns true."""
    child = os.fork()
    if not child:
        try:
            os._exit(0 if body() else 1)
        finally:
            os._exit(2)
    return child


class Forks(unittest.TestCase):
    def setUp(self):
        self.spotter = beckon.Spotter()
        self.expected = self.spotter.detect_file(LEFT, threads=2)

    def find(self):
        """Finds the words in all ways."""
        samples, rate = recording(LEFT)
        ways = (
            self.spotter.detect_file(LEFT), self.spotter.detect_file(LEFT, threads=2), self.spotter.detect(samples, rate),
            beckon.Spotter().detect_file(LEFT),
        )  # fmt: skip
        return all(found == self.expected for found in ways)

    def test_a_child_finds_words_after_its_parent_did(self):
        child = fork(self.find)
        self.assertEqual(wait(child), 0)
        self.assertTrue(self.find())

    def test_a_pool_of_processes(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(self.spotter_find, [str(LEFT)] * 6).get(LIMIT)
        self.assertEqual(found, [self.expected] * 6)

    @staticmethod
    def spotter_find(path):
        return beckon.Spotter().detect_file(path, threads=2)

    def test_children_of_a_program_whose_other_threads_are_inside_the_library(self):
        stopped = threading.Event()
        stream = self.spotter.stream(16_000)

        def work():
            while not stopped.is_set():
                self.spotter.detect_file(LEFT, threads=2)
                beckon.Spotter().detect(*recording(LEFT))
                stream.push(memoryview(bytearray(32_000)).cast("h"))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                child = fork(lambda: self.find() and stream.push(memoryview(bytearray(320)).cast("h")) == [])
                self.assertEqual(wait(child), 0)
        finally:
            stopped.set()
            for thread in threads:
                thread.join()

    def test_a_stream_goes_on_in_both_processes(self):
        samples, rate = recording(LEFT)
        for begun in (0, 20_000, 35_000, 50_000):
            stream = self.spotter.stream(rate)
            found = stream.push(samples[:begun])

            def go_on(samples=samples[begun:]):
                words = []
                for start in range(0, len(samples), 960):
                    words += stream.push(samples[start : start + 960])
                    time.sleep(0.001)
                return words + stream.finish()

            quiet = array.array("h", bytes(2 * (len(samples) - begun)))
            # The child hears silence at the same time: what it hears is not heard here.
            child = fork(lambda: go_on(quiet) is not None)
            self.assertEqual(found + go_on(), self.expected, begun)
            self.assertEqual(wait(child), 0)
        stream = self.spotter.stream(rate)
        found = stream.push(samples[:30_000])
        child = fork(lambda: found + stream.push(samples[30_000:]) + stream.finish() == self.expected)
        self.assertEqual(wait(child), 0)


if __name__ == "__main__":
    unittest.main()
