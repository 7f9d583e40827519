"""What the harness knows of the ClearSkies database extension."""
