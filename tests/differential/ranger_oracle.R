# Weights of training rows in quantile regression forests by ranger, for
# test_ranger_quantiles.py:
#
#   Rscript ranger_oracle.R > ranger_quantiles.json
#
# All rows and columns are used, so that all trees are the same one; each draws one row
# of each leaf. The frequencies of the values among the draws estimate their weights.
library(ranger)
library(jsonlite)

set.seed(1)
n <- 120
x <- data.frame(a = round(rnorm(n), 3), b = round(runif(n), 3))
y <- seq_len(n)[order(order(x$a + 2 * x$b + rnorm(n) / 2))]  # 1 to n, once each
new <- data.frame(a = round(rnorm(12), 3), b = round(runif(12), 3))
trees <- 4000
fit <- ranger(
  y ~ a + b, data.frame(x, y = y), num.trees = trees, mtry = 2, replace = FALSE,
  sample.fraction = 1, min.node.size = 15, quantreg = TRUE, seed = 1
)
frequencies <- predict(
  fit, new, type = "quantiles",
  what = function(values) tabulate(values, n) / length(values)
)$predictions
cat(toJSON(list(
  version = as.character(packageVersion("ranger")), trees = trees,
  x = as.matrix(x), y = y, new = as.matrix(new),
  means = predict(fit, new)$predictions,
  frequencies = frequencies
), digits = 10))
