# Models of formulas by R: coefficients, fitted values, tests of terms of all types by
# anova and car's Anova, predictions of other rows. For tests/differential/test_formula.py:
#   Rscript --vanilla tests/differential/formula_oracle.R > tests/differential/formula_r.json
# on tables that come with R and its package MASS.
suppressPackageStartupMessages({
  library(MASS); library(car); library(jsonlite); library(splines)
})
options(contrasts = c("contr.treatment", "contr.treatment"))

tidy <- function(found) {
  found <- as.data.frame(found)
  list(terms = rownames(found), values = as.matrix(unname(found)))
}

describe <- function(name, formula, table, family = NULL, ours = NULL) {
  table <- table[all.vars(formula)]
  table <- table[complete.cases(table), ]
  first <- seq_len(floor(nrow(table) * 0.8))
  set.seed(1)
  table <- table[sample(nrow(table)), ]
  train <<- droplevels(table[first, ])  # car looks for it by name
  new <- table[-first, ]
  for (column in names(Filter(is.factor, train))) {
    new <- new[new[[column]] %in% levels(train[[column]]), ]
  }
  model <- if (is.null(family)) lm(formula, train) else {
    glm(formula, family, train, control = glm.control(epsilon = 1e-14, maxit = 100))
  }
  test <- if (is.null(family)) "F" else "LR"
  text <- if (is.null(ours)) paste(deparse(formula, 500), collapse = "") else ours
  plain <- function(column) {
    if (is.factor(column)) as.character(column) else as.numeric(column)
  }
  list(
    name = name, formula = text, family = if (is.null(family)) "lm" else family,
    levels = lapply(Filter(is.factor, train), levels),
    train = lapply(train, plain), new = lapply(new, plain),
    terms = attr(terms(model), "term.labels"),
    coef = unname(coef(model)), fitted = unname(fitted(model)),
    predicted = unname(suppressWarnings(predict(model, new, type = "response"))),
    log_likelihood = as.numeric(logLik(model)),
    type1 = tidy(suppressMessages(anova(model, test = if (test == "LR") "Chisq" else "F"))),
    type2 = tidy(if (test == "LR") Anova(model, type = 2, test.statistic = test) else
      Anova(model, type = 2)),
    type3 = tidy(if (test == "LR") Anova(model, type = 3, test.statistic = test) else
      Anova(model, type = 3)),
    wald2 = tidy(if (test == "LR") Anova(model, type = 2, test.statistic = "Wald") else
      Anova(model, type = 2)),
    wald3 = tidy(if (test == "LR") Anova(model, type = 3, test.statistic = "Wald") else
      Anova(model, type = 3))
  )
}

plain <- function(table) {
  for (column in names(Filter(is.factor, table))) {
    table[[column]] <- factor(as.character(table[[column]]))
  }
  table
}
cars <- plain(transform(mtcars, cyl = factor(cyl), gear = factor(gear)))
birth <- plain(transform(birthwt, race = factor(race), smoke = factor(smoke)))
co2 <- plain(as.data.frame(CO2)[c("uptake", "conc", "Type", "Treatment")])
chick <- plain(as.data.frame(ChickWeight)[c("weight", "Time", "Diet")])
absent <- plain(quine)

cases <- list(
  describe("mtcars", mpg ~ wt * cyl + hp, cars),
  describe("warpbreaks", breaks ~ wool * tension, plain(warpbreaks)),
  describe("ToothGrowth", len ~ supp * poly(dose, 2), ToothGrowth),
  describe("CO2", log(uptake) ~ Type * Treatment * log(conc), co2),
  describe("ChickWeight", sqrt(weight) ~ Diet:Time + I(Time^2), chick,
           ours = "sqrt(weight) ~ Diet:Time + I(Time**2)"),
  describe("iris", Sepal.Length ~ (Sepal.Width + Petal.Length + Species)^2, iris),
  describe("airquality", Ozone ~ bs(Temp, df = 5) + Wind * Solar.R, airquality),
  describe("swiss", Fertility ~ ns(Education, df = 3) + I(Agriculture / 10) + Catholic,
           swiss),
  describe("cars", dist ~ 0 + speed + I(speed^2), datasets::cars,
           ours = "dist ~ 0 + speed + I(speed**2)"),
  describe("cats", Hwt ~ Sex / Bwt, cats),
  describe("birthwt", low ~ age * smoke + lwt + race, birth, "binomial"),
  describe("quine", Days ~ Eth * Age + Sex, absent, "poisson"),
  describe("warpbreaks, counts", breaks ~ wool * tension, plain(warpbreaks), "poisson"),
  describe("infert", case ~ spontaneous * induced + ns(age, df = 2), infert, "binomial")
)
cat(toJSON(list(r = R.version.string, cases = cases), digits = 14, na = "null",
           auto_unbox = TRUE, matrix = "rowmajor"), "\n")
