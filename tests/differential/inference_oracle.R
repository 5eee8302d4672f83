# Robust covariances, tests of terms, contrasts and marginal means by R's sandwich, car
# and emmeans, written down for tests/differential/test_inference.py:
#   Rscript --vanilla tests/differential/inference_oracle.R > tests/differential/inference_r.json
# on tables that come with R and its package MASS.
suppressPackageStartupMessages({
  library(MASS); library(sandwich); library(car); library(emmeans); library(jsonlite)
})

tidy <- function(found) {
  found <- as.data.frame(found)
  list(terms = rownames(found), values = as.matrix(unname(found)))
}

describe <- function(name, model, table, target, columns, group = NULL, factor = NULL,
                     smaller = NULL, exposure = NULL) {
  kind <- if (inherits(model, "glm")) model$family$family else "lm"
  known <- kind %in% c("binomial", "poisson")
  found <- list(
    name = name, kind = kind, target = target, columns = columns, exposure = exposure,
    factors = names(Filter(is.factor, table[columns])),
    table = lapply(table[c(columns, target, group, exposure)], function(column) {
      if (is.factor(column)) as.character(column) else as.numeric(column)
    }),
    levels = lapply(Filter(is.factor, table[columns]), levels),
    coef = unname(coef(model)), vcov = unname(vcov(model)),
    HC0 = unname(vcovHC(model, "HC0")), HC1 = unname(vcovHC(model, "HC1")),
    HC2 = unname(vcovHC(model, "HC2")), HC3 = unname(vcovHC(model, "HC3"))
  )
  if (!is.null(group)) {
    found$group <- group
    found$cluster <- unname(vcovCL(model, table[[group]], type = "HC1"))
  }
  test <- if (kind == "lm") "F" else if (known) "Chisq" else "F"
  one <- suppressMessages(anova(model, test = test))
  found$type1 <- tidy(one)
  two <- if (kind == "lm") Anova(model, type = 2) else {
    Anova(model, type = 2, test.statistic = if (known) "LR" else "F",
          error.estimate = "pearson")
  }
  found$type2 <- tidy(two)
  wald <- if (kind == "lm") Anova(model, type = 2, vcov. = vcovHC(model, "HC3")) else {
    Anova(model, type = 2, test.statistic = "Wald", vcov. = vcovHC(model, "HC3"))
  }
  found$wald <- tidy(wald)
  if (!is.null(smaller)) {
    found$smaller <- all.vars(formula(smaller)[[3]])
    found$compared <- tidy(anova(smaller, model, test = test))
    found$criteria <- matrix(c(AIC(smaller), AIC(model), BIC(smaller), BIC(model)), 2)
  }
  if (!is.null(factor)) {
    means <- emmeans(model, factor)
    found$factor <- factor
    found$means <- as.matrix(unname(as.data.frame(means)[c("emmean", "SE")]))
    found$pairs <- as.matrix(unname(
      as.data.frame(pairs(means, reverse = TRUE))[c("estimate", "SE", "p.value")]
    ))
  }
  found
}

# The default stops a step early.
glm <- function(...) {
  call <- match.call()
  call[[1]] <- quote(stats::glm)
  call$control <- glm.control(epsilon = 1e-14, maxit = 100)
  eval(call, parent.frame())
}

air <- na.omit(airquality)
cars <- transform(mtcars, cyl = factor(cyl), gear = factor(gear))
birth <- transform(birthwt, race = factor(race), smoke = factor(smoke))
sick <- transform(infert, education = factor(as.character(education)))
insured <- transform(Insurance, District = factor(as.character(District)),
                     Group = factor(as.character(Group)),
                     Age = factor(as.character(Age)))
bact <- transform(bacteria, y = as.numeric(y == "y"))
pima <- transform(Pima.tr, type = as.numeric(type == "Yes"))
breaks <- transform(warpbreaks, tension = factor(as.character(tension)))
absent <- transform(quine, Age = factor(as.character(Age)))

