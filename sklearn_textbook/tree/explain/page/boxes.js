// Readable boxes of nodes, which the keyboard and screen readers reach.

/** Make the box of a node, with what never changes. */
function makeBox(diagram, node) {
  const { tree, colors } = diagram;
  const element = make("div", "node");
  element.dataset.node = node;
  element.id = `node-${node}`;
  element.setAttribute("role", "treeitem");
  const test = describeTest(tree, node);
  const text = describeNodePrediction(tree, node);
  const shares = tree.shares(node);
  let notes = describeWeight(tree, node);
  if (test) notes = `${text} · ${notes}`;
  else if (tree.target.classes && shares.length === 1) {
    notes = `${formatShare(shares[0][tree.choose(shares)[0]])} of ${notes}`;
  }
  const edge = make("span", "edge");
  edge.append(make("bdi", "", node ? tree.labels[node] : ""), make("b", "part"));
  element.append(edge, make("bdi", "test", test ?? text), make("bdi", "size", notes));
  element.classList.toggle("leaf", !test);
  if (tree.charts[node]) element.append(makeChart(tree.charts[node], colors, BOX.width - 20, CHART_HEIGHT));
  const isClass = Boolean(tree.target.classes);
  element.append(isClass ? makeBar(shares[0], colors) : makeGauge(diagram.paints[node]));
  if (!tree.isLeaf(node)) element.append(make("span", "more"));
  else if (tree.cut[node]) element.append(make("span", "more cut", `+${tree.cut[node]} left out`));
  return element;
}

/** Write what changes: place, state and the words of a screen reader. */
function updateBox(diagram, node, element) {
  const { tree, entered, matches, open, selected } = diagram;
  const x = diagram.places.get(node) - BOX.width / 2;
  element.style.transform = `translate(${x}px, ${tree.depth[node] * STEP}px)`;
  element.style.backgroundColor = diagram.fillOf(node, diagram.ink.tint);
  const share = entered.get(node);
  element.classList.toggle("lit", share !== undefined);
  element.classList.toggle("dim", !diagram.isKept(node));
  element.classList.toggle("match", matches.has(node));
  element.querySelector(".part").textContent = share < 1 ? formatShare(share) : "";
  element.tabIndex = node === selected ? 0 : -1;
  const siblings = node ? diagram.shownOf.get(tree.parent[node]) : [0];
  const words = [
    node ? describeCondition(tree, node) : "Root",
    tree.isLeaf(node) ? "" : `tests ${describeTest(tree, node)}`,
    `predicts ${describeNodePrediction(tree, node)}`,
    describeSize(tree, node),
    share === undefined ? "" : `entered by ${formatShare(share)} of the row`,
    matches.has(node) ? "found" : "",
  ];
  const attributes = {
    "aria-label": words.filter(Boolean).join("; "),
    "aria-level": tree.depth[node] + 1,
    "aria-setsize": siblings.length,
    "aria-posinset": siblings.indexOf(node) + 1,
    "aria-selected": node === selected,
  };
  if (!tree.isLeaf(node)) {
    attributes["aria-expanded"] = open.has(node);
    const more = element.querySelector(".more");
    more.textContent = open.has(node) ? "\u2212" : `+${tree.below[node].toLocaleString("en")}`;
    more.title = open.has(node) ? "Collapse" : `Expand: ${tree.below[node]} nodes below`;
  }
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
