"""Trains, measures and exports Beckon's models. Imports go down only: embedding → export → evaluate → model → augment → data."""
