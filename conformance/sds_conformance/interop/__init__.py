"""Tests whether implementations understand each other, in pairs and in mixed groups."""
