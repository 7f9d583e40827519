"""Traces, read as the facts of one peer under test.

``facts`` says what a message is to a database, ``links`` what went over each link, ``changes`` what the application
did, ``quiet`` when a peer had said all it had to say, ``authority`` what may and what must be refused, ``shown`` what
it has shown of its records, ``knowledge`` what it must know by when; ``peer_view`` puts them together, each derived
once. ``meetings`` says what met there, ``outcomes`` what came of conflicts, ``clocks`` how its clocks grow, and
``spreading`` what it owes to whom.
"""
