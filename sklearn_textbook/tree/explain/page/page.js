// Connects the parts: the state of the page, pointer and keyboard.

const at = (id) => document.getElementById(id);
const page = JSON.parse(at("data").textContent);
const trees = page.trees.map((_, number) => new Tree(page, number));
if (trees.some((tree) => Object.keys(tree.charts).length)) enlargeBoxes(at("nodes"));
const diagram = new Diagram(at("diagram"), page.colors);
const form = new RowForm(page, at("row"), routeRow);
let found = [];
let foundPlace = -1;

// ----------------------------------------------------------------- selection
function chooseTree(number) {
  diagram.setTree(trees[number]);
  at("summary").textContent = describePage(page, trees[number]);
  [...at("trees").children].forEach((item, i) => {
    item.firstChild.setAttribute("aria-current", i === number);
  });
  listClasses(trees[number], at("wanted"));
  makeLegend(trees[number], at("legend"), page.colors);
  filter();
  select(0);
  search();
  routeRow();
}

function select(node, { focus = false, reveal = false } = {}) {
  const before = diagram.selected;
  diagram.selected = node;
  if (reveal && diagram.hides && !diagram.isKept(node)) {
    at("hide").checked = false;
    filter();
  }
  if (reveal) diagram.reveal(node);
  at("node").replaceChildren(...makeNodeReport(diagram.tree, node, page.colors, 10, true));
  for (const changed of [before, node]) {
    const element = diagram.elements.get(changed);
    if (element) updateBox(diagram, changed, element);
  }
  if (focus) {
    // The element may be new.
    diagram.paint();
    diagram.elements.get(node).focus({ preventScroll: true });
  }
  diagram.draw();
}

function toggle(node) {
  if (diagram.tree.isLeaf(node)) return;
  if (!diagram.open.delete(node)) diagram.open.add(node);
  diagram.expandedByRow.delete(node);
  // The selected node may be no longer shown.
  diagram.arrange(node);
  if (!diagram.ranks.has(diagram.selected)) select(node, { focus: hasFocus() });
}

function hasFocus() {
  return at("nodes").contains(document.activeElement) || document.activeElement === document.body;
}

function openAll() {
  diagram.openAll();
  diagram.arrange();
  diagram.fit();
}

function closeAll() {
  diagram.open.clear();
  diagram.arrange();
  select(0);
  diagram.fit();
}

// ------------------------------------------------------------ search and filter
function search() {
  found = findNodes(diagram.tree, at("query").value);
  foundPlace = -1;
  diagram.matches = new Set(found);
  const isAsked = at("query").value.trim() !== "";
  at("found").textContent = isAsked ? `${found.length.toLocaleString("en")} found` : "";
  diagram.refresh();
}

function showFound(step) {
  if (!found.length) return;
  const start = foundPlace < 0 && step < 0 ? 0 : foundPlace;
  foundPlace = (start + step + found.length) % found.length;
  at("found").textContent = `${foundPlace + 1} of ${found.length.toLocaleString("en")}`;
  select(found[foundPlace], { reveal: true });
}

function filter() {
  const { tree } = diagram;
  const wanted = at("wanted").value ? at("wanted").value.split(",").map(Number) : null;
  const least = Number(at("least").value);
  at("least").setAttribute("aria-invalid", Number.isNaN(least));
  diagram.keep = markKept(tree, wanted, least);
  diagram.hides = at("hide").checked && diagram.keep !== null;
  at("empty").hidden = diagram.isKept(0);
  diagram.arrange(0);
  if (!diagram.ranks.has(diagram.selected)) select(0);
}

// ----------------------------------------------------------------------- row
function routeRow() {
  const row = form.read();
  const isAsked = form.isFilled;
  let entered = new Map();
  if (!row) {
    at("result").replaceChildren(make("p", "problem", "The value in a marked field is not valid for its column."));
  } else if (!isAsked) at("result").replaceChildren();
  else {
    const outcome = diagram.tree.route(row);
    entered = outcome.entered;
    const show = (node) => select(node, { focus: true, reveal: true });
    showResult(diagram.tree, outcome, row, at("result"), page.colors, show);
  }
  diagram.enter(entered);
  if (!diagram.ranks.has(diagram.selected)) select(0);
  if (trees.length > 1) showVotes(page, trees, isAsked && row, at("trees"), at("vote"));
  diagram.refresh();
}

// --------------------------------------------------------------------- theme
const darkScheme = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = document.documentElement.dataset.theme;
  diagram.isDark = chosen ? chosen === "dark" : darkScheme.matches;
  at("theme").textContent = diagram.isDark ? "Light" : "Dark";
  at("theme").title = `Switch to ${diagram.isDark ? "light" : "dark"} colours`;
  diagram.fills = null;
  if (diagram.tree) diagram.refresh();
}

function switchTheme() {
  document.documentElement.dataset.theme = diagram.isDark ? "light" : "dark";
  applyTheme();
}

