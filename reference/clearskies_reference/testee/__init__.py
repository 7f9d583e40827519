"""The model behind the testee protocol: the one folder of the model that does I/O of its own."""
