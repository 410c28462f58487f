"""All faults. Importing this fills the table."""

from . import actions, control, device, disk, limits, process, readers, words

__all__ = ["actions", "control", "device", "disk", "limits", "process", "readers", "words"]
