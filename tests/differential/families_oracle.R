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

# --------------------------------------------------------------- ordered classes
rank_classes <- function(name, table, target, columns, method = "logistic",
                         weights = NULL, offset = NULL) {
  used <- table[c(columns, weights, offset)]
  used$y <- table[[target]]
  used$w <- if (is.null(weights)) rep(1, nrow(used)) else used[[weights]]
  known <- if (!is.null(offset)) sprintf("offset(%s)", offset)
  formula <- as.formula(paste("y ~", paste(c(columns, known), collapse = " + ")))
  size <- ncol(model.matrix(formula, used)) - 1 + nlevels(used$y) - 1
  # The Hessian is found from differences of the gradient.
  control <- list(reltol = 1e-16, maxit = 5000, ndeps = rep(1e-5, size))
  model <- polr(formula, used, weights = w, method = method, Hess = TRUE,
                control = control)
  found <- c(write_table(table[c(target, columns, weights, offset)]), list(
    name = paste(name, method), target = target, columns = columns, weights = weights,
    offset = offset, method = method, classes = levels(used$y),
    coef = unname(coef(model)), zeta = unname(model$zeta),
    errors = unname(sqrt(diag(vcov(model)))), deviance = deviance(model),
    aic = AIC(model), fitted = unname(head(fitted(model), 20))
  ))
  if (method == "logistic" && is.null(offset)) {
    # Brant's test, by binary regressions.
    X <- model.matrix(formula, used)
    codes <- as.integer(used$y)
    splits <- seq_len(nlevels(used$y) - 1)
    fits <- lapply(splits, function(j) {
      used$z <- as.numeric(codes > j)
      glm(update(formula, z ~ .), binomial, used, weights = w, control = exact)
    })
    p <- sapply(fits, fitted)
    part <- function(a, b) {
      W <- used$w * (p[, max(a, b)] - p[, a] * p[, b])
      solve(crossprod(X, used$w * p[, a] * (1 - p[, a]) * X)) %*%
        crossprod(X, W * X) %*%
        solve(crossprod(X, used$w * p[, b] * (1 - p[, b]) * X))
    }
    V <- do.call(rbind, lapply(splits, function(a) {
      do.call(cbind, lapply(splits, function(b) part(a, b)[-1, -1, drop = FALSE]))
    }))
    slopes <- unlist(lapply(fits, function(fit) coef(fit)[-1]))
    pc <- ncol(X) - 1
    D <- cbind(kronecker(rep(1, length(splits) - 1), diag(pc)),
               -diag(pc * (length(splits) - 1)))
    test <- function(rows) {
      C <- D[rows, , drop = FALSE]
      drop(t(C %*% slopes) %*% solve(C %*% V %*% t(C)) %*% (C %*% slopes))
    }
    terms <- attr(X, "assign")[-1]
    of_row <- rep(terms, length(splits) - 1)
    found$brant <- c(sapply(seq_along(columns), function(k) test(which(of_row == k))),
                     test(seq_along(of_row)))
  }
  found
}

weighed <- transform(birthwt, size = cut(bwt, c(0, 2500, 3000, 3500, 9999),
                                         c("low", "small", "middle", "large")),
                     race = factor(as.character(race)), smoke = as.numeric(smoke))
values <- na.omit(carData::WVS)[seq(1, 5381, 9), ]
values <- transform(values, country = factor(as.character(country)),
                    religion = as.numeric(religion == "yes"))
houses <- transform(housing, Infl = factor(as.character(Infl)),
                    Type = factor(as.character(Type)), Cont = factor(as.character(Cont)))
rolled <- data.frame(a = rnorm(150), b = runif(150), g = factor(sample(c("u", "v", "w"),
                                                                       150, TRUE)))
rolled$grade <- cut(rolled$a - 2 * rolled$b + (rolled$g == "v") + rlogis(150),
                    c(-Inf, -3, -1.5, -0.5, 0.5, 2, Inf), letters[1:6])
cancer <- transform(esoph, risk = as.numeric(ncases / (ncases + ncontrols)),
                    tobacco = as.numeric(tobgp), alcohol = as.numeric(alcgp))
ranked <- list()
for (method in c("logistic", "probit", "cloglog")) {
  ranked <- c(ranked, list(
    rank_classes("housing", houses, "Sat", c("Infl", "Type", "Cont"), method, "Freq"),
    rank_classes("births", weighed, "size", c("age", "lwt", "race", "smoke"), method),
    rank_classes("values", values, "poverty", c("religion", "country", "age"), method),
    rank_classes("random", rolled, "grade", c("a", "b", "g"), method),
    rank_classes("esoph", cancer, "agegp", c("risk", "tobacco", "alcohol"), method)
  ))
}
# Known parts of the predictors.
weighed$known <- weighed$lwt / 100 - 1
houses$known <- as.numeric(factor(houses$Infl)) / 3
for (method in c("logistic", "probit", "cloglog")) {
  ranked <- c(ranked, list(
    rank_classes("births, offset", weighed, "size", c("age", "race", "smoke"), method,
                 offset = "known"),
    rank_classes("housing, offset", houses, "Sat", c("Type", "Cont"), method, "Freq",
                 offset = "known")
  ))
}

cat(toJSON(list(r = R.version.string, counts = counts, sways = sways, shrinks = shrinks,
                ranked = ranked),
           digits = I(17), auto_unbox = TRUE, na = "null", null = "null"))
