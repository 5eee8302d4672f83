// The drawing of a tree: edges and small boxes on a canvas, readable boxes as elements.
// Only what is within the view is drawn.

const BOX = { width: 176, height: 58, gap: 10, level: 62 };
let STEP = BOX.height + BOX.level;
// Height of the chart in a box, and of all that belongs to it.
const CHART_HEIGHT = 46;
const CHART_ROOM = 72;
// Minimum scale at which boxes have text.
const READABLE = 0.5;
// Minimum scale at which a node is brought into view.
const COMFORTABLE = 0.8;
const LARGEST_SCALE = 2.5;
// At the start as much of a tree is shown as fits at this scale.
const START = 0.6;
const MOST_ACROSS = 50;
// Maximum number of nodes that are tried below the last level that fits.
const MOST_TRIED = 60;
// Maximum numbers of nodes that a typed row expands, and of names of small squares.
const MOST_EXPANDED = 200;
const MOST_NAMED = 60;
// Free space around a tree that is shown whole.
const MARGIN = 24;
const INK = {
  light: { surface: "#ffffff", edge: "#a3a8ae", dim: "#e4e6e9", lit: "#c02600", selected: "#0b5cad", tint: 0.4 },
  dark: { surface: "#26282c", edge: "#767c84", dim: "#3a3d42", lit: "#ffb454", selected: "#82b8ff", tint: 0.34 },
};
const VALUE_COLOR = "#2171b5";

function readColor(text) {
  return [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16));
}

