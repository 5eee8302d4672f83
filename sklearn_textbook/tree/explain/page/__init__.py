"""Interactive pages of trees: Python writes the data, JavaScript draws them."""
