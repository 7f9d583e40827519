"""A trace of SDS, read: the facts of a participant in a channel, and what the text demands given those."""
