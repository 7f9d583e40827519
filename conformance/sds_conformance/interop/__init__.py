"""Interop: several implementations together, in pairs and in mixed groups."""
