"""The executable model of the ClearSkies database extension."""
