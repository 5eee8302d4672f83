# Elastic nets by R's glmnet, written down for tests/differential/test_glmnet.py:
#   Rscript --vanilla tests/differential/glmnet_oracle.R > tests/differential/glmnet.json
# on tables that come with R and its package MASS.
#
# glmnet divides columns by standard deviations with divisor n, penalises the products
# with these, and returns coefficients in the units of the columns: standardize=True of
# ours. For family="gaussian" it divides y by its standard deviation, too, before it
# applies lambda to the squares, so that its ridge part depends on the unit of y. The
# targets here have a standard deviation of 1 (divisor n), where both are the same.
# Penalty factors are divided by their mean, which is 1 here; weights by their sum.
suppressPackageStartupMessages({library(MASS); library(glmnet)})

numbers <- function(x, digits = 15) {
  text <- sprintf(sprintf("%%.%dg", digits), as.vector(x))
  paste0("[", paste(text, collapse = ", "), "]")
}
rows <- function(m) paste0("[", paste(apply(as.matrix(m), 1, numbers), collapse = ",\n"), "]")
object <- function(...) {
  fields <- c(...)
  paste0("{", paste0("\"", names(fields), "\": ", fields, collapse = ",\n"), "}")
}
unit <- function(y, w = rep(1, length(y)))
  y / sqrt(weighted.mean((y - weighted.mean(y, w))^2, w))
# For families that are objects, Newton steps end by this.
invisible(glmnet.control(epsnr = 1e-16, mxitnr = 1000))

describe <- function(name, family, X, y, l1_ratio, weights = rep(1, nrow(X)),
                     factors = rep(1, ncol(X)), standardize = TRUE, intercept = TRUE,
                     shown = family, lower = -Inf, offset = NULL) {
  X <- as.matrix(X)
  storage.mode(X) <- "double"
  options <- list(x = X, y = y, family = family, weights = weights, alpha = l1_ratio,
                  standardize = standardize, intercept = intercept,
                  penalty.factor = factors, lower.limits = lower, thresh = 1e-20,
                  maxit = 1e7, offset = offset)
  path <- do.call(glmnet, c(options, nlambda = 6, lambda.min.ratio = 0.01))
  lambda <- path$lambda[-1]
  fit <- do.call(glmnet, c(options, list(lambda = lambda)))
  found <- coef(fit)
  if (!is.list(found)) found <- list(found)
  coefficients <- paste0("[", paste(vapply(found, rows, ""), collapse = ",\n"), "]")
  codes <- if (is.factor(y)) as.integer(y) - 1 else y
  object(name = paste0("\"", name, "\""), family = paste0("\"", shown, "\""),
         X = rows(X), y = numbers(codes), l1_ratio = l1_ratio,
         weights = numbers(weights), factors = numbers(factors),
         standardize = tolower(standardize), intercept = tolower(intercept),
         positive = tolower(lower == 0),
         offset = if (is.null(offset)) "null" else if (is.matrix(offset)) rows(offset)
                  else numbers(offset),
         alphas = numbers(lambda), coefficients = coefficients,
         deviance_ratio = numbers(fit$dev.ratio))
}

air <- na.omit(airquality)
cases <- c(
  describe("mtcars", "gaussian", mtcars[, -1], unit(mtcars$mpg), 1),
  describe("swiss", "gaussian", swiss[, -1], unit(swiss$Fertility), 0.5),
  describe("Boston", "gaussian", Boston[, -14], unit(Boston$medv, rep(1:2, 253)), 0.3,
           weights = rep(1:2, 253)),
  describe("attitude", "gaussian", attitude[, -1], unit(attitude$rating), 0.8,
           factors = c(0, 2, 1, 1, 1, 1)),
  describe("stackloss", "gaussian", stackloss[, -4], unit(stackloss$stack.loss), 1,
           standardize = FALSE, lower = 0),
  describe("airquality", "poisson", air[, -1], air$Ozone, 0.5),
  describe("quine", "poisson", model.matrix(~ Eth + Sex + Age + Lrn, quine)[, -1],
           quine$Days, 1, weights = rep(1:2, 73)),
  describe("birthwt", "binomial", birthwt[, 2:9], factor(birthwt$low), 0.7),
  describe("Pima", "binomial", Pima.tr[, -8], Pima.tr$type, 1, standardize = FALSE),
  describe("iris", "multinomial", iris[, -5], iris$Species, 0.5),
  describe("crabs", "multinomial", crabs[, 4:8],
           interaction(crabs$sp, crabs$sex), 0.9),
  describe("trees", Gamma("log"), trees[, -3], trees$Volume, 0.5, shown = "gamma"),
  describe("Insurance, exposure", "poisson",
           model.matrix(~ District + unclass(Group) + unclass(Age), Insurance)[, -1],
           Insurance$Claims, 0.5, offset = log(Insurance$Holders)),
  describe("swiss, offset", "gaussian", swiss[, -(1:2)],
           unit(swiss$Fertility) + swiss$Agriculture / 20, 0.7,
           offset = swiss$Agriculture / 20),
  describe("birthwt, offset", "binomial", birthwt[, 3:9], factor(birthwt$low), 0.7,
           weights = rep(1:3, 63), offset = birthwt$age / 10 - 2),
  describe("iris, offset", "multinomial", iris[, 1:2], iris$Species, 0.5,
           offset = outer(iris$Petal.Length - 4, c(-0.4, 0, 0.3))),
  describe("trees, offset", Gamma("log"), trees[, -3], trees$Volume, 0.5,
           shown = "gamma", offset = log(trees$Girth))
)
cat("[", paste(cases, collapse = ",\n"), "]\n", sep = "")
