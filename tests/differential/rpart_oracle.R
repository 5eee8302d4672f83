# Grows the tables of a directory with rpart and writes down all that it found.
#
# Rscript --vanilla rpart_oracle.R DIRECTORY
#
# tables.csv has one line per table: its name, where it comes from ("file", or a
# data set of R with the response after a colon), and rpart's settings. The tree of
# cp = -1 is written down and, with folds, the cp table of cp = 0. A table is
# read from NAME.csv (columns, then y and w; factors as level codes from 0) and
# NAME.kinds.csv (kind and number of levels of every column and of y); those of R are
# written there in the same form. NAME.new.csv holds rows to predict.

suppressPackageStartupMessages(library(rpart))
directory <- commandArgs(trailingOnly = TRUE)[1]

path_of <- function(name, what) file.path(directory, paste0(name, what, ".csv"))

write_numbers <- function(numbers, path) {
  numbers <- as.matrix(numbers)
  lines <- character(0)
  if (nrow(numbers) > 0) {
    text <- matrix(sprintf("%.17g", numbers), nrow(numbers))
    lines <- apply(text, 1, paste, collapse = ",")
  }
  writeLines(lines, path)
}

read_table <- function(path, kinds) {
  table <- read.csv(path, header = FALSE, colClasses = "numeric")
  for (column in intersect(which(kinds$kind != "numeric"), seq_along(table))) {
    table[[column]] <- factor(
      table[[column]],
      levels = seq_len(kinds$n_levels[column]) - 1,
      ordered = kinds$kind[column] == "ordinal"
    )
  }
  names(table) <- c(paste0("c", seq_len(nrow(kinds) - 1)), "y", "w")[seq_along(table)]
  table
}

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

export_data_set <- function(name, source) {
  parts <- strsplit(source, ":")[[1]]
  data <- get(data(list = parts[1], package = c("datasets", "rpart")))
  response <- data[[parts[2]]]
  predictors <- data[setdiff(names(data), parts[2])]
  predictors <- predictors[!is.na(response), , drop = FALSE]
  response <- response[!is.na(response)]
  columns <- c(as.list(predictors), list(response))
  kind <- vapply(columns, function(column) {
    if (is.ordered(column)) "ordinal" else if (is.factor(column)) "nominal" else "numeric"
  }, "")
  n_levels <- vapply(columns, nlevels, 0L)
  write.csv(data.frame(kind, n_levels), path_of(name, ".kinds"), row.names = FALSE)
  coded <- sapply(columns, code_of)
  write_numbers(cbind(coded, 1), path_of(name, ""))
  write_numbers(sapply(make_holes(predictors), code_of), path_of(name, ".new"))
}

grow <- function(settings) {
  name <- settings$name
  if (settings$source != "file") export_data_set(name, settings$source)
  kinds <- read.csv(path_of(name, ".kinds"))
  table <- read_table(path_of(name, ""), kinds)
  w <- table$w
  table$w <- NULL
  fit_with <- function(cp, groups) {
    rpart(
      y ~ .,
      data = table, weights = w, method = settings$method,
      parms = if (settings$method == "class") list(split = settings$split),
      control = rpart.control(
        minsplit = settings$minsplit, minbucket = settings$minbucket,
        maxdepth = settings$maxdepth, cp = cp, xval = groups, maxcompete = 0,
        maxsurrogate = 5, usesurrogate = 2
      )
    )
  }
  if (settings$n_folds > 0) {
    groups <- rep_len(seq_len(settings$n_folds), nrow(table))
    write_numbers(fit_with(0, groups)$cptable, path_of(name, ".cp_table"))
  }
  fit <- fit_with(-1, 0)
  column_of <- function(names) match(names, names(table)[-ncol(table)]) - 1
  frame <- fit$frame
  number <- as.integer(rownames(frame))
  variable <- column_of(as.character(frame$var))
  variable[is.na(variable)] <- -1
  write_numbers(
    cbind(number, variable, frame$n, frame$wt, frame$dev, frame$nsurrogate),
    path_of(name, ".frame")
  )
  splits <- fit$splits
  if (is.null(splits)) splits <- matrix(0, 0, 5)
  write_numbers(cbind(column_of(rownames(splits)), splits), path_of(name, ".splits"))
  csplit <- fit$csplit
  if (is.null(csplit)) csplit <- matrix(0, 0, 0)
  write_numbers(csplit, path_of(name, ".csplit"))
  new <- read_table(path_of(name, ".new"), kinds)
  write_numbers(predict(fit, new), path_of(name, ".predicted"))
}

tables <- read.csv(file.path(directory, "tables.csv"), stringsAsFactors = FALSE)
for (row in seq_len(nrow(tables))) grow(tables[row, ])
