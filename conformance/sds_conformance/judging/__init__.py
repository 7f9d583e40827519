"""Judging: checks, scenarios, the runner that plays scenarios, and verdicts.

This package does not depend on a protocol. A protocol passes its checks, scenarios and views as `Rules`.
"""
