"""Judging: checks, scenarios, the runner that plays scenarios, and verdicts.

This package knows no protocol. A protocol passes its checks, scenarios and views as `Rules`.
"""
