"""Echo, a protocol of one requirement: what comes back is what was said."""