// ------------------------------------------------------------------ keyboard
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const node = diagram.selected;
  const { tree, order, ranks } = diagram;
  const go = (target) => target >= 0 && select(target, { focus: true, reveal: true });
  const actions = {
    ArrowDown: () => go(order[ranks.get(node) + 1] ?? node),
    ArrowUp: () => go(order[ranks.get(node) - 1] ?? node),
    ArrowRight() {
      if (tree.isLeaf(node)) return;
      if (diagram.open.has(node)) go(diagram.shownOf.get(node)[0] ?? node);
      else toggle(node);
    },
    ArrowLeft() {
      if (diagram.open.has(node)) toggle(node);
      else go(tree.parent[node]);
    },
    Home: () => go(0),
    End: () => go(order.at(-1)),
    Enter: () => toggle(node),
    " ": () => toggle(node),
    "+": () => diagram.zoom(1.25),
    "=": () => diagram.zoom(1.25),
    "-": () => diagram.zoom(0.8),
    0: () => diagram.fit(),
    "/": () => at("query").focus(),
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

// ------------------------------------------------------------------- pointer
const pointers = new Map();
let hasMoved = false;

function placeOf(event) {
  const { left, top } = at("diagram").getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

function onDown(event) {
  if (event.button) return;
  pointers.set(event.pointerId, placeOf(event));
  if (pointers.size === 1) hasMoved = false;
}

function onMove(event) {
  const before = pointers.get(event.pointerId);
  const now = placeOf(event);
  if (!before) {
    if (event.pointerType === "mouse") showTip(...now);
    return;
  }
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  if (!hasMoved && Math.hypot(dx, dy) < 4) return;
  if (!hasMoved) at("diagram").setPointerCapture(event.pointerId);
  hasMoved = true;
  at("tip").hidden = true;
  pointers.set(event.pointerId, now);
  if (pointers.size === 1) diagram.pan(dx, dy);
  else {
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const distance = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]);
    diagram.pan(dx / 2, dy / 2);
    diagram.zoom(distance(now) / Math.max(1, distance(before)), ...other);
  }
}

function onUp(event) {
  const isClick = pointers.delete(event.pointerId) && !hasMoved && event.type === "pointerup";
  const hit = isClick && diagram.findNode(...placeOf(event));
  if (!hit) return;
  select(hit.node, { focus: true });
  if (hit.isButton) toggle(hit.node);
}

let tipNode = null;

function showTip(x, y) {
  const tip = at("tip");
  const hit = diagram.findNode(x, y);
  tip.hidden = !hit;
  if (!hit) return;
  if (tipNode !== hit.node) tip.replaceChildren(...makeNodeReport(diagram.tree, hit.node, page.colors, 5));
  tipNode = hit.node;
  const isRight = x + 16 + tip.offsetWidth < diagram.width;
  tip.style.left = `${Math.max(4, isRight ? x + 16 : x - 16 - tip.offsetWidth)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 12, diagram.height - tip.offsetHeight - 4))}px`;
}

function hideTip() {
  at("tip").hidden = true;
  tipNode = null;
}

// --------------------------------------------------------------------- start
function listen() {
  const host = at("diagram");
  // The start of a drag selects neither text nor a box.
  host.addEventListener("mousedown", (event) => event.preventDefault());
  host.addEventListener("pointerdown", onDown);
  host.addEventListener("pointermove", onMove);
  host.addEventListener("pointerup", onUp);
  host.addEventListener("pointercancel", onUp);
  host.addEventListener("pointerleave", hideTip);
  host.addEventListener("dblclick", (event) => {
    const hit = diagram.findNode(...placeOf(event));
    if (hit && !hit.isButton) toggle(hit.node);
  });
  const onWheel = (event) => {
    event.preventDefault();
    hideTip();
    const unit = event.deltaMode === 1 ? 16 : 1;
    diagram.zoom(Math.exp(-event.deltaY * unit * 0.0016), ...placeOf(event));
  };
  host.addEventListener("wheel", onWheel, { passive: false });
  at("nodes").addEventListener("keydown", onKey);
  at("query").addEventListener("input", search);
  at("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter") showFound(event.shiftKey ? -1 : 1);
  });
  const clicks = {
    next: () => showFound(1),
    previous: () => showFound(-1),
    "open-all": openAll,
    "close-all": closeAll,
    larger: () => diagram.zoom(1.25),
    smaller: () => diagram.zoom(0.8),
    fit: () => diagram.fit(),
    theme: switchTheme,
    clear() {
      form.clear();
      routeRow();
    },
  };
  for (const [id, action] of Object.entries(clicks)) at(id).addEventListener("click", action);
  for (const id of ["wanted", "least", "hide"]) onEntry(at(id), filter);
  darkScheme.addEventListener("change", applyTheme);
}

at("title").textContent = page.title;
at("row-part").hidden = form.fields.size === 0;
if (trees.length > 1) {
  at("trees-part").hidden = false;
  makeTreeList(page, at("trees"), chooseTree);
}
listen();
applyTheme();
chooseTree(0);
