# Logistic regressions by R's glm and nnet::multinom, written down for
# tests/differential/test_glm_multinom.py:
#   Rscript --vanilla tests/differential/logistic_oracle.R > tests/differential/logistic_r.json
# on tables that come with R and its package MASS.
suppressPackageStartupMessages({library(MASS); library(nnet)})

numbers <- function(x, digits = 12) {
  text <- sprintf(sprintf("%%.%dg", digits), as.vector(x))
  text[is.na(x)] <- "null"
  paste0("[", paste(text, collapse = ", "), "]")
}
rows <- function(m, digits = 12)
  paste0("[", paste(apply(as.matrix(m), 1, numbers, digits = digits),
                    collapse = ",\n"), "]")
words <- function(x) paste0("[", paste0("\"", x, "\"", collapse = ", "), "]")
object <- function(...) {
  fields <- c(...)
  paste0("{", paste0("\"", names(fields), "\": ", fields, collapse = ",\n"), "}")
}

# Nominal columns are written as words, numeric ones as numbers.
columns <- function(table) {
  each <- vapply(table, function(column) {
    if (is.factor(column)) words(column) else numbers(column, 15)
  }, "")
  object(each)
}

describe <- function(name, kind, formula, table, weights, response, found) {
  X <- table[all.vars(formula)[-1]]
  object(name = sprintf("\"%s\"", name), kind = sprintf("\"%s\"", kind),
         X = columns(X), y = words(table[[response]]),
         weight = if (is.null(weights)) "null" else numbers(weights, 15), found)
}

binary <- function(name, formula, table, weights = NULL) {
  table$.weight <- if (is.null(weights)) rep(1, nrow(table)) else weights
  # Weights are counts of rows here: glm says so of whole numbers only. A smaller
  # epsilon would make it take dependent columns for independent ones, so it is
  # started again from where it stopped.
  model <- suppressWarnings(glm(formula, binomial, table, weights = .weight))
  for (turn in 1:3) {
    table$.start <- model$linear.predictors
    model <- suppressWarnings(
      glm(formula, binomial, table, weights = .weight, etastart = .start))
  }
  given <- summary(model)$coefficients
  errors <- setNames(rep(NA, length(coef(model))), names(coef(model)))
  errors[rownames(given)] <- given[, 2]
  describe(name, "binary", formula, table, weights, all.vars(formula)[1], c(
    coef = rows(t(coef(model))), errors = rows(t(errors)),
    rank = as.character(model$rank), deviance = sprintf("%.12g", model$deviance),
    null_deviance = sprintf("%.12g", model$null.deviance),
    fitted = rows(cbind(1 - fitted(model), fitted(model)))))
}

several <- function(name, formula, table, weights = NULL) {
  response <- all.vars(formula)[1]
  labels <- sort(levels(table[[response]]))
  # The first level is nnet's reference: the last class by name, as ours.
  last <- labels[length(labels)]
  table[[response]] <- factor(table[[response]], c(last, labels[-length(labels)]))
  table$.weight <- if (is.null(weights)) rep(1, nrow(table)) else weights
  model <- multinom(formula, table, weights = .weight, Hess = TRUE, trace = FALSE,
                    reltol = 1e-16, abstol = 1e-16, maxit = 10000)
  null <- multinom(update(formula, . ~ 1), table, weights = .weight, trace = FALSE,
                   reltol = 1e-16, maxit = 1000)
  probabilities <- fitted(model)[, labels]
  describe(name, "several", formula, table, weights, response, c(
    coef = rows(coef(model)), errors = rows(summary(model)$standard.errors),
    rank = as.character(ncol(coef(model))),
    deviance = sprintf("%.12g", deviance(model)),
    null_deviance = sprintf("%.12g", deviance(null)), fitted = rows(probabilities)))
}

birthwt$race <- factor(birthwt$race, labels = c("white", "black", "other"))
birthwt$low <- factor(birthwt$low)
mtcars$am <- factor(mtcars$am)
mtcars$double <- 2 * mtcars$wt - mtcars$hp / 10
mtcars$one <- 1
flowers <- droplevels(iris[iris$Species != "setosa", ])
titanic <- as.data.frame(Titanic)
titanic <- titanic[titanic$Freq > 0, ]
passengers <- titanic$Freq
iris$third <- factor(seq_len(nrow(iris)) %% 3)
tables <- c(
  binary("Pima.tr", type ~ npreg + glu + bp + skin + bmi + ped + age, Pima.tr),
  binary("birthwt", low ~ age + lwt + race + smoke + ptl + ht + ui, birthwt),
  binary("mtcars, nearly separable", am ~ wt + hp, mtcars),
  binary("mtcars, dependent columns", am ~ wt + hp + double + one, mtcars),
  binary("iris, nearly separable", Species ~ Sepal.Length + Sepal.Width +
         Petal.Length + Petal.Width, flowers),
  binary("Titanic, weighted", Survived ~ Class + Sex + Age, titanic, passengers),
  several("housing, weighted", Sat ~ Infl + Type + Cont,
          transform(as.data.frame(lapply(housing[1:4], as.character),
                                  stringsAsFactors = TRUE)), housing$Freq),
  several("iris", third ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width,
          iris),
  several("birthwt, race", race ~ age + lwt + smoke + bwt,
          transform(birthwt, bwt = bwt / 1000)))
cat("{\"r\": \"", R.version.string, "\",\n\"nnet\": \"",
    as.character(packageVersion("nnet")), "\",\n\"tables\": [\n",
    paste(tables, collapse = ",\n"), "]}\n", sep = "")
