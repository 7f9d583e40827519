"""The model behind the testee protocol: the only folder of the model that does I/O."""