function mixColors(from, to, part) {
  const [a, b] = [readColor(from), readColor(to)];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * part)).join(" ")})`;
}

/** Make room for charts in the boxes. */
function enlargeBoxes(layer) {
  layer.classList.add("charts");
  BOX.height += CHART_ROOM;
  STEP += CHART_ROOM;
}

/** First index of 0, 1, ..., count - 1 at which an ascending condition holds. */
function findFirst(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Diagram {
  constructor(host, colors) {
    this.host = host;
    this.colors = colors;
    this.canvas = host.querySelector("canvas");
    this.layer = host.querySelector("[role=tree]");
    this.names = host.querySelector("#names");
    this.pen = this.canvas.getContext("2d");
    this.camera = { x: 0, y: 0, scale: 1 };
    this.elements = new Map();
    this.isDark = false;
    this.matches = new Set();
    this.entered = new Map();
    this.resize();
    new ResizeObserver(() => this.resize()).observe(host);
    // A focused element is shown by the camera, not by scrolling.
    host.addEventListener("scroll", () => host.scrollTo(0, 0));
  }

  // ------------------------------------------------------------ what is shown
  setTree(tree) {
    this.tree = tree;
    this.open = new Set();
    this.keep = null;
    this.hides = false;
    this.matches = new Set();
    this.entered = new Map();
    this.expandedByRow = new Set();
    this.selected = 0;
    this.openLevels();
    this.clearElements();
    this.paints = this.paintNodes();
    this.arrange();
    this.fit(START);
  }

  clearElements() {
    this.elements.clear();
    this.layer.replaceChildren();
  }

  /** Expand as many upper levels as fit into the view, and below them large nodes. */
  openLevels() {
    const { tree } = this;
    let level = [0];
    while (level.length) {
      const split = level.filter((node) => !tree.isLeaf(node));
      const next = split.flatMap((node) => tree.childrenOf(node));
      split.forEach((node) => this.open.add(node));
      if (level[0] > 0 && (next.length > MOST_ACROSS || !this.fitsAtStart())) {
        split.forEach((node) => this.open.delete(node));
        break;
      }
      level = next;
    }
    const closed = level.filter((node) => !tree.isLeaf(node));
    for (let tried = 0; tried < MOST_TRIED && closed.length; tried++) {
      closed.sort((a, b) => tree.weight[a] - tree.weight[b] || b - a);
      const node = closed.pop();
      this.open.add(node);
      const children = tree.childrenOf(node);
      if (children.length <= MOST_ACROSS && this.fitsAtStart()) {
        closed.push(...children.filter((child) => !tree.isLeaf(child)));
      } else this.open.delete(node);
    }
  }

  fitsAtStart() {
    this.placeShown();
    const [width, height] = this.width ? [this.width, this.height] : [900, 600];
    const { extent } = this;
    return extent.width * START <= width - 2 * MARGIN && extent.height * START <= height - 2 * MARGIN;
  }

  openAll() {
    for (let node = 0; node < this.tree.count; node++) {
      if (!this.tree.isLeaf(node)) this.open.add(node);
    }
  }

  /** Light the nodes that a row enters; expand them, and nothing for the row before. */
  enter(entered) {
    const { tree } = this;
    this.expandedByRow.forEach((node) => this.open.delete(node));
    const closed = [...entered.keys()]
      .filter((node) => !tree.isLeaf(node) && !this.open.has(node))
      .sort((a, b) => entered.get(b) - entered.get(a) || a - b)
      .slice(0, MOST_EXPANDED);
    const isChanged = closed.length > 0 || this.expandedByRow.size > 0;
    closed.forEach((node) => this.open.add(node));
    this.expandedByRow = new Set(closed);
    this.entered = entered;
    if (isChanged) this.arrange(0);
    if (entered.size) this.showNodes([...entered.keys()]);
  }

  isKept(node) {
    return !this.keep || this.keep[node] === 1;
  }

  /** The children that are drawn. */
  shownChildren(node) {
    if (!this.open.has(node)) return [];
    const children = this.tree.childrenOf(node);
    return this.hides ? children.filter((child) => this.isKept(child)) : children;
  }

  /** Colour of each node: hue by class and strength by its share, or by value. */
  paintNodes() {
    const { tree } = this;
    const paints = [];
    for (let node = 0; node < tree.count; node++) {
      const [shares] = tree.shares(node);
      if (!tree.target.classes) {
        const range = tree.high - tree.low;
        const part = range > 0 ? (shares[0] - tree.low) / range : 0;
        paints.push([VALUE_COLOR, part]);
        continue;
      }
      const [best] = tree.choose([shares]);
      const least = 1 / shares.length;
      const part = shares.length > 1 ? (shares[best] - least) / (1 - least) : 1;
      paints.push([this.colors[best], Math.max(0, Math.min(1, part))]);
    }
    return paints;
  }

  fillOf(node, tint) {
    const [color, part] = this.paints[node];
    return mixColors(this.ink.surface, color, part * tint);
  }

  get ink() {
    return this.isDark ? INK.dark : INK.light;
  }

  // ------------------------------------------------------------------- layout
  placeShown() {
    const shown = [0];
    this.shownOf = new Map();
    for (let i = 0; i < shown.length; i++) {
      const children = this.shownChildren(shown[i]);
      this.shownOf.set(shown[i], children);
      shown.push(...children);
    }
    const size = BOX.width;
    this.places = placeNodes(shown, (node) => this.shownOf.get(node), size, BOX.gap);
    this.rows = [];
    for (const node of shown) (this.rows[this.tree.depth[node]] ??= []).push(node);
    this.extent = { width: 0, height: this.rows.length * STEP - BOX.level };
    for (const row of this.rows) {
      const right = this.places.get(row.at(-1)) + size / 2;
      this.extent.width = Math.max(this.extent.width, right);
    }
  }

  /** Place the shown nodes; a given node keeps its place in the view. */
  arrange(fixed = null) {
    const before = fixed === null ? null : this.places?.get(fixed);
    this.placeShown();
    this.rankNodes();
    if (before !== undefined && before !== null) {
      this.camera.x += (before - this.places.get(fixed)) * this.camera.scale;
    }
    this.fills = null;
    this.refresh();
  }

  /** Number the shown nodes in the order in which the keyboard passes them. */
  rankNodes() {
    this.order = [];
    this.ranks = new Map();
    const stack = [0];
    while (stack.length) {
      const node = stack.pop();
      this.ranks.set(node, this.order.push(node) - 1);
      stack.push(...this.shownOf.get(node).toReversed());
    }
    for (const [node, element] of this.elements) {
      if (this.ranks.has(node)) continue;
      element.remove();
      this.elements.delete(node);
    }
  }

  // ------------------------------------------------------------------- camera
  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const wasHidden = !this.width;
    [this.width, this.height] = [width, height];
    if (wasHidden && this.tree) this.fit(START);
    this.draw();
  }

  /** Show the whole tree; or, above a least scale, its root. */
  fit(least = 0) {
    if (!this.width) return;
    const across = (this.width - 2 * MARGIN) / this.extent.width;
    const along = (this.height - 2 * MARGIN) / this.extent.height;
    const whole = Math.min(1, across, along);
    const scale = Math.max(whole, least);
    const middle = scale > across ? this.places.get(0) : this.extent.width / 2;
    this.limitScales();
    const free = (this.height - this.extent.height * this.scaleDown(scale)) / 2;
    this.moveTo({ x: this.width / 2 - middle * scale, y: Math.max(MARGIN, free), scale });
  }

  /** Choose the least scale, at which the whole tree is shown, and its stretching. */
  limitScales() {
    const across = (this.width - 2 * MARGIN) / this.extent.width;
    const along = (this.height - 2 * MARGIN) / this.extent.height;
    const whole = Math.min(1, across, along);
    this.smallestScale = Math.min(whole, READABLE) * 0.7;
    this.flatness = 0;
    if (across < READABLE) {
      const wanted = Math.min(along, READABLE) / across;
      this.flatness = Math.max(0, Math.log(wanted) / Math.log(READABLE / across));
    }
  }

  /** Bring several nodes into the view, at a readable size if they fit. */
  showNodes(nodes) {
    if (!this.width) return;
    const shown = nodes.filter((node) => this.ranks.has(node));
    const places = shown.map((node) => this.places.get(node));
    const depths = shown.map((node) => this.tree.depth[node]);
    const left = Math.min(...places) - BOX.width / 2;
    const right = Math.max(...places) + BOX.width / 2;
    const top = Math.min(...depths) * STEP;
    const bottom = Math.max(...depths) * STEP + BOX.height + 24;
    const { camera, width, height } = this;
    const isWithin = (x, y, scale) =>
      x + left * scale >= 0 &&
      x + right * scale <= width &&
      y + top * this.scaleDown(scale) >= 0 &&
      y + bottom * this.scaleDown(scale) <= height;
    if (this.isReadable && isWithin(camera.x, camera.y, camera.scale)) return;
    this.limitScales();
    let scale = Math.min(1, Math.max(camera.scale, COMFORTABLE));
    const fits = () =>
      (right - left) * scale <= width - 2 * MARGIN &&
      (bottom - top) * this.scaleDown(scale) <= height - 2 * MARGIN;
    while (scale > this.smallestScale && !fits()) scale *= 0.95;
    const middle = ((left + right) / 2) * scale;
    const center = ((top + bottom) / 2) * this.scaleDown(scale);
    this.moveTo({ x: width / 2 - middle, y: height / 2 - center, scale });
  }

  /** The vertical scale: wide trees are stretched where boxes are not readable. */
  scaleDown(scale = this.camera.scale) {
    return scale < READABLE ? scale * (READABLE / scale) ** this.flatness : scale;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const { camera } = this;
    const least = this.smallestScale ?? 0.01;
    const scale = Math.min(LARGEST_SCALE, Math.max(least, camera.scale * factor));
    camera.x = x - (x - camera.x) * (scale / camera.scale);
    camera.y = y - (y - camera.y) * (this.scaleDown(scale) / this.scaleDown());
    camera.scale = scale;
    this.draw();
  }

  pan(dx, dy) {
    this.camera.x += dx;
    this.camera.y += dy;
    this.draw();
  }

  /** Move the camera, in a few steps unless the reader prefers no motion. */
  moveTo(target) {
    cancelAnimationFrame(this.flight);
    const start = { ...this.camera };
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isStill || !this.hasDrawn) {
      Object.assign(this.camera, target);
      this.draw();
      return;
    }
    const begin = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - begin) / 180));
      const eased = 1 - (1 - part) ** 3;
      for (const key of ["x", "y", "scale"]) {
        this.camera[key] = start[key] + (target[key] - start[key]) * eased;
      }
      this.draw();
      if (part < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  /** Bring a node into the view at a readable size, and move as little as possible. */
  reveal(node) {
    const path = this.tree.pathTo(node).slice(0, -1);
    const closed = path.filter((ancestor) => !this.open.has(ancestor));
    closed.forEach((ancestor) => this.open.add(ancestor));
    if (closed.length || !this.ranks.has(node)) this.arrange(path.find((n) => this.ranks.has(n)));
    const scale = Math.max(this.camera.scale, COMFORTABLE);
    const change = [scale / this.camera.scale, scale / this.scaleDown()];
    const [x, y] = [this.places.get(node) * scale, this.tree.depth[node] * STEP * scale];
    const [halfWidth, height] = [(BOX.width / 2) * scale, (BOX.height + 24) * scale];
    const middle = { x: this.width / 2, y: this.height / 2 };
    const target = {
      x: middle.x - (middle.x - this.camera.x) * change[0],
      y: middle.y - (middle.y - this.camera.y) * change[1],
      scale,
    };
    const clamp = (value, least, most) => Math.max(least, Math.min(Math.max(least, most), value));
    target.x = clamp(target.x + x, halfWidth + 8, this.width - halfWidth - 8) - x;
    target.y = clamp(target.y + y, 32, this.height - height - 8) - y;
    this.moveTo(target);
  }

  /** The shown node at a place of the view, or null. */
  findNode(x, y) {
    const { camera } = this;
    const across = (x - camera.x) / camera.scale;
    const along = (y - camera.y) / this.scaleDown();
    const level = Math.floor((along + BOX.level / 2) / STEP);
    const row = this.rows[level];
    if (!row) return null;
    const from = across - BOX.width / 2;
    const place = findFirst(row.length, (i) => this.places.get(row[i]) >= from);
    if (place === row.length || this.places.get(row[place]) > across + BOX.width / 2) return null;
    const offset = along - level * STEP;
    const isButton = offset > BOX.height - 4 && offset < BOX.height + 24;
    if (offset < -22 || offset > BOX.height + 24) return null;
    return { node: row[place], isButton: isButton && !this.tree.isLeaf(row[place]) };
  }

  // ------------------------------------------------------------------ drawing
  draw() {
    if (this.pending || !this.tree) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      this.paint();
    });
  }

  paint() {
    if (!this.width) return;
    this.hasDrawn = true;
    this.isReadable = this.camera.scale >= READABLE;
    const { camera, pen } = this;
    const ratio = this.canvas.width / this.width;
    pen.resetTransform();
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const [across, along] = [camera.scale, this.scaleDown()];
    this.transform = [across * ratio, 0, 0, along * ratio, camera.x * ratio, camera.y * ratio];
    const [left, top] = [-camera.x / across, -camera.y / along];
    const [right, bottom] = [left + this.width / across, top + this.height / along];
    const first = Math.max(0, Math.floor(top / STEP));
    const last = Math.min(this.rows.length - 1, Math.ceil(bottom / STEP));
    this.drawEdges(Math.max(1, first), Math.min(this.rows.length - 1, last + 1), left, right);
    const wanted = new Set([this.selected]);
    for (let level = first; level <= last; level++) {
      const row = this.rows[level];
      const margin = BOX.width / 2;
      const start = findFirst(row.length, (i) => this.places.get(row[i]) >= left - margin);
      const stop = findFirst(row.length, (i) => this.places.get(row[i]) > right + margin);
      if (this.isReadable) for (let i = start; i < stop; i++) wanted.add(row[i]);
      else this.drawBoxes(row, start, stop, level * STEP);
    }
    if (!this.isReadable) this.drawSelected();
    this.placeElements(wanted);
    this.nameSquares();
  }

  /** Edges to the nodes of some levels; on a level they are in order on both ends. */
  drawEdges(first, last, left, right) {
    const { pen, tree, places } = this;
    const buckets = new Map();
    for (let level = first; level <= last; level++) {
      const row = this.rows[level];
      const ends = (i) => [places.get(row[i]), places.get(tree.parent[row[i]])];
      const start = findFirst(row.length, (i) => Math.max(...ends(i)) >= left);
      const stop = findFirst(row.length, (i) => Math.min(...ends(i)) > right);
      for (let i = start; i < stop; i++) this.sortEdge(buckets, row[i]);
    }
    for (const key of [...buckets.keys()].sort()) {
      const { color, width, nodes } = buckets.get(key);
      const most = this.isReadable ? this.camera.scale : 0.4;
      this.stroke(color, width * most, () => nodes.forEach((node) => this.traceEdge(node)));
    }
  }

  /** Draw lines whose width, in pixels of the page, is not stretched with the tree. */
  stroke(color, width, trace) {
    const { pen } = this;
    pen.setTransform(...this.transform);
    pen.beginPath();
    trace();
    pen.resetTransform();
    pen.strokeStyle = color;
    pen.lineWidth = (width * this.canvas.width) / this.width;
    pen.stroke();
  }

  /** Collect edges of equal colour and width; those drawn last have the largest key. */
  sortEdge(buckets, node) {
    const { tree, ink } = this;
    const share = this.entered.get(node);
    const part = Math.sqrt(share ?? tree.weight[node] / (tree.weight[0] || 1));
    const step = Math.round(3 * part);
    const kind = share !== undefined ? 2 : this.isKept(node) ? 1 : 0;
    const key = `${kind}${step}`;
    if (!buckets.has(key)) {
      const color = [ink.dim, ink.edge, ink.lit][kind];
      buckets.set(key, { color, width: 1 + step + (kind === 2 ? 1.5 : 0), nodes: [] });
    }
    buckets.get(key).nodes.push(node);
  }

  traceEdge(node) {
    const parent = this.tree.parent[node];
    const [x0, x1] = [this.places.get(parent), this.places.get(node)];
    const y1 = this.tree.depth[node] * STEP;
    const y0 = y1 - BOX.level;
    this.pen.moveTo(x0, y0);
    if (this.isReadable) {
      const middle = y0 + BOX.level * 0.5;
      this.pen.bezierCurveTo(x0, middle, x1, middle - 8, x1, y1);
    } else this.pen.lineTo(x1, y1);
  }

  drawBoxes(row, start, stop, y) {
    const { pen, ink } = this;
    this.fills ??= this.paints.map((_, node) => this.fillOf(node, 0.85));
    pen.setTransform(...this.transform);
    const marked = [];
    for (let i = start; i < stop; i++) {
      const node = row[i];
      const x = this.places.get(node) - BOX.width / 2;
      pen.fillStyle = this.isKept(node) ? this.fills[node] : ink.dim;
      pen.fillRect(x, y, BOX.width, BOX.height);
      if (this.matches.has(node) || this.entered.has(node)) marked.push(x);
      if (!this.open.has(node) && !this.tree.isLeaf(node)) {
        pen.fillStyle = ink.edge;
        pen.fillRect(x + BOX.width / 2 - 12, y + BOX.height + 4, 24, 8);
      }
    }
    this.stroke(ink.lit, 2, () => marked.forEach((x) => pen.rect(x, y, BOX.width, BOX.height)));
  }

  /** Mark the selected node where it has no readable box. */
  drawSelected() {
    const { camera, pen, selected } = this;
    const x = camera.x + this.places.get(selected) * camera.scale;
    const y = camera.y + (this.tree.depth[selected] * STEP + BOX.height / 2) * this.scaleDown();
    const ratio = this.canvas.width / this.width;
    this.stroke(this.ink.selected, 3, () => {
      pen.resetTransform();
      pen.arc(x * ratio, y * ratio, 8 * ratio, 0, 2 * Math.PI);
    });
  }

  /** Write conditions beside the nodes that a row enters where boxes are not readable. */
  nameSquares() {
    const { camera, entered, places, tree } = this;
    const written = [];
    const nodes = this.isReadable ? [] : [...entered.keys()].filter((node) => this.ranks.has(node));
    // The ends first, then from the root.
    const isEnd = (node) => !tree.childrenOf(node).some((child) => entered.has(child));
    nodes.sort((a, b) => isEnd(b) - isEnd(a) || entered.get(b) - entered.get(a) || a - b);
    const names = [];
    for (const node of nodes) {
      const x = camera.x + (places.get(node) + BOX.width / 2) * camera.scale + 6;
      const y = camera.y + (tree.depth[node] * STEP + BOX.height / 2) * this.scaleDown();
      if (x < 0 || x > this.width || y < 0 || y > this.height) continue;
      if (written.some(([a, b]) => Math.abs(b - y) < 17 && Math.abs(a - x) < 200)) continue;
      written.push([x, y]);
      const text = node ? describeCondition(tree, node) : describeSize(tree, 0);
      const end = isEnd(node) ? ` \u2192 ${describeNodePrediction(tree, node)}` : "";
      const name = make("bdi", "", text + end);
      name.dataset.node = node;
      name.style.transform = `translate(${x}px, ${y}px) translateY(-50%)`;
      names.push(name);
      if (names.length === MOST_NAMED) break;
    }
    this.names.replaceChildren(...names);
  }

  // ----------------------------------------------------------------- elements
  placeElements(wanted) {
    const { camera } = this;
    const scale = `scale(${camera.scale}, ${this.scaleDown()})`;
    this.layer.style.transform = `translate(${camera.x}px, ${camera.y}px) ${scale}`;
    for (const [node, element] of this.elements) {
      if (wanted.has(node)) continue;
      element.remove();
      this.elements.delete(node);
    }
    for (const node of wanted) {
      if (this.elements.has(node)) continue;
      const element = makeBox(this, node);
      const rank = this.ranks.get(node);
      const { children } = this.layer;
      const after = findFirst(children.length, (i) => this.ranks.get(Number(children[i].dataset.node)) > rank);
      this.layer.insertBefore(element, children[after] ?? null);
      this.elements.set(node, element);
      updateBox(this, node, element);
    }
  }

  /** Write all elements again after a change of the state. */
  refresh() {
    for (const [node, element] of this.elements) updateBox(this, node, element);
    this.draw();
  }
}
