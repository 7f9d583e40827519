"""How far an implementation holds: every dimension is asked for more and more, until something breaks."""
