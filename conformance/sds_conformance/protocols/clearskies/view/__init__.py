"""Traces, read as the facts of one peer under test.

``facts`` has what a trace says: updates, requests, changes, links, states. ``knowledge`` is the model: what the peer
must know by when. Checks are functions of ``peer_view``, which derives each fact once. ``meetings`` has conflicts
and their outcomes, ``clocks`` how vector clocks grow, and ``replication`` the updates that are owed to other peers.
"""
