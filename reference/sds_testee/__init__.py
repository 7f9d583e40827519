"""The implementation's end of the testee protocol, for whatever protocol: framings, a server on stdin and stdout."""
