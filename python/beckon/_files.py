"""Many files, some at a time."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, Callable

from . import _spotter

if TYPE_CHECKING:
    from ._spotter import FileWords, Spotter


def _show(done: int, count: int) -> None:
    print(f"\r{done} of {count} files", end="" if done < count else "\n", file=sys.stderr, flush=True)


def run(spotter: Spotter, paths: list[Any], threads: int | None, progress: bool | Callable[[int, int], object]) -> list[FileWords]:
    number = os.cpu_count() or 1 if threads is None else _spotter._integer("threads", threads)
    if not 1 <= number <= 1024:
        raise _spotter.CallError(f"from 1 to 1024 threads, not {threads}")
    report = _show if progress is True else progress or (lambda done, count: None)

    def find(path: Any) -> FileWords:
        try:
            return _spotter.FileWords(path, spotter.detect_file(path))
        except _spotter.Error as error:
            return _spotter.FileWords(path, [], error)

    # Python's lock is not held while the library works.
    with ThreadPoolExecutor(min(number, max(1, len(paths)))) as pool:
        futures = [pool.submit(find, path) for path in paths]
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                report(done, len(paths))
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
