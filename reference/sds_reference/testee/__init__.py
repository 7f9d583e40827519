"""The reference model as an implementation under test: the only folder of the model that does I/O."""
