"""The implementation's side of the testee protocol, for every model: framings and servers."""
