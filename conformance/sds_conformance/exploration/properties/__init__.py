"""Global properties of schedules with many participants."""
