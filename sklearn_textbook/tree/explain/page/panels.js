// Parts of the page beside the drawing: the selected node, the trees, the colours.

/** Make an element with a class and text. */
function make(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== "") element.textContent = text;
  return element;
}

const MOST_SEGMENTS = 12;

/** A bar of class proportions. */
function makeBar(shares, colors) {
  const bar = make("span", "bar");
  shares
    .map((share, i) => [share, i])
    .filter(([share]) => share > 0)
    .slice(0, MOST_SEGMENTS)
    .forEach(([share, i]) => {
      const segment = make("i");
      segment.style.flexGrow = share;
      segment.style.backgroundColor = colors[i];
      bar.append(segment);
    });
  return bar;
}

/** A bar as long as a value among those of the tree. */
function makeGauge([color, part]) {
  const bar = make("span", "bar");
  const segment = make("i");
  segment.style.flexBasis = `${100 * part}%`;
  segment.style.backgroundColor = color;
  bar.append(segment);
  return bar;
}

/** A table of the classes and their proportions, the largest first. */
function makeDistribution(names, shares, colors, most) {
  const table = make("table", "distribution");
  const order = shares.map((_, i) => i).sort((a, b) => shares[b] - shares[a] || a - b);
  for (const i of order.slice(0, most)) {
    const row = table.insertRow();
    const head = make("th");
    head.scope = "row";
    head.append(make("bdi", "", names[i]));
    const cell = make("td", "gauge");
    const gauge = make("i");
    gauge.style.width = `${100 * shares[i]}%`;
    gauge.style.backgroundColor = colors[i];
    if (shares[i] > 0) cell.append(gauge);
    row.append(head, cell, make("td", "number", formatShare(shares[i])));
  }
  const rest = order.slice(most);
  if (!rest.length) return [table];
  const sum = rest.reduce((total, i) => total + shares[i], 0);
  return [table, make("p", "note", `${rest.length} other classes: ${formatShare(sum)}`)];
}

/** Probabilities or values of all outputs. */
function makeOutputs(tree, outputs, colors, most = 10) {
  return outputs.flatMap((shares, output) => {
    const names = tree.target.classes?.[output];
    const start = outputs.length > 1 ? `Output ${output}` : "";
    if (!names) return [make("p", "", `${start || "Value"}: ${formatNumber(shares[0])}`)];
    const parts = makeDistribution(names, shares, colors, most);
    return start ? [make("p", "note", start), ...parts] : parts;
  });
}

/** Describe a node: its prediction, rule, size and test. */
function makeNodeReport(tree, node, colors, most) {
  const parts = [];
  const rule = describeRule(tree, node);
  const heading = make("p", "heading");
  heading.append(`#${node} predicts `, make("bdi", "strong", describeNodePrediction(tree, node)));
  parts.push(heading);
  if (rule.length) {
    const list = make("ul", "rule");
    for (const text of rule.slice(0, most * 2)) {
      const item = make("li");
      item.append(make("bdi", "", text));
      list.append(item);
    }
    if (rule.length > most * 2) list.append(make("li", "note", `and ${rule.length - most * 2} more`));
    parts.push(list);
  }
  const share = tree.weight[0] > 0 ? tree.weight[node] / tree.weight[0] : 0;
  let size = `${describeSize(tree, node)} (${formatShare(share)})`;
  if (tree.impurity[node] !== null) size += `, impurity ${formatNumber(tree.impurity[node])}`;
  parts.push(make("p", "", size), ...makeOutputs(tree, tree.shares(node), colors, most));
  if (!tree.isLeaf(node)) {
    const test = make("p", "");
    test.append("Tests ", make("bdi", "strong", describeTest(tree, node)));
    parts.push(test);
  }
  if (tree.cut[node]) {
    parts.push(make("p", "note", `${tree.cut[node].toLocaleString("en")} nodes below are left out of this file.`));
  }
  return parts;
}

/** The list of the trees of an ensemble, as buttons. */
function makeTreeList(page, list, choose) {
  list.replaceChildren();
  page.trees.forEach((tree, number) => {
    const item = make("li");
    const button = make("button", "tree");
    button.type = "button";
    button.append(make("bdi", "", tree.name));
    const notes = [`${tree.children.length.toLocaleString("en")} nodes`];
    if (tree.ensembleWeight !== null) notes.push(`weight ${formatNumber(tree.ensembleWeight)}`);
    button.append(make("span", "note", notes.join(", ")), make("bdi", "answer"));
    button.addEventListener("click", () => choose(number));
    item.append(button);
    list.append(item);
  });
}

function makeLegend(tree, list, colors) {
  list.replaceChildren();
  const add = (color, text) => {
    const item = make("li");
    const mark = make("i", "mark");
    mark.style.backgroundColor = color;
    item.append(mark, make("bdi", "", text));
    list.append(item);
  };
  if (!tree.target.classes) {
    add(VALUE_COLOR, `Stronger colours: larger values, from ${formatNumber(tree.low)} to ${formatNumber(tree.high)}`);
    return;
  }
  tree.target.classes[0].forEach((name, i) => add(colors[i], name));
  list.append(make("li", "note", "Stronger colours: larger proportions. Wider edges: more rows."));
}

/** Numbers of the model and what the file leaves out. */
function describePage(page, tree) {
  const text = [`${tree.count.toLocaleString("en")} nodes`];
  const leaves = tree.children.filter((count) => count === 0).length;
  if (!Object.keys(tree.cut).length) text.push(`${leaves.toLocaleString("en")} leaves`);
  text.push(`depth ${tree.depth[tree.count - 1]}`, describeSize(tree, 0));
  const { trees, nodes, others } = page.leftOut;
  const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  const out = [];
  if (trees) out.push(count(trees, "tree"));
  if (nodes) out.push(count(nodes, "node"));
  if (others) out.push(count(others, "member"));
  const start = page.trees.length > 1 ? `${tree.name}: ` : "";
  const end = out.length ? `. Left out of this file: ${out.join(", ")}` : "";
  return start + text.join(", ") + end;
}
