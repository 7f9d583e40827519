"""Golden vectors: inputs and legal outcomes as plain JSON, for implementers in any language.

Where to start reading: ``model`` defines a vector, and the interface to a protocol. ``documents`` joins the computed
vectors with those written in the files of the top-level folder ``vectors/``. ``generation`` writes and compares the
files, ``edits`` adds and replaces vectors, ``agreement`` compares written vectors with the reference model, ``lint``
checks the rules of the README, and ``running`` runs vectors on an implementation.

This package depends on no protocol: groups, shapes and their testers are passed in as ``model.Material``. The files of
all protocols are in one folder, a ``model.VectorSet``.
"""
