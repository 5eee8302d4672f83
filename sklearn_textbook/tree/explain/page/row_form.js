// The form of a row: one field for each column that the trees use.

// Levels of columns with more than this many are typed, not chosen from a list.
const MOST_OPTIONS = 200;
// Maximum number of nodes listed for a divided row.
const MOST_ENDS = 20;
// What can be typed, and all of it.
const FORMS = {
  date: ["2024-01-31", "2024-01-31 or 2024-01-31T12:00+01:00"],
  duration: ["1 day, 2:30:00", "1 day, 2:30:00 or seconds"],
  time: ["14:30:00", "14:30:00 or seconds"],
};

/** Numbers of the columns that any tree of the page tests, surrogates included. */
function listUsedColumns(trees) {
  const used = new Set();
  for (const tree of trees) {
    const add = (feature) => used.add(tree.columns[feature]);
    tree.feature.forEach((feature, node) => {
      if (tree.children[node] && tree.kind[node] !== OBLIQUE) add(feature);
    });
    Object.values(tree.terms).flat().forEach(([feature]) => add(feature));
    Object.values(tree.surrogates).flat().forEach(([feature]) => add(feature));
  }
  return [...used].sort((a, b) => a - b);
}

/**
 * Call a function when a value is entered.
 *
 * Some programs that fill in forms send only the "change" of a choice. That of a text
 * comes when the next click has begun, which must not replace what is clicked.
 */
function onEntry(field, action) {
  field.addEventListener("input", action);
  if (field.tagName === "SELECT") field.addEventListener("change", action);
}

class RowForm {
  constructor(page, host, changed) {
    this.page = page;
    this.host = host;
    this.fields = new Map();
    for (const number of listUsedColumns(page.trees)) this.addField(page.columns[number], changed);
  }

  addField(column, changed) {
    const label = make("label", "field");
    label.append(make("bdi", "", column.name));
    const isChoice = column.source === "boolean" && !column.levels;
    const levels = isChoice ? ["false", "true"] : column.levels;
    const field = levels && levels.length <= MOST_OPTIONS
      ? this.makeChoice(levels, isChoice)
      : this.makeInput(column, levels);
    onEntry(field, changed);
    field.dataset.column = column.number;
    label.append(field);
    this.fields.set(column, field);
    this.host.append(label);
  }

  makeChoice(levels, isBoolean) {
    const choice = make("select");
    choice.add(new Option("(missing)", ""));
    levels.forEach((level, code) => choice.add(new Option(level, code)));
    if (!isBoolean) choice.add(new Option("(unknown level)", UNKNOWN_LEVEL));
    return choice;
  }

  makeInput(column, levels) {
    const input = make("input");
    input.type = "text";
    input.autocomplete = "off";
    input.spellcheck = false;
    [input.placeholder, input.title] = FORMS[column.source] ?? ["missing", ""];
    if (!levels) {
      if (!FORMS[column.source]) input.inputMode = "decimal";
      return input;
    }
    const list = make("datalist");
    list.id = `levels-${column.number}`;
    levels.forEach((level) => list.append(new Option(level)));
    this.host.append(list);
    input.setAttribute("list", list.id);
    return input;
  }

  /** Whether any field has a value. */
  get isFilled() {
    return [...this.fields.values()].some((field) => field.value.trim() !== "");
  }

  /** Values by number of column: NaN for missing ones, codes of levels. */
  read() {
    const row = new Float64Array(this.page.columns.length).fill(NaN);
    let isValid = true;
    for (const [column, field] of this.fields) {
      const value = this.readField(column, field);
      field.setAttribute("aria-invalid", value === null);
      if (value === null) isValid = false;
      else row[column.number] = value;
    }
    return isValid ? row : null;
  }

  readField(column, field) {
    if (field.tagName === "SELECT") return field.value === "" ? NaN : Number(field.value);
    if (!column.levels) return readNumber(column, field.value);
    if (field.value === "") return NaN;
    return column.levels.indexOf(field.value); // -1, an unknown level, if there is none
  }

  clear() {
    for (const field of this.fields.values()) field.value = "";
  }
}

/** Describe why a row has no prediction. */
function describeStop({ node, reason, column }) {
  if (reason === "cut") return `The row reaches node #${node}; the nodes below it are not in this file.`;
  if (reason === "unknown") return `Node #${node} has not seen this level of ${column.name}: predict would raise an error.`;
  return `This model does not accept missing values: node #${node} tests ${column.name}.`;
}

/** Show where a row ends and what it predicts. */
function showResult(tree, outcome, row, host, colors, select) {
  if (outcome.stop) {
    host.replaceChildren(make("p", "problem", describeStop(outcome.stop)));
    return;
  }
  const { best, outputs } = tree.predict(outcome.ends, row);
  const heading = make("p", "heading");
  heading.append("Prediction: ", make("bdi", "strong", describePrediction(tree, best, outputs)));
  const ends = make("p", "note", outcome.ends.length > 1 ? "Divided: " : "Ends in node ");
  outcome.ends.slice(0, MOST_ENDS).forEach(([node, share], i) => {
    if (i) ends.append(", ");
    const link = make("button", "link", `#${node}`);
    link.type = "button";
    link.addEventListener("click", () => select(node));
    ends.append(link);
    if (outcome.ends.length > 1) ends.append(` ${formatShare(share)}`);
  });
  const more = outcome.ends.length - MOST_ENDS;
  if (more > 0) ends.append(` and ${more} more`);
  host.replaceChildren(heading, ends, ...makeOutputs(tree, outputs, colors));
}

/** Show what each tree predicts for a row, and count the classes. */
function showVotes(page, trees, row, list, vote) {
  const counts = new Map();
  [...list.children].forEach((item, number) => {
    const outcome = row && trees[number].route(row);
    let text = "";
    if (outcome && !outcome.stop) {
      const { best, outputs } = trees[number].predict(outcome.ends, row);
      text = describePrediction(trees[number], best, outputs);
      if (best) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    item.querySelector(".answer").textContent = text && `\u2192 ${text}`;
  });
  const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([name, n]) => `${name} ${n}`);
  vote.textContent = parts.length ? `Votes of the trees for this row: ${parts.join(", ")}` : "";
}
