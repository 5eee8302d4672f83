// The trees of the page: numbers of nodes, tests, routing of rows and predictions.
// Nothing here uses the document.

const LEAF = 0, NUMERIC = 1, ORDINAL = 2, NOMINAL = 3, OBLIQUE = 4;
const STAY = -1, FRACTIONAL = -2, NO_BRANCH = -4;
// The code of a level that the training table did not have.
const UNKNOWN_LEVEL = -1;

/** One tree. Nodes are numbered breadth first; siblings are consecutive. */
class Tree {
  constructor(page, number) {
    Object.assign(this, page.trees[number]);
    this.page = page;
    this.target = page.targets[this.target];
    this.columns = this.columns.map((column) => page.columns[column]);
    this.count = this.children.length;
    this.first = new Int32Array(this.count);
    this.parent = new Int32Array(this.count).fill(-1);
    this.depth = new Int32Array(this.count);
    let next = 1;
    for (let node = 0; node < this.count; node++) {
      this.first[node] = next;
      for (let end = next + this.children[node]; next < end; next++) {
        this.parent[next] = node;
        this.depth[next] = this.depth[node] + 1;
      }
    }
    // Numbers of nodes below each node, also of those that the page leaves out.
    this.below = new Int32Array(this.count);
    for (let node = this.count - 1; node >= 0; node--) {
      this.below[node] += this.cut[node] ?? 0;
      if (node) this.below[this.parent[node]] += this.below[node] + 1;
    }
    this.width = this.statistics.length / this.count;
    this.maps = new Map();
    this.findValueRange();
  }

  findValueRange() {
    this.low = Infinity;
    this.high = -Infinity;
    if (this.target.classes) return;
    for (let node = 0; node < this.count; node++) {
      const value = this.statistics[node * this.width];
      this.low = Math.min(this.low, value);
      this.high = Math.max(this.high, value);
    }
  }

  isLeaf(node) {
    return this.children[node] === 0;
  }

  /** Numbers of the children of a node. */
  childrenOf(node) {
    return Array.from({ length: this.children[node] }, (_, i) => this.first[node] + i);
  }

  /** Nodes from the root to a node. */
  pathTo(node) {
    const path = [];
    for (; node >= 0; node = this.parent[node]) path.unshift(node);
    return path;
  }

  /** Class proportions, or the value, of each output; the addend is Laplace's. */
  shares(node, addend = 0) {
    const start = node * this.width;
    if (!this.target.classes) {
      return Array.from({ length: this.width }, (_, o) => [this.statistics[start + o]]);
    }
    const size = this.width / this.target.classes.length;
    return this.target.classes.map((names, output) => {
      const from = start + output * size;
      const weights = this.statistics.slice(from, from + names.length);
      const total = weights.reduce((sum, weight) => sum + weight + addend, 0);
      return weights.map((weight) => (total > 0 ? (weight + addend) / total : 0));
    });
  }

  /** Minus the expected cost of predicting each class. */
  gains(shares) {
    const cost = (k) => shares.reduce((sum, p, j) => sum + p * this.costs[j][k], 0);
    return shares.map((_, k) => -cost(k));
  }

  /** Index of the class predicted from proportions, one for each output. */
  choose(outputs) {
    return outputs.map((shares) => {
      const gains = this.costs ? this.gains(shares) : shares;
      let best = 0;
      gains.forEach((gain, number) => {
        if (gain > gains[best] + this.tolerance) best = number;
      });
      return best;
    });
  }

  /** Child number of each level that a nominal test has seen. */
  levelMap(key, groups) {
    if (!this.maps.has(key)) {
      const map = new Map();
      groups.forEach((codes, child) => codes.forEach((code) => map.set(code, child)));
      this.maps.set(key, map);
    }
    return this.maps.get(key);
  }

  // ---------------------------------------------------------------- routing
  /** Branch of a value that is present, or NO_BRANCH for a level not seen here. */
  testValue(kind, column, threshold, lowBranch, map, value) {
    if (kind !== NUMERIC) {
      if (!(value >= 0 && value < column.levels.length)) return NO_BRANCH;
      if (kind === NOMINAL) return map().get(value) ?? NO_BRANCH;
    }
    return value <= (threshold ?? Infinity) ? lowBranch : 1 - lowBranch;
  }

  /** Branch of a row at a node, or STAY, FRACTIONAL or NO_BRANCH, and its column. */
  findBranch(node, row) {
    if (this.kind[node] === OBLIQUE) return this.testSum(node, row);
    const column = this.columns[this.feature[node]];
    const value = row[column.number];
    if (Number.isNaN(value)) return [this.followSurrogates(node, row), column];
    const map = () => this.levelMap(`${node}`, this.levels[node]);
    const [kind, threshold] = [this.kind[node], this.threshold[node]];
    return [this.testValue(kind, column, threshold, 0, map, value), column];
  }

