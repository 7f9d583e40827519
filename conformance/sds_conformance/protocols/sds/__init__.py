"""The protocol SDS: its rules, checks, scenarios, schedules, positions and golden vectors."""
