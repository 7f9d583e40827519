"""Generated schedules: played in great numbers, judged, shrunk, told and drawn."""
