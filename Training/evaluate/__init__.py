"""Measurements through the built program: clips, degraded clips, long streams, thresholds."""
