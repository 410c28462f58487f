"""Tests of the training package: module structure, and the whole recipe on a small dataset."""
