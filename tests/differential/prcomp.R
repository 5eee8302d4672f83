# Principal components of some of R's tables, written down as JSON.
#
# Rscript --vanilla prcomp.R > prcomp.json
#
# Each case has the rows, R's standard deviations, rotation, scores, the correlations of
# variables and scores, and the proportions of variance; with weights (whole numbers),
# the rows are repeated for prcomp. The case of a correlation matrix has what princomp
# makes of the matrix alone.

to_json <- function(x) {
  if (is.list(x)) {
    parts <- mapply(function(name, value) {
      paste0("\"", name, "\": ", to_json(value))
    }, names(x), x)
    return(paste0("{", paste(parts, collapse = ",\n"), "}"))
  }
  if (is.matrix(x)) {
    rows <- apply(x, 1, function(row) to_json(as.numeric(row)))
    return(paste0("[", paste(rows, collapse = ",\n"), "]"))
  }
  if (is.character(x)) {
    return(paste0("[", paste0("\"", x, "\"", collapse = ", "), "]"))
  }
  paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
}

describe <- function(table, scale, weights = rep(1, nrow(table))) {
  X <- as.matrix(table)
  repeated <- X[rep(seq_len(nrow(X)), weights), , drop = FALSE]
  pca <- prcomp(repeated, scale. = scale)
  kept <- pca$sdev > 1e-8 * pca$sdev[1]
  list(
    X = X,
    standardize = as.numeric(scale),
    weights = weights,
    sdev = pca$sdev,
    rotation = pca$rotation,
    scores = predict(pca, X),
    correlations = cor(repeated, pca$x[, kept, drop = FALSE]),
    proportions = summary(pca)$importance["Proportion of Variance", ]
  )
}

correlations <- Harman74.cor$cov
pca <- princomp(covmat = correlations)
cases <- list(
  USArrests = describe(USArrests, TRUE),
  iris = describe(iris[seq(1, 150, 3), 1:4], FALSE),
  mtcars = describe(mtcars, TRUE),
  longley = describe(longley, FALSE),
  swiss_weighted = describe(swiss, TRUE, rep(c(1, 3, 2, 1), length.out = 47)),
  wide = describe(t(as.matrix(stackloss)), FALSE),
  Harman74 = list(
    covariance = correlations,
    sdev = as.numeric(pca$sdev),
    loadings = unclass(pca$loadings)
  )
)
cat(to_json(cases), "\n", sep = "")
