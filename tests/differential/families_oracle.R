# Negative binomial regressions of R's MASS, measures of influence of stats, variance
# inflation of car, bias-reduced logistic regressions of brglm2 and ordered ones of MASS,
# written down for tests/differential/test_families.py:
#   Rscript --vanilla tests/differential/families_oracle.R > tests/differential/families_r.json
# on tables that come with R and its package MASS, and on random ones.
suppressPackageStartupMessages({
  library(MASS); library(car); library(jsonlite); library(brglm2)
})

write_table <- function(table) {
  list(
    table = lapply(table, function(column) {
      if (is.factor(column)) as.character(column) else as.numeric(column)
    }),
    levels = lapply(Filter(is.factor, table), levels)
  )
}

# ------------------------------------------------------------- negative binomial
count <- function(name, table, target, columns, weights = NULL, exposure = NULL,
                  link = "log", smaller = NULL, theta = NULL) {
  used <- table[c(target, columns, weights, exposure)]
  used$y <- used[[target]]
  used$w <- if (is.null(weights)) rep(1, nrow(used)) else used[[weights]]
  used$o <- if (is.null(exposure)) rep(0, nrow(used)) else log(used[[exposure]])
  control <- glm.control(epsilon = 1e-13, maxit = 500)
  fit <- function(columns) {
    formula <- as.formula(paste("y ~", paste(columns, collapse = " + "), "+ offset(o)"))
    if (!is.null(theta)) {
      family <- eval(bquote(negative.binomial(.(theta), link = .(link))))
      return(glm(formula, family, used, weights = w, control = control))
    }
    eval(bquote(glm.nb(.(formula), used, weights = w, control = control,
                       link = .(as.name(link)))))
  }
  model <- fit(columns)
  outline <- summary(model, dispersion = 1)
  found <- c(write_table(table[unique(c(target, columns, weights, exposure))]), list(
    name = name, target = target, columns = columns, weights = weights,
    exposure = exposure, link = link, given = theta,
    coef = unname(coef(model)), errors = unname(coef(outline)[, 2]),
    deviance = deviance(model), null_deviance = model$null.deviance,
    df = c(model$df.residual, model$df.null)
  ))
  if (is.null(theta)) {
    # That of the model is the error before the last step of theta.
    exact <- theta.ml(used$y, fitted(model), sum(used$w), used$w, 100, 1e-10)
    found$theta <- as.numeric(exact)
    found$theta_error <- attr(exact, "SE")
    found$log_likelihood <- model$twologlik / 2
    found$aic <- AIC(model)
    found$type1 <- as.matrix(unname(suppressWarnings(anova(model))[, 1:4]))
    if (!is.null(smaller)) {
      found$smaller <- smaller
      compared <- anova(fit(smaller), model)
      found$compared <- c(compared[2, "LR stat."], compared[2, "Pr(Chi)"])
    }
  }
  found
}

set.seed(1)
made <- data.frame(a = rnorm(200), b = runif(200), size = rpois(200, 3) + 1)
made$y <- rnbinom(200, mu = made$size * exp(0.4 * made$a - made$b), size = 1.7)
made$copies <- sample(1:3, 200, TRUE)
near <- data.frame(x = rnorm(300))
near$y <- rnbinom(300, mu = exp(1 + 0.3 * near$x), size = 12)
absent <- transform(quine, Age = factor(as.character(Age)))
fits <- epil[c("y", "trt", "base", "age", "V4")]
fits$trt <- factor(as.character(fits$trt))
breaks <- transform(warpbreaks, tension = factor(as.character(tension)))
counts <- list(
  count("quine", absent, "Days", c("Eth", "Sex", "Age", "Lrn"),
        smaller = c("Eth", "Sex", "Age")),
  count("epil", fits, "y", c("trt", "base", "age", "V4"), smaller = c("trt", "base")),
  count("warpbreaks", breaks, "breaks", c("wool", "tension"), smaller = "tension"),
  count("insurance", transform(Insurance, District = factor(as.character(District)),
                               Group = factor(as.character(Group)),
                               Age = factor(as.character(Age))),
        "Claims", c("District", "Group"), exposure = "Holders", smaller = "Group"),
  count("made", made, "y", c("a", "b"), weights = "copies", exposure = "size",
        smaller = "a"),
  count("near", near, "y", "x"),
  count("ships", subset(ships, service > 0)[c("incidents", "year", "period", "service")],
        "incidents", c("year", "period"), exposure = "service"),
  count("quine sqrt", absent, "Days", c("Eth", "Sex", "Age"), link = "sqrt"),
  count("warpbreaks identity", breaks, "breaks", c("wool", "tension"), link = "identity"),
  count("quine given", absent, "Days", c("Eth", "Sex", "Age", "Lrn"), theta = 2.5)
)

