"""Presentation: formats findings for terminals and as JSON."""
