"""The conformance suite: requirement catalogue, scenarios, checks, verdicts, reports and the command line.

Where to start reading: ``registry`` (what a check and a scenario are), ``channel_view`` (how a trace becomes facts),
any module of ``checks``, then ``verdict`` and ``runner``.
"""
