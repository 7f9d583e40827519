"""Transcripts: whole conversations with implementations, as JSON lines that are written while they are held.

Every line has ``n``, its number, and ``at``, the wall time. The first one says ``"transcript": 1``. The lines of one
conversation, which is one process, have the number of its first line as ``conversation``, and one of these:

- ``begins``: what was started, in which framing, with which environment variables, and its process number;
- ``part``: a schedule is played from here on, by name, with its environment, revision, dialect and start of time;
- ``vector``: a golden vector is asked from here on, in the codec or in parts that follow;
- ``participant``: what the one is called in findings who was given a ``handle``;
- ``direction``, ``>`` for a request and ``<`` for a reply, with ``what`` it is;
- ``fault``: what broke, with the last lines of stderr, and what came instead of a reply;
- ``ends``: how it ended, with the last lines of stderr.

A message stands in ``json``: the very line that was sent or received if that was JSON, with its own spaces and order
(characters that a terminal or a CI would obey are escaped), or else its ProtoJSON, with the bytes in ``base64``. Bytes
that are no message have only ``base64``. Of a message that is too large for a line, ``bytes`` is the length, ``head``
are the small fields, and ``base64`` is the beginning.

Findings stand at the end: ``finding`` names the ``n`` of the part and the step in it, ``judged`` the runs in which a
requirement was judged.
"""
