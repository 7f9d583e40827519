"""The testee protocol, answered by the model over stdin and stdout or gRPC."""
