"""Golden vectors: inputs and legal outcomes as plain JSON, for implementers in any language.

Where to start reading: ``model`` defines a vector, and what a protocol brings; ``documents`` joins the vectors that a
formula gives with those written in the files of the top-level folder ``vectors/``. ``generation`` writes and
compares the files, ``edits`` adds and replaces vectors, ``agreement`` asks the reference model about written vectors,
``lint`` checks the rules of the README, and ``running`` asks an implementation.

Nothing here knows a protocol: groups, shapes and who asks for them are handed in as ``model.Material``; the files of
all protocols stand in one folder, as a ``model.VectorSet``.
"""