cases <- list(
  describe("mtcars", lm(mpg ~ wt + hp + cyl, cars), cars, "mpg",
           c("wt", "hp", "cyl"), "gear", "cyl", lm(mpg ~ wt, cars)),
  describe("warpbreaks", lm(breaks ~ wool + tension, breaks), breaks, "breaks",
           c("wool", "tension"), NULL, "tension", lm(breaks ~ wool, breaks)),
  describe("ToothGrowth", lm(len ~ supp + dose, ToothGrowth), ToothGrowth, "len",
           c("supp", "dose"), "dose", "supp", lm(len ~ supp, ToothGrowth)),
  describe("PlantGrowth", lm(weight ~ group, PlantGrowth), PlantGrowth, "weight",
           "group", NULL, "group"),
  describe("airquality", lm(Ozone ~ Solar.R + Wind + Temp, air), air, "Ozone",
           c("Solar.R", "Wind", "Temp"), "Month", NULL, lm(Ozone ~ Wind, air)),
  describe("iris", lm(Sepal.Length ~ Sepal.Width + Petal.Length + Species, iris), iris,
           "Sepal.Length", c("Sepal.Width", "Petal.Length", "Species"), "Species",
           "Species", lm(Sepal.Length ~ Sepal.Width, iris)),
  describe("chickwts", lm(weight ~ feed, chickwts), chickwts, "weight", "feed", NULL,
           "feed"),
  describe("InsectSprays", lm(count ~ spray, InsectSprays), InsectSprays, "count",
           "spray", NULL, "spray"),
  describe("cats", lm(Hwt ~ Sex + Bwt, cats), cats, "Hwt", c("Sex", "Bwt"), NULL, "Sex",
           lm(Hwt ~ Bwt, cats)),
  describe("swiss", lm(Fertility ~ Agriculture + Examination + Education, swiss), swiss,
           "Fertility", c("Agriculture", "Examination", "Education"), NULL, NULL,
           lm(Fertility ~ Education, swiss)),
  describe("birthwt", glm(low ~ age + lwt + race + smoke, binomial, birth), birth, "low",
           c("age", "lwt", "race", "smoke"), "ht", "race",
           glm(low ~ age + lwt, binomial, birth)),
  describe("infert", glm(case ~ age + education + spontaneous, binomial, sick), sick,
           "case", c("age", "education", "spontaneous"), "stratum", "education",
           glm(case ~ spontaneous, binomial, sick)),
  describe("Pima.tr", glm(type ~ glu + bmi + ped, binomial, pima), pima, "type",
           c("glu", "bmi", "ped"), "npreg", NULL, glm(type ~ glu, binomial, pima)),
  describe("bacteria", glm(y ~ trt + week, binomial, bact), bact, "y",
           c("trt", "week"), "ID", "trt", glm(y ~ week, binomial, bact)),
  describe("quine", glm(Days ~ Eth + Sex + Age + Lrn, poisson, absent), absent, "Days",
           c("Eth", "Sex", "Age", "Lrn"), "Age", "Age",
           glm(Days ~ Eth + Sex, poisson, absent)),
  describe("warpbreaks, counts", glm(breaks ~ wool + tension, poisson, breaks), breaks,
           "breaks", c("wool", "tension"), NULL, "tension",
           glm(breaks ~ wool, poisson, breaks)),
  describe("InsectSprays, counts", glm(count ~ spray, poisson, InsectSprays),
           InsectSprays, "count", "spray", NULL, "spray"),
  describe("Insurance", glm(Claims ~ District + Group + Age + offset(log(Holders)),
                            poisson, insured), insured, "Claims",
           c("District", "Group", "Age"), NULL, NULL, NULL, "Holders"),
  describe("airquality, gamma", glm(Ozone ~ Solar.R + Wind + Temp, Gamma("log"), air),
           air, "Ozone", c("Solar.R", "Wind", "Temp"), "Month"),
  describe("quine, gaussian log", glm(Days + 1 ~ Eth + Age, gaussian("log"), absent),
           transform(absent, Days = Days + 1), "Days", c("Eth", "Age"), NULL, "Age")
)
cat(toJSON(list(r = R.version.string,
                packages = lapply(c(sandwich = "sandwich", car = "car",
                                    emmeans = "emmeans", MASS = "MASS"),
                                  function(name) as.character(packageVersion(name))),
                cases = cases), digits = 14, na = "null", auto_unbox = TRUE,
           matrix = "rowmajor"), "\n")
