// Tidy drawing of the visible nodes of a tree, by Reingold and Tilford; small subtrees
// between large ones are spread evenly, as Buchheim does.

/** The extent of one side of a subtree on every level; the last one is the top. */
class Outline {
  constructor(reach) {
    this.reach = [reach];
    this.shift = 0;
  }

  get length() {
    return this.reach.length;
  }

  at(level) {
    return this.reach[this.reach.length - 1 - level] + this.shift;
  }

  putAbove(reach) {
    this.reach.push(reach - this.shift);
  }

  /** Replace the top levels by those of another outline. */
  cover(other) {
    if (other.length >= this.length) {
      this.reach = other.reach;
      this.shift = other.shift;
      return;
    }
    for (let level = 0; level < other.length; level++) {
      this.reach[this.reach.length - 1 - level] = other.at(level) - this.shift;
    }
  }
}

/** Subtrees side by side, with the root of the first at 0. */
class Siblings {
  constructor(gap) {
    this.gap = gap;
    this.places = [];
    // Levels and number of those that the right outline shows, the deepest first.
    this.visible = [];
  }

  add(left, right) {
    const number = this.places.length;
    if (number === 0) {
      this.places.push(0);
      this.left = left;
      this.right = right;
      this.visible = [[right.length, 0]];
      return;
    }
    const place = this.pushRight(left, number);
    this.places.push(place);
    left.shift += place;
    right.shift += place;
    if (left.length > this.left.length) {
      left.cover(this.left);
      this.left = left;
    }
    this.right.cover(right);
    while (this.visible.length && this.visible.at(-1)[0] <= right.length) {
      this.visible.pop();
    }
    this.visible.push([right.length, number]);
  }

  /** The leftmost position of the next subtree; those in between are spread. */
  pushRight(left, number) {
    let place = -Infinity;
    let start = 0;
    for (let i = this.visible.length - 1; i >= 0; i--) {
      const [levels, owner] = this.visible[i];
      const before = place;
      const stop = Math.min(levels, left.length);
      for (let level = start; level < stop; level++) {
        place = Math.max(place, this.right.at(level) + this.gap - left.at(level));
      }
      if (before > -Infinity && before < place) {
        const step = (place - before) / (number - owner);
        for (let between = owner + 1; between < number; between++) {
          this.places[between] += step * (between - owner);
        }
      }
      start = stop;
      if (stop === left.length) break;
    }
    return place;
  }
}

/**
 * Place nodes along the axis of the siblings.
 *
 * `visible` lists the nodes with parents before children, `childrenOf` their visible
 * children. Returns the middle of each by its number, with the leftmost edge at 0.
 */
function placeNodes(visible, childrenOf, size, gap) {
  const outlines = new Map();
  const places = new Map();
  for (let i = visible.length - 1; i >= 0; i--) {
    const node = visible[i];
    const children = childrenOf(node);
    if (!children.length) {
      outlines.set(node, [new Outline(-size / 2), new Outline(size / 2)]);
      continue;
    }
    const siblings = new Siblings(gap);
    for (const child of children) {
      siblings.add(...outlines.get(child));
      outlines.delete(child);
    }
    const middle = (siblings.places[0] + siblings.places.at(-1)) / 2;
    children.forEach((child, n) => places.set(child, siblings.places[n] - middle));
    const sides = [[siblings.left, -size / 2], [siblings.right, size / 2]];
    for (const [outline, reach] of sides) {
      outline.shift -= middle;
      outline.putAbove(reach);
    }
    outlines.set(node, [siblings.left, siblings.right]);
  }
  const [left] = outlines.get(visible[0]);
  const start = left.reach.reduce((least, reach) => Math.min(least, reach + left.shift), 0);
  places.set(visible[0], -start);
  for (const node of visible) {
    for (const child of childrenOf(node)) {
      places.set(child, places.get(child) + places.get(node));
    }
  }
  return places;
}