# --------------------------------------------------------- influence and inflation
sway <- function(name, model, table, target, columns, weights = NULL, offset = NULL) {
  found <- influence.measures(model)
  sizes <- ncol(found$infmat) - 4
  inflation <- if (length(columns) > 1) as.matrix(vif(model)) else NULL
  if (!is.null(inflation) && ncol(inflation) == 1) {
    inflation <- cbind(inflation, 1, sqrt(inflation))
  }
  c(write_table(table[c(target, columns, weights, offset)]), list(
    name = name, target = target, columns = columns, weights = weights, offset = offset,
    family = if (inherits(model, "glm")) model$family$family else "lm",
    link = if (inherits(model, "glm")) model$family$link else "identity",
    hat = unname(hatvalues(model)), rstandard = unname(rstandard(model)),
    rstudent = unname(rstudent(model)), cooks = unname(cooks.distance(model)),
    dffits = unname(found$infmat[, sizes + 1]),
    covratio = unname(found$infmat[, sizes + 2]),
    dfbetas = unname(dfbetas(model)), inflation = unname(inflation)
  ))
}

exact <- glm.control(epsilon = 1e-14, maxit = 100)
cars <- transform(mtcars, cyl = factor(cyl), gear = factor(gear))
birth <- transform(birthwt, race = factor(race), smoke = factor(smoke))
air <- na.omit(airquality)
held <- transform(subset(Insurance, Holders > 20),
                  District = factor(as.character(District)),
                  Group = factor(as.character(Group)), log_holders = log(Holders))
sways <- list(
  sway("cars", lm(mpg ~ wt + hp + cyl + gear, cars), cars, "mpg",
       c("wt", "hp", "cyl", "gear")),
  sway("cars weighted", lm(mpg ~ wt + hp + cyl, cars, weights = qsec), cars, "mpg",
       c("wt", "hp", "cyl"), weights = "qsec"),
  sway("air", lm(Ozone ~ Solar.R + Wind + Temp, air), air, "Ozone",
       c("Solar.R", "Wind", "Temp")),
  sway("birth", glm(low ~ age + lwt + race + smoke, binomial, birth, control = exact),
       birth, "low", c("age", "lwt", "race", "smoke")),
  sway("pima", glm(type ~ glu + bmi + ped, binomial,
                   transform(Pima.tr, type = as.numeric(type == "Yes")),
                   control = exact),
       transform(Pima.tr, type = as.numeric(type == "Yes")), "type",
       c("glu", "bmi", "ped")),
  sway("breaks", glm(breaks ~ wool + tension, poisson, breaks, control = exact), breaks,
       "breaks", c("wool", "tension")),
  sway("absent", glm(Days ~ Eth + Sex + Age + Lrn, quasipoisson, absent,
                     control = exact),
       absent, "Days", c("Eth", "Sex", "Age", "Lrn")),
  sway("air gamma", glm(Ozone ~ Solar.R + Wind + Temp, Gamma("log"), air,
                        control = exact), air, "Ozone", c("Solar.R", "Wind", "Temp")),
  sway("insurance", glm(Claims ~ District + Group, poisson, held,
                        offset = log_holders, control = exact), held, "Claims",
       c("District", "Group"), offset = "log_holders")
)

