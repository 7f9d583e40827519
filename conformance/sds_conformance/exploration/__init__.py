"""Generated schedules: played in large numbers, judged, shrunk, described and drawn."""
