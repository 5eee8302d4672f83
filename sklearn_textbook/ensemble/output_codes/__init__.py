"""Output codes, 纠错输出码: multiclass problems reduced to binary problems."""
