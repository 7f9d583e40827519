"""The implementation's side of the testee protocol, for any protocol: framings, and a server on stdin and stdout."""
