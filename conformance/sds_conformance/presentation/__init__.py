"""Presentation: formats findings and transcripts for terminals, and helps to render HTML."""
