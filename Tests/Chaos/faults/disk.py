"""Disks that are full."""

import os

from ..schedule import fault


@fault("disk", 5, 60)
def full_disk(chaos, seconds, choice):
    """The disk of clips and taught words is full."""
    path = chaos.disk / "fill"
    try:
        with path.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        chaos.wait(seconds)
    finally:
        path.unlink(missing_ok=True)


@fault("disk", 5, 30)
def missing_folder(chaos, seconds, choice):
    """The folder of clips is gone for a while."""
    away = chaos.clips.folder.with_suffix(".away")
    os.rename(chaos.clips.folder, away)
    try:
        chaos.wait(seconds)
    finally:
        os.rename(away, chaos.clips.folder)
