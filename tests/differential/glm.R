# Generalised linear models of R's glm, written down as JSON.
#
# Rscript --vanilla glm.R > glm.json
#
# Each case has the table (numbers or words by column), target, weights and offset, and
# what glm, summary, anova, residuals and hatvalues say of it. NA becomes null. From
# epsilon follows the tolerance of the rank, too: 1e-15 would never find it deficient.

to_json <- function(x) {
  if (is.list(x)) {
    parts <- mapply(function(name, value) {
      paste0("\"", name, "\": ", to_json(value))
    }, names(x), x)
    return(paste0("{", paste(parts, collapse = ",\n"), "}"))
  }
  if (is.character(x)) {
    return(paste0("[", paste0("\"", x, "\"", collapse = ", "), "]"))
  }
  words <- ifelse(is.finite(x), sprintf("%.17g", x), "null")
  paste0("[", paste(words, collapse = ", "), "]")
}

# NA where predict takes the columns for dependent, which its qr.solve refuses.
find_errors <- function(model, type) {
  tryCatch(
    as.numeric(predict(model, type = type, se.fit = TRUE)$se.fit),
    error = function(e) rep(NA, nobs(model))
  )
}

describe <- function(table, y, family, weights = rep(1, length(y)),
                     offset = rep(0, length(y)), test = "Chisq",
                     epsilon = 1e-15) {
  frame <- cbind(data.frame(target = y, w = weights, o = offset), table)
  formula <- as.formula(paste("target ~", paste(names(table), collapse = " + ")))
  model <- glm(formula, family, frame, weights = w, offset = o,
               control = glm.control(epsilon = epsilon, maxit = 200))
  outline <- summary(model)
  errors <- coef(model)
  errors[] <- NA
  errors[rownames(coef(outline))] <- coef(outline)[, 2]
  lines <- anova(model, test = test)
  list(
    table = as.list(table), y = y, weights = weights, offset = offset,
    family = model$family$family, link = model$family$link,
    coef = as.numeric(coef(model)), errors = as.numeric(errors),
    p_values = as.numeric(coef(outline)[, 4]),
    deviance = deviance(model), null_deviance = model$null.deviance,
    df_residual = model$df.residual, df_null = model$df.null,
    rank = model$rank, dispersion = outline$dispersion,
    aic = AIC(model), bic = BIC(model), log_likelihood = as.numeric(logLik(model)),
    test = test,
    anova_df = lines[, "Df"], anova_deviance = lines[, "Deviance"],
    anova_residual_df = lines[, "Resid. Df"],
    anova_residual_deviance = lines[, "Resid. Dev"],
    anova_p = lines[, ncol(lines)],
    fitted = as.numeric(fitted(model)),
    residuals_deviance = as.numeric(residuals(model, "deviance")),
    residuals_pearson = as.numeric(residuals(model, "pearson")),
    residuals_working = as.numeric(residuals(model, "working")),
    residuals_response = as.numeric(residuals(model, "response")),
    leverage = as.numeric(hatvalues(model)),
    standardized = as.numeric(rstandard(model)),
    standardized_pearson = as.numeric(rstandard(model, type = "pearson")),
    cook = as.numeric(cooks.distance(model)),
    link_errors = find_errors(model, "link"),
    mean_errors = find_errors(model, "response")
  )
}

words <- function(frame) data.frame(lapply(frame, as.character))
looms <- words(warpbreaks[, c("wool", "tension")])
looms$length <- rep(c(1.5, 2, 0.5, 1, 3, 2.5), length.out = 54)
cancer <- esoph[esoph$ncases + esoph$ncontrols > 0, ]
trials <- cancer$ncases + cancer$ncontrols
flowers <- iris[51:150, 1:4]
plant <- stackloss[, 1:3]
plant$Sum <- plant$Air.Flow + plant$Water.Temp
plant$Acid <- plant$Acid.Conc.
plant$Acid.Conc. <- NULL
pairs <- rep(c(1, 2, 0.5, 3), length.out = 32)

cases <- list(
  poisson_nominal_offset = describe(
    looms, warpbreaks$breaks, poisson(), offset = log(looms$length)),
  quasipoisson = describe(looms, warpbreaks$breaks, quasipoisson(), test = "F"),
  poisson_square_root = describe(
    words(InsectSprays["spray"]), InsectSprays$count, poisson("sqrt")),
  gamma_inverse_weighted = describe(
    trees[, 1:2], trees$Volume, Gamma(), rep(c(2, 1, 0.5), length.out = 31),
    test = "F"),
  gamma_log = describe(trees[, 1:2], trees$Volume, Gamma("log"), test = "F"),
  inverse_gaussian = describe(
    women["weight"], women$height, inverse.gaussian(), test = "F"),
  inverse_gaussian_log = describe(
    trees[, 1:2], trees$Volume, inverse.gaussian("log"),
    rep(c(1, 3), length.out = 31), test = "F"),
  binomial_trials = describe(
    words(cancer[, c("agegp", "alcgp")]), cancer$ncases / trials, binomial(), trials),
  binomial_probit = describe(mtcars[, c("wt", "hp")], mtcars$vs, binomial("probit")),
  binomial_cloglog = describe(mtcars[, c("mpg", "hp")], mtcars$am, binomial("cloglog")),
  binomial_near_separable = describe(flowers, rep(c(0, 1), each = 50), binomial()),
  normal_weighted = describe(
    mtcars[, c("wt", "hp", "qsec")], mtcars$mpg, gaussian(), pairs, test = "F"),
  normal_log = describe(
    mtcars[, c("wt", "hp")], mtcars$mpg, gaussian("log"), offset = pairs / 10,
    test = "F"),
  normal_rank_deficient = describe(plant, stackloss$stack.loss, gaussian(), test = "F",
    epsilon = 1e-10),
  poisson_rank_deficient_weighted = describe(
    plant, stackloss$stack.loss, poisson(), rep(c(1, 2, 4), length.out = 21),
    epsilon = 1e-10),
  normal_far = describe(
    data.frame(year = 1e8 + longley$Year, GNP = longley$GNP), longley$Employed,
    gaussian(), test = "F")
)
cat(to_json(cases), "\n", sep = "")
