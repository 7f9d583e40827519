"""Golden vectors: inputs and legal outcomes as plain JSON, for implementers in any language.

Where to start reading: ``model`` says what a vector is, and what a protocol brings; ``generating`` writes the files of
the top-level folder ``vectors/``, ``lint`` holds them to the rules that its README promises, and ``running`` asks an
implementation. What is expected is stated by the text and by the positions; the reference model computes values and is
held to the vectors like any other implementation.

Nothing here knows a protocol: groups, shapes and who asks for them are handed in as ``model.Material``; the files of
all protocols stand in one folder, as a ``model.VectorSet``.
"""