# ------------------------------------------------------------ Firth's penalty
shrink <- function(name, table, target, columns, weights = NULL) {
  used <- table[c(columns, weights)]
  used$y <- table[[target]]
  used$w <- if (is.null(weights)) rep(1, nrow(used)) else used[[weights]]
  formula <- as.formula(paste("y ~", paste(columns, collapse = " + ")))
  model <- suppressWarnings(glm(formula, binomial, used, weights = w,
                                method = "brglmFit", type = "MPL_Jeffreys",
                                epsilon = 1e-13, maxit = 5000))
  X <- model.matrix(model)
  # The profile of the penalised likelihood, of which brglm2 has none.
  penalise <- function(beta) {
    scores <- drop(X %*% beta)
    p <- plogis(scores)
    half <- determinant(crossprod(X, used$w * p * (1 - p) * X))$modulus / 2
    sum(used$w * (used$y * plogis(scores, log.p = TRUE) +
                    (1 - used$y) * plogis(-scores, log.p = TRUE))) + half
  }
  slope <- function(beta) {
    p <- plogis(drop(X %*% beta))
    W <- used$w * p * (1 - p)
    h <- rowSums((X %*% solve(crossprod(X, W * X))) * X) * W
    colSums(X * (used$w * (used$y - p) + h * (0.5 - p)))
  }
  best <- coef(model)
  top <- penalise(best)
  hold <- function(free, beta) {
    if (!any(free)) return(penalise(beta))
    put <- function(some) replace(beta, free, some)
    found <- optim(beta[free], function(some) -penalise(put(some)),
                   function(some) -slope(put(some))[free], method = "BFGS",
                   control = list(reltol = 1e-15, maxit = 2000))
    -found$value
  }
  limit <- qchisq(0.95, 1)
  ends <- sapply(seq_along(best), function(place) {
    error <- sqrt(vcov(model)[place, place])
    rise <- function(value) {
      beta <- best
      beta[place] <- value
      2 * (top - hold(seq_along(best) != place, beta)) - limit
    }
    c(uniroot(rise, best[place] - c(8, 0.1) * error, tol = 1e-10)$root,
      uniroot(rise, best[place] + c(0.1, 8) * error, tol = 1e-10)$root)
  })
  null <- replace(best, TRUE, 0)
  statistic <- 2 * (top - hold(seq_along(best) == 1, null))
  c(write_table(table[c(target, columns, weights)]), list(
    name = name, target = target, columns = columns, weights = weights,
    coef = unname(best), vcov = unname(vcov(model)), profile = unname(t(ends)),
    log_likelihood = as.numeric(logLik(model)), aic = AIC(model), statistic = statistic
  ))
}

data(endometrial, package = "brglm2")
doses <- data.frame(dose = c(1, 2, 3, 4, 5, 6, 7, 8), y = c(0, 0, 0, 0, 1, 1, 1, 1),
                    group = c(1, 0, 1, 0, 1, 0, 1, 0))
few <- transform(birth[seq(1, 189, 6), ], smoke = factor(as.character(smoke)))
few$copies <- rep(1:3, length.out = nrow(few))
shrinks <- list(
  shrink("separated", doses, "y", c("dose", "group")),
  shrink("endometrial", endometrial, "HG", c("NV", "PI", "EH")),
  shrink("few births", few, "low", c("lwt", "smoke"), weights = "copies"),
  shrink("pima", transform(Pima.tr, type = as.numeric(type == "Yes"))[1:60, ], "type",
         c("glu", "bmi", "ped"))
)

cat(toJSON(list(r = R.version.string, counts = counts, sways = sways, shrinks = shrinks),
           digits = I(17), auto_unbox = TRUE, na = "null", null = "null"))
