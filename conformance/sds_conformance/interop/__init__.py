"""Interop: several implementations together, who understands whom, and what happens in one group."""