  followSurrogates(node, row) {
    for (const [i, stand] of (this.surrogates[node] ?? []).entries()) {
      const [feature, kind, lowBranch, threshold, groups] = stand;
      const column = this.columns[feature];
      const value = row[column.number];
      if (Number.isNaN(value)) continue;
      const map = () => this.levelMap(`${node}/${i}`, groups);
      const branch = this.testValue(kind, column, threshold, lowBranch, map, value);
      if (branch !== NO_BRANCH) return branch;
    }
    return this.missing[node];
  }

  testSum(node, row) {
    let total = 0;
    for (const [feature, fill, weight, summands] of this.terms[node]) {
      const column = this.columns[feature];
      const value = row[column.number];
      if (Number.isNaN(value)) total += fill;
      else if (!summands) total += weight * value;
      else if (typeof summands[value] === "number") total += summands[value];
      else return [NO_BRANCH, column];
    }
    return [total <= (this.threshold[node] ?? Infinity) ? 0 : 1, null];
  }

  /** Columns that a node tests, without those of surrogates. */
  testedColumns(node) {
    if (this.kind[node] === OBLIQUE) {
      return this.terms[node].map(([feature]) => this.columns[feature]);
    }
    return this.isLeaf(node) ? [] : [this.columns[this.feature[node]]];
  }

  /**
   * Send a row through the tree.
   *
   * Returns the fraction of the row in every node that it enters, the nodes where it
   * ends, and what stops it: a column without a value or level that the model takes.
   */
  route(row) {
    const entered = new Map();
    const ends = [];
    const pending = [[0, 1]];
    while (pending.length) {
      const [node, share] = pending.pop();
      entered.set(node, share);
      if (this.isLeaf(node)) {
        if (this.cut[node]) return { entered, ends, stop: { node, reason: "cut" } };
        ends.push([node, share]);
        continue;
      }
      if (!this.page.takesMissing) {
        const empty = this.testedColumns(node).find((c) => Number.isNaN(row[c.number]));
        if (empty) {
          return { entered, ends, stop: { node, reason: "missing", column: empty } };
        }
      }
      let [branch, column] = this.findBranch(node, row);
      if (branch === NO_BRANCH) {
        if (this.unknown === "error") {
          return { entered, ends, stop: { node, reason: "unknown", column } };
        }
        branch = this.unknown === "parent" ? STAY : FRACTIONAL;
      }
      const next = this.divide(node, share, branch);
      if (next.length) pending.push(...next.reverse());
      else ends.push([node, share]);
    }
    return { entered, ends, stop: null };
  }

  /** Children that a fraction of a row enters, with their parts of it. */
  divide(node, share, branch) {
    if (branch >= 0) return [[this.first[node] + branch, share]];
    if (branch !== FRACTIONAL) return [];
    const children = this.childrenOf(node);
    const total = children.reduce((sum, child) => sum + this.weight[child], 0);
    return children
      .filter((child) => this.weight[child] > 0)
      .map((child) => [child, (share * this.weight[child]) / total]);
  }

  /** Value of the equation of a node for a row, or of the node. */
  solve(node, row) {
    if (!this.slopes[node]) return this.shares(node);
    const [low, high, ...terms] = this.slopes[node];
    let value = this.statistics[node];
    for (const [feature, weight, center] of terms) {
      const column = this.columns[feature];
      const x = row[column.number];
      const isKnown = !Number.isNaN(x) && (!column.levels || x >= 0);
      if (isKnown) value += weight * (x - center);
    }
    return [[Math.min(Math.max(value, low), high)]];
  }

  /** Predicted classes (or null), and probabilities or values, of each output. */
  predict(ends, row) {
    if (!this.target.classes && Object.keys(this.slopes).length) {
      const parts = ends.map(([node, share]) => share * this.solve(node, row)[0][0]);
      return { best: null, outputs: [[parts.reduce((sum, part) => sum + part, 0)]] };
    }
    const mean = (addend) => {
      if (ends.length === 1 && ends[0][1] === 1) return this.shares(ends[0][0], addend);
      const totals = this.shares(0).map((shares) => shares.map(() => 0));
      for (const [node, share] of ends) {
        this.shares(node, addend).forEach((shares, output) => {
          shares.forEach((value, i) => (totals[output][i] += share * value));
        });
      }
      return totals;
    };
    if (!this.target.classes) return { best: null, outputs: mean(0) };
    return { best: this.choose(mean(0)), outputs: mean(this.addend) };
  }
}

