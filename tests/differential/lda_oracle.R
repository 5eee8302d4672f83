# Linear discriminant analysis by MASS, written down for tests/differential/test_mass.py:
#   Rscript --vanilla tests/differential/lda_oracle.R > tests/differential/mass_lda.json
# on tables that come with R: iris, and crabs and Pima.tr of MASS.
suppressPackageStartupMessages(library(MASS))

numbers <- function(x, digits = 10) {
  format <- sprintf("%%.%dg", digits)
  paste0("[", paste(sprintf(format, as.vector(x)), collapse = ", "), "]")
}
rows <- function(m, digits = 10) {
  lines <- apply(as.matrix(m), 1, numbers, digits = digits)
  paste0("[", paste(lines, collapse = ",\n"), "]")
}
words <- function(x) paste0("[", paste0("\"", x, "\"", collapse = ", "), "]")
object <- function(...) {
  fields <- c(...)
  paste0("{", paste0("\"", names(fields), "\": ", fields, collapse = ",\n"), "}")
}

# "moment" divides the scatter by n - K, "mle" by n.
fit <- function(X, y, method, prior) {
  model <- if (is.null(prior)) lda(X, y, method = method)
           else lda(X, y, method = method, prior = prior)
  answer <- predict(model, X)
  object(method = sprintf("\"%s\"", method),
         prior = numbers(model$prior),
         prior_given = if (is.null(prior)) "false" else "true",
         means = rows(model$means),
         scaling = rows(model$scaling),
         svd = numbers(model$svd),
         class = words(answer$class),
         posterior = rows(answer$posterior))
}

describe <- function(name, X, y, priors) {
  X <- as.matrix(X)
  fits <- c(fit(X, y, "moment", NULL), fit(X, y, "mle", NULL))
  if (!is.null(priors)) fits <- c(fits, fit(X, y, "mle", priors))
  object(name = sprintf("\"%s\"", name),
         X = rows(X, 15), y = words(y), levels = words(levels(y)),
         fits = paste0("[", paste(fits, collapse = ",\n"), "]"))
}

tables <- c(
  describe("iris", iris[, 1:4], iris$Species, c(0.2, 0.5, 0.3)),
  describe("crabs", crabs[, c("FL", "RW", "CL", "CW", "BD")],
           factor(paste0(crabs$sp, crabs$sex)), NULL),
  describe("Pima.tr", Pima.tr[, 1:7], Pima.tr$type, c(0.5, 0.5))
)
version <- sprintf("\"R %s.%s, MASS %s\"", R.version$major, R.version$minor,
                   packageVersion("MASS"))
cat(object(version = version,
           tables = paste0("[", paste(tables, collapse = ",\n"), "]")), "\n", sep = "")
