"""Transcripts: whole conversations with implementations, as JSON lines that are written while the conversation runs.

Every line has ``n``, its number, and ``at``, the wall time. The first line has ``"transcript": 1``. A conversation is
one process. All its lines have the number of its first line as ``conversation``, and one of these fields:

- ``begins``: the command, the framing, the environment variables, and the process ID;
- ``part``: a schedule begins here: its name, environment, revision, dialect and start time;
- ``vector``: a golden vector begins here; the parts and the requests to a codec that follow belong to it;
- ``participant``: the name that findings use for the participant with a ``handle``;
- ``direction``: ``>`` for a request, ``<`` for a reply; ``what`` is the command or the answer;
- ``fault``: what broke, the last lines of stderr, and the bytes received instead of a reply;
- ``ends``: how the conversation ended, with the last lines of stderr.

A message is in ``json``. If it was sent as JSON, this is the unchanged line, with its spaces and the order of its keys;
only characters that a terminal or a CI would execute are escaped. If it was sent in protobuf, this is the ProtoJSON of
the message, and ``base64`` has the bytes. Bytes that are not a message have only ``base64``. For a message that is too
large for a line, ``bytes`` is the length, ``head`` has the small fields, and ``base64`` has the first bytes.

Findings are at the end: ``finding`` names the ``n`` of the part and the step in it, ``judged`` the runs in which a
requirement was judged.
"""
