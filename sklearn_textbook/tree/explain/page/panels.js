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

/** Make an SVG element; its namespace is that of the parser, so that no address is written. */
function makeShape(tag, attributes = {}) {
  makeShape.space ??= Object.assign(make("div"), { innerHTML: "<svg></svg>" }).firstChild.namespaceURI;
  const shape = document.createElementNS(makeShape.space, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  return shape;
}

/** The distribution of the column that a node tests, of a size in pixels. */
function makeChart(chart, colors, width, height) {
  const [floor, foot] = [height, 5];
  const drawing = makeShape("svg", { width, height: height + foot, "aria-hidden": "true" });
  const add = (tag, attributes, text) => {
    const shape = makeShape(tag, attributes);
    if (text) shape.append(Object.assign(makeShape("title"), { textContent: text }));
    drawing.append(shape);
  };
  const [x, y] = [(part) => part * width, (part) => floor - part * height];
  for (const [left, right, low, high, number, text] of chart.bars) {
    const size = { width: x(right - left), height: (high - low) * height };
    const look = number < 0 ? { class: "value" } : { fill: colors[number] };
    add("rect", { x: x(left), y: y(high), ...size, ...look }, text);
  }
  for (const [px, py] of chart.points) add("circle", { cx: x(px), cy: y(py), r: 1.3, class: "value point" });
  const line = (x1, y1, x2, y2, name) => add("line", { x1, y1, x2, y2, class: name });
  line(0, floor, width, floor, "axis");
  for (const [x0, y0, x1, y1] of chart.lines) line(x(x0), y(y0), x(x1), y(y1), "mean");
  for (const mark of chart.marks) {
    line(x(mark), 0, x(mark), floor, "mark");
    add("path", { d: `M${x(mark)} ${floor} l3.5 5 h-7 z`, class: "mark" });
  }
  const host = make("span", "chart");
  const ends = make("span", "ends");
  ends.append(...chart.ends.map((text) => make("bdi", "", text)));
  host.append(drawing, ends);
  return host;
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
function makeNodeReport(tree, node, colors, most, hasChart = false) {
  const parts = [];
  const rule = describeRule(tree, node);
  const heading = make("p", "heading");
  const prediction = tree.equations[node] ?? describeNodePrediction(tree, node);
  heading.append(`#${node} predicts `, make("bdi", "strong", prediction));
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
    if (hasChart && tree.charts[node]) parts.push(makeChart(tree.charts[node], colors, 290, 90));
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
  const note = (text) => list.append(make("li", "note", text));
  const add = (color, text) => {
    const item = make("li");
    const mark = make("i", "mark");
    mark.style.backgroundColor = color;
    item.append(mark, make("bdi", "", text));
    list.append(item);
  };
  if (!tree.target.classes) {
    add(VALUE_COLOR, `Stronger colours: larger values, from ${formatNumber(tree.low)} to ${formatNumber(tree.high)}`);
  } else {
    tree.target.classes[0].forEach((name, i) => add(colors[i], name));
    note("Stronger colours: larger proportions. Wider edges: more rows.");
  }
  if (Object.keys(tree.charts).length) {
    note("Charts: the rows of a node by the column that it tests. Triangles: where the branches part.");
  }
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
