"""Output codes, 纠错输出码: several classes as many questions of two answers."""
