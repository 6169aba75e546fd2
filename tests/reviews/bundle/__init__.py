"""Exports: what a bundle holds, who asks for one, and how it is written."""
