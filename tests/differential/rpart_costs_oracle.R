# Classification trees of R's rpart with a matrix of losses, written down for
# tests/differential/test_rpart_costs.py:
#   Rscript --vanilla tests/differential/rpart_costs_oracle.R > tests/differential/rpart_costs.json
# on ten tables that come with R, and its packages rpart and MASS. Factors are level
# codes from 0. Each tree is that of cp = -1; the cp table is that of cp = 0.
suppressPackageStartupMessages({library(rpart); library(MASS); library(jsonlite)})

code_of <- function(column) {
  if (is.factor(column)) as.integer(column) - 1 else as.numeric(column)
}

# Every seventh cell is emptied, in another row of every column.
make_holes <- function(table) {
  for (column in seq_along(table)) {
    table[(seq_len(nrow(table)) + 3 * column) %% 7 == 0, column] <- NA
  }
  table
}

# Rows are true classes. Of two classes, errors on the second one are `ratio` times dearer.
make_loss <- function(n_classes, ratio) {
  loss <- matrix(0, n_classes, n_classes)
  for (i in seq_len(n_classes)) for (j in seq_len(n_classes)) {
    if (i < j) loss[i, j] <- 1 + (i + 2 * j) %% 3
    if (i > j) loss[i, j] <- ratio + (2 * i + j) %% 4
  }
  loss
}

grow <- function(name, table, target, split, ratio, minsplit, minbucket) {
  table <- table[!is.na(table[[target]]), ]
  y <- droplevels(factor(table[[target]]))
  table <- table[setdiff(names(table), target)]
  for (column in names(table)) {
    if (is.character(table[[column]])) table[[column]] <- factor(table[[column]])
    if (is.factor(table[[column]])) table[[column]] <- droplevels(table[[column]])
  }
  names(table) <- paste0("c", seq_along(table))
  loss <- make_loss(nlevels(y), ratio)
  fit_with <- function(cp) {
    rpart(
      y ~ ., data = cbind(table, y = y), method = "class",
      parms = list(split = split, loss = loss),
      control = rpart.control(
        minsplit = minsplit, minbucket = minbucket, cp = cp, xval = 0,
        maxcompete = 0, maxsurrogate = 5, usesurrogate = 2
      )
    )
  }
  fit <- fit_with(-1)
  frame <- fit$frame
  columns <- names(table)
  column_of <- function(found) match(found, columns) - 1
  variable <- column_of(as.character(frame$var))
  variable[is.na(variable)] <- -1
  splits <- fit$splits
  new <- make_holes(table)
  list(
    name = paste(name, split), split = split, minsplit = minsplit,
    minbucket = minbucket, loss = loss,
    kinds = vapply(table, function(column) {
      if (is.ordered(column)) "ordinal" else if (is.factor(column)) "nominal" else "numeric"
    }, "", USE.NAMES = FALSE),
    n_levels = unname(vapply(table, nlevels, 0L)),
    columns = unname(lapply(table, code_of)), y = code_of(y), n_classes = nlevels(y),
    new_rows = unname(as.matrix(sapply(new, code_of))),
    cp_table = unname(fit_with(0)$cptable),
    frame = unname(cbind(
      as.integer(rownames(frame)), variable, frame$n, frame$wt, frame$dev,
      frame$nsurrogate, frame$yval
    )),
    splits = if (is.null(splits)) list() else
      unname(cbind(column_of(rownames(splits)), splits)),
    csplit = if (is.null(fit$csplit)) list() else unname(fit$csplit),
    probabilities = unname(predict(fit, new)),
    classes = as.integer(predict(fit, new, type = "class")) - 1,
    pruned = lapply(c(0.02, 0.1), function(cp) list(
      cp = cp, classes = as.integer(predict(prune(fit, cp), new, type = "class")) - 1
    ))
  )
}

biopsy <- MASS::biopsy[-1]
tables <- list(
  list("kyphosis", kyphosis, "Kyphosis", 3, 10, 4),
  list("stagec", stagec[c(1, 3:8)], "ploidy", 2, 30, 10),
  list("progression", stagec[2:8], "pgstat", 4, 20, 7),
  list("iris", iris, "Species", 5, 20, 7),
  list("reliability", cu.summary, "Reliability", 2, 20, 7),
  list("type", cu.summary, "Type", 2, 30, 10),
  list("opening", solder, "Opening", 3, 60, 20),
  list("diabetes", MASS::Pima.tr2, "type", 3, 45, 15),
  list("tumours", biopsy, "class", 10, 20, 7),
  list("glass", MASS::fgl, "type", 2, 45, 15)
)
found <- list()
for (one in tables) for (split in c("gini", "information")) {
  found <- c(found, list(grow(one[[1]], one[[2]], one[[3]], split, one[[4]], one[[5]], one[[6]])))
}
cat(toJSON(found, digits = 17, auto_unbox = TRUE, na = "null", pretty = FALSE))
