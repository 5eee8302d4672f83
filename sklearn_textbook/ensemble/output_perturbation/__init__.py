"""Members that learn perturbed outputs, 输出表示扰动."""