// -------------------------------------------------------------- typed values
const DATE_FORM = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?$/;
const SPAN_FORM = /^(?:(-?\d+) days?,? *)?(?:(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?)?$/;

/** Number of a typed text in the units of its column; null if it is not one. */
function readNumber(column, text) {
  text = text.trim();
  if (text === "") return NaN;
  if (column.source === "date" && DATE_FORM.test(text)) {
    const isWhole = /\d{4}-\d\d-\d\d$/.test(text);
    const hasZone = isWhole || /(Z|[+-]\d\d:?\d\d)$/.test(text);
    const seconds = Date.parse(text.replace(" ", "T") + (hasZone ? "" : "Z")) / 1000;
    return Number.isNaN(seconds) ? null : seconds;
  }
  const span = SPAN_FORM.exec(text);
  if ((column.source === "duration" || column.source === "time") && span) {
    const [days, hours, minutes, seconds] = span.slice(1).map((part) => Number(part ?? 0));
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  }
  const number = Number(text.replace("\u2212", "-"));
  return Number.isFinite(number) ? number : null;
}

// -------------------------------------------------------------------- words
/** A number with few digits. */
function formatNumber(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return value.toExponential(3);
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 8 });
}

function formatShare(share) {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent > 99.9 && percent < 100) return ">99.9%";
  return `${Number(percent.toFixed(1))}%`;
}

/** What a node tests, or null for a leaf. */
function describeTest(tree, node) {
  if (tree.isLeaf(node)) return null;
  return tree.tests[node] ?? tree.columns[tree.feature[node]].name;
}

/** The condition of the branch that leads to a node. */
function describeCondition(tree, node) {
  return tree.conditions[node] ?? `${describeTest(tree, tree.parent[node])} ${tree.labels[node]}`;
}

const BOUND = /^(<=|>) (.*?)( or missing)?$/s;

/**
 * Conditions of the path to a node, in its order; thresholds of the same column are
 * joined, such as "2 < x <= 3".
 */
function describeRule(tree, node) {
  const rule = [];
  const places = new Map();
  for (const child of tree.pathTo(node).slice(1)) {
    const parent = tree.parent[child];
    const text = describeCondition(tree, child);
    const bound = BOUND.exec(tree.labels[child]);
    if (tree.kind[parent] !== NUMERIC || child in tree.conditions || !bound) {
      rule.push(text);
      continue;
    }
    const [, sign, threshold, missing] = bound;
    const name = describeTest(tree, parent);
    if (!places.has(name)) places.set(name, rule.push(null) - 1);
    const place = places.get(name);
    const interval = rule[place] ?? { name, missing: true };
    interval[sign] = threshold; // later thresholds are narrower
    interval.missing = interval.missing && Boolean(missing);
    rule[place] = interval;
  }
  return rule.map((part) => (typeof part === "string" ? part : describeInterval(part)));
}

function describeInterval({ name, missing, "<=": high, ">": low }) {
  const suffix = missing ? " or missing" : "";
  if (low === undefined) return `${name} <= ${high}${suffix}`;
  if (high === undefined) return `${name} > ${low}${suffix}`;
  return `${low} < ${name} <= ${high}${suffix}`;
}

/** Class names or values of a prediction, joined. */
function describePrediction(tree, best, outputs) {
  const words = outputs.map((values, output) =>
    best ? tree.target.classes[output][best[output]] : formatNumber(values[0]),
  );
  return words.length === 1 ? words[0] : `[${words.join(", ")}]`;
}

function describeNodePrediction(tree, node) {
  const shares = tree.shares(node);
  return describePrediction(tree, tree.target.classes && tree.choose(shares), shares);
}

/** Whether the rows of a node all have weight 1. */
function isUnweighted(tree, node) {
  const rows = tree.rows[node];
  return Math.abs(rows - tree.weight[node]) <= 1e-9 * Math.max(1, rows);
}

/** Rows of a node, or their weight if it differs. */
function describeWeight(tree, node) {
  if (isUnweighted(tree, node)) return describeSize(tree, node);
  return `weight ${formatNumber(tree.weight[node])}`;
}

/** Rows of a node, and their weight if it differs. */
function describeSize(tree, node) {
  const rows = tree.rows[node];
  const text = `${rows.toLocaleString("en")} row${rows === 1 ? "" : "s"}`;
  return isUnweighted(tree, node) ? text : `${text}, ${describeWeight(tree, node)}`;
}
