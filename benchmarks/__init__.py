"""Measurements beside named peers and known results; nothing here gates the tests."""
