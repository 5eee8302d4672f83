"""Output perturbation, 输出表示扰动: members trained on perturbed targets."""
