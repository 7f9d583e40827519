"""Traces, read as the facts of one peer under test.

``facts`` has the contents of a trace: updates, requests, changes, links, states. ``knowledge`` models which versions
the peer must have at each step. Checks are functions of ``peer_view``, which derives each fact once. ``meetings`` has
conflicts and their outcomes, ``clocks`` how vector clocks grow, and ``replication`` the updates that the peer must send
to others.
"""
