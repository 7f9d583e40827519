"""Drawing: shows a group trace as a space-time diagram and as a story with a proof, with the same names in both."""
