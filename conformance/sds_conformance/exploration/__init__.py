"""Plays and judges generated schedules in large numbers, and shrinks, describes and draws those with findings."""
