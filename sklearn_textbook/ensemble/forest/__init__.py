"""Random forests and extremely randomised trees, 随机森林."""
