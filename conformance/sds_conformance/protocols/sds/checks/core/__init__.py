"""Checks of core SDS, without its repair extension SDS-R."""
