"""Trees as a page for a browser: Python makes its data, JavaScript shows it."""
