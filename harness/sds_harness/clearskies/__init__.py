"""Drives implementations of the ClearSkies database extension."""
