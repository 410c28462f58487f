"""Limits of the system that the service runs into."""

import os
import resource

from ..schedule import fault


def limited(chaos, what, soft, seconds):
    before = chaos.service.limit(what, soft)
    try:
        chaos.wait(seconds)
    finally:
        chaos.service.unlimit(what, before)


@fault("limits", 3, 30)
def no_descriptors(chaos, seconds, choice):
    """No more descriptors than the service has open, or a few more."""
    count = len(os.listdir(f"/proc/{chaos.service.pid}/fd"))
    limited(chaos, resource.RLIMIT_NOFILE, count + choice.randint(0, 6), seconds)


@fault("limits", 3, 30)
def little_memory(chaos, seconds, choice):
    """Little more address space than the service uses."""
    with open(f"/proc/{chaos.service.pid}/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    limited(chaos, resource.RLIMIT_AS, size + choice.randint(8, 64) * 1_000_000, seconds)


@fault("limits", 3, 30)
def no_file_size(chaos, seconds, choice):
    """No file may grow: a write gives EFBIG."""
    limited(chaos, resource.RLIMIT_FSIZE, 0, seconds)


@fault("limits", 3, 20)
def no_locked_memory(chaos, seconds, choice):
    """No memory may be locked."""
    limited(chaos, resource.RLIMIT_MEMLOCK, 0, seconds)
