"""The rules of ``lint``: what reviewers ask for, and what must not be published. Nothing runs."""
