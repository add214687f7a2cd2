"""The technical report: its text is Markdown, and its numbers come from lines that are stored."""
