# Linear regressions of R's lm, written down as JSON.
#
# Rscript --vanilla lm.R > lm.json
#
# Each case has the table column by column (levels as text, in the order of their
# declaration), the target, weights if there are any, whether there is an intercept, and
# what summary.lm, influence.measures, predict and confint say of the model. Weights of
# lm are precisions; for frequencies the rows are repeated. Ridge is MASS's formula
# without its scaling, solved by lm on rows that are added for the penalty.

quote_text <- function(x) paste0("\"", x, "\"")

to_json <- function(x) {
  if (is.null(x)) return("null")
  if (is.list(x)) {
    parts <- mapply(function(name, value) {
      paste0(quote_text(name), ": ", to_json(value))
    }, names(x), x)
    return(paste0("{", paste(parts, collapse = ",\n"), "}"))
  }
  if (is.matrix(x)) {
    rows <- apply(x, 1, function(row) to_json(as.numeric(row)))
    return(paste0("[", paste(rows, collapse = ",\n"), "]"))
  }
  if (is.logical(x)) {
    text <- ifelse(x, "true", "false")
    return(if (length(text) == 1) text else paste0("[", paste(text, collapse = ", "), "]"))
  }
  if (is.factor(x)) {
    return(paste0(
      "{\"levels\": [", paste(quote_text(levels(x)), collapse = ", "),
      "], \"values\": [", paste(quote_text(as.character(x)), collapse = ", "), "]}"
    ))
  }
  if (is.character(x)) {
    return(paste0("[", paste(quote_text(x), collapse = ", "), "]"))
  }
  text <- sprintf("%.17g", x)
  text[!is.finite(x)] <- "null"
  paste0("[", paste(text, collapse = ", "), "]")
}

describe <- function(table, y, weights = NULL, frequencies = NULL, intercept = TRUE) {
  rows <- seq_along(y)
  if (!is.null(frequencies)) rows <- rep(rows, frequencies)
  fitted_table <- table[rows, , drop = FALSE]
  fitted_table$target <- y[rows]
  formula <- if (intercept) target ~ . else target ~ . - 1
  model <- lm(formula, fitted_table, weights = weights)
  said <- summary(model)
  first <- match(seq_along(y), rows)
  new <- table[1:3, , drop = FALSE]
  # Predictions at rows of weight 1: R asks for weights of new rows otherwise.
  of_new <- suppressWarnings(predict(model, new, se.fit = TRUE))
  band <- suppressWarnings(
    predict(model, new, interval = "prediction", level = 0.9, weights = rep(1, 3))
  )
  list(
    table = as.list(table),
    y = y,
    weights = weights,
    frequencies = frequencies,
    intercept = intercept,
    names = names(coef(model)),
    coefficients = coef(model),
    standard_errors = said$coefficients[, 2],
    covariance = vcov(model),
    t = said$coefficients[, 3],
    p = said$coefficients[, 4],
    intervals = confint(model),
    rank = model$rank,
    freedom = model$df.residual,
    sigma = said$sigma,
    r_squared = said$r.squared,
    adjusted = said$adj.r.squared,
    f = said$fstatistic,
    f_p = unname(pf(
      said$fstatistic[1], said$fstatistic[2], said$fstatistic[3], lower.tail = FALSE
    )),
    log_likelihood = as.numeric(logLik(model)),
    aic = AIC(model),
    bic = BIC(model),
    leverage = hatvalues(model)[first],
    standardized = rstandard(model)[first],
    studentized = rstudent(model)[first],
    cook = cooks.distance(model)[first],
    dffits = dffits(model)[first],
    fitted = fitted(model)[first],
    new_errors = of_new$se.fit,
    new_band = band[, 2:3]
  )
}

set.seed(7)
noise <- rnorm(40)
# lm takes columns for dependent that are far from zero, so it gets them near it; what it
# says is the same but for the intercept.
near <- data.frame(a = (1e8 + rnorm(40)) - 1e8, b = 1:40, c = 1e-6 * rnorm(40))
far <- data.frame(a = near$a + 1e8, b = near$b - 1e8, c = near$c)
dependent <- data.frame(
  a = mtcars$wt, b = mtcars$hp / 100, c = mtcars$wt + mtcars$hp / 100, d = mtcars$qsec,
  e = 3
)
types <- data.frame(
  wool = warpbreaks$wool, tension = factor(as.character(warpbreaks$tension))
)
insects <- data.frame(spray = InsectSprays$spray)
cases <- list(
  longley = describe(longley[, 1:6], longley$Employed),
  mtcars = describe(mtcars[, -1], mtcars$mpg),
  one_column = describe(data.frame(speed = cars$speed), cars$dist),
  no_intercept = describe(swiss[, -1], swiss$Fertility, intercept = FALSE),
  precision = describe(
    stackloss[, 1:3], stackloss$stack.loss, weights = c(1:20, 0.5) / 4
  ),
  frequency = describe(
    swiss[, -1], swiss$Fertility,
    frequencies = rep(c(1, 3, 2, 1), length.out = 47)
  ),
  offset = modifyList(
    describe(near, near$a + 0.5 * noise + 2e6 * near$c),
    list(table = as.list(far), shift = c(1e8, -1e8, 0))
  ),
  rank_deficient = describe(dependent, mtcars$mpg),
  nominal = describe(types, warpbreaks$breaks),
  one_nominal = describe(insects, InsectSprays$count),
  mixed = describe(iris[, -1], iris$Sepal.Length),
  nearly_dependent = describe(
    data.frame(a = 1:40, b = 1:40 + 1e-5 * cos(1:40)), 1:40 + noise
  )
)
cat(to_json(cases), "\n", sep = "")
