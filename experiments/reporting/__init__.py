"""The parts of a page: text, tables and figures; they know no experiment."""
