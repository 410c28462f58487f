"""All faults. Importing this fills the table."""

from . import actions, broker, control, device, disk, limits, network, process, readers, words

__all__ = ["actions", "broker", "control", "device", "disk", "limits", "network", "process", "readers", "words"]
