// Search of nodes by words, and the filter of leaves.

/** Numbers of the nodes that match a text: a column, level, class, bound or #number. */
function findNodes(tree, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const number = /^#(\d+)$/.exec(wanted);
  if (number) return Number(number[1]) < tree.count ? [Number(number[1])] : [];
  const codes = findCodes(tree, wanted);
  const has = (words) => words.toLowerCase().includes(wanted);
  const found = [];
  for (let node = 0; node < tree.count; node++) {
    const test = describeTest(tree, node);
    const fits =
      (test && has(test)) ||
      (tree.isLeaf(node) && has(describeNodePrediction(tree, node))) ||
      (node > 0 && (has(tree.labels[node]) || hasLevel(tree, node, codes)));
    if (fits) found.push(node);
  }
  return found;
}

/** Codes of the levels of each column that contain a text. */
function findCodes(tree, wanted) {
  return tree.columns.map((column) => {
    const codes = new Set();
    column.levels?.forEach((level, code) => {
      if (level.toLowerCase().includes(wanted)) codes.add(code);
    });
    return codes;
  });
}

/** Whether a branch is taken by one of some levels; labels do not name all of them. */
function hasLevel(tree, node, codes) {
  const parent = tree.parent[node];
  const groups = tree.levels[parent];
  const wanted = groups && codes[tree.feature[parent]];
  if (!wanted?.size) return false;
  return (groups[node - tree.first[parent]] ?? []).some((code) => wanted.has(code));
}

/**
 * Mark the nodes that lead to leaves of a class, and have at least a weight.
 *
 * `wanted` is [output, class] or null. Returns null if every node is marked.
 */
function markKept(tree, wanted, least) {
  if (!wanted && !(least > 0)) return null;
  const keep = new Uint8Array(tree.count);
  for (let node = tree.count - 1; node >= 0; node--) {
    if (tree.isLeaf(node)) {
      const fits = !wanted || tree.choose(tree.shares(node))[wanted[0]] === wanted[1];
      keep[node] = Number(fits);
    } else keep[node] = Number(tree.childrenOf(node).some((child) => keep[child]));
  }
  // Children weigh no more than their parent.
  for (let node = 0; node < tree.count; node++) {
    if (tree.weight[node] < (least || 0)) keep[node] = 0;
  }
  return keep;
}

/** Fill the choice of classes. */
function listClasses(tree, choice) {
  choice.hidden = !tree.target.classes;
  choice.replaceChildren(new Option("All classes", ""));
  (tree.target.classes ?? []).forEach((names, output, all) => {
    const prefix = all.length > 1 ? `Output ${output}: ` : "";
    names.forEach((name, i) => choice.add(new Option(prefix + name, `${output},${i}`)));
  });
}
