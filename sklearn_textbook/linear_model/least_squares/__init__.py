"""Linear regression by least squares, 线性回归."""
