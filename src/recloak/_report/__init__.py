"""Pages that show results: one self-contained HTML file each, with charts."""
