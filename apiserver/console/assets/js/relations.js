/** relations: the owners and the dependents of an object as a graph. */
import { fill, h, svg, tone } from "./dom.js";
import { METADATA_LIST, each, get, kindOf, kinds, pathOf } from "./api.js";
import { objectLink } from "./shell.js";

const LANES = 3;
const MOST = 8;
const MOST_READ = 2000;
const MOST_BOXES = 200;
const PAGE = 500;
const WIDTH = 220;
const HEIGHT = 46;
const GAP_X = 70;
const GAP_Y = 12;
/** Kinds that own others, or are owned, in a usual cluster. Kinds of custom resources are looked at, too. */
const USUAL = new Set([
  "replicasets",
  "pods",
  "jobs",
  "controllerrevisions",
  "endpointslices",
  "persistentvolumeclaims",
  "deployments",
  "statefulsets",
  "daemonsets",
  "services",
  "configmaps",
  "secrets",
  "leases",
  "ingresses",
]);

/** @typedef {{uid: string, kind: string, name: string, link: string, state: string, column: number, from: string[], more: number}} Box */

/** The graph of one object. */
export class Relations {
  /**
   * @param {import("./api.js").Kind} kind
   * @param {any} object
   */
  constructor(kind, object) {
    this.kind = kind;
    this.object = object;
    this.stop = new AbortController();
    /** @type {Map<string, Box>} */
    this.boxes = new Map();
    this.picture = h("div", { class: "graph" });
    this.state = h("p", { class: "quiet", role: "status" }, "Looking for owners and dependents …");
    this.element = h("div", { class: "relations" }, this.state, this.picture);
    this.load().catch((error) => {
      if (!this.stop.signal.aborted) fill(this.state, error.message);
    });
  }

  close() {
    this.stop.abort();
  }

  async load() {
    const { metadata } = this.object;
    this.put({
      uid: metadata.uid,
      kind: this.kind.kind,
      name: metadata.name,
      link: "",
      state: stateOf(this.object),
      column: 0,
      from: [],
      more: 0,
    });
    this.draw();
    await this.owners(this.object, -1);
    await this.dependents();
    const others = this.boxes.size - 1;
    fill(
      this.state,
      others
        ? `${others} related ${others === 1 ? "object" : "objects"}, by metadata.ownerReferences.`
        : "Nothing owns this object, and it owns nothing.",
    );
  }

  /** @param {Box} box */
  put(box) {
    const known = this.boxes.get(box.uid);
    if (known) known.from.push(...box.from.filter((one) => !known.from.includes(one)));
    else this.boxes.set(box.uid, box);
  }

  /**
   * @param {any} object
   * @param {number} column
   */
  async owners(object, column) {
    for (const reference of object.metadata.ownerReferences ?? []) {
      if (this.boxes.size >= MOST_BOXES) return;
      const isKnown = this.boxes.has(reference.uid);
      const kind = await kindOf(reference.apiVersion, reference.kind);
      const namespace = kind?.namespaced ? this.object.metadata.namespace : "";
      const owner =
        kind && (await get(pathOf(kind, namespace, reference.name), { signal: this.stop.signal }).catch(() => null));
      const isThere = owner?.metadata.uid === reference.uid;
      this.put({
        uid: reference.uid,
        kind: reference.kind,
        name: reference.name,
        link: isThere && kind ? objectLink(kind, namespace, reference.name) : "",
        state: isThere ? stateOf(owner) : "gone",
        column,
        from: [],
        more: 0,
      });
      this.boxes.get(object.metadata.uid)?.from.push(reference.uid);
      this.draw();
      if (isThere && !isKnown) await this.owners(owner, column - 1);
    }
  }

  async dependents() {
    const { namespace } = this.object.metadata;
    const all = await kinds();
    const candidates = all.filter(
      (kind) =>
        (namespace ? kind.namespaced : true) &&
        (USUAL.has(kind.resource) || (kind.group.includes(".") && !kind.group.endsWith(".k8s.io"))),
    );
    /** @type {Map<string, {kind: import("./api.js").Kind, one: any}[]>} */
    const owned = new Map();
    await each(candidates, LANES, async (kind) => {
      let next = "";
      let read = 0;
      do {
        const found = await get(
          `${pathOf(kind, namespace)}?limit=${PAGE}${next ? `&continue=${encodeURIComponent(next)}` : ""}`,
          { accept: METADATA_LIST, signal: this.stop.signal },
        ).catch(() => ({ items: [] }));
        for (const one of found.items ?? [])
          for (const reference of one.metadata.ownerReferences ?? []) {
            if (!owned.has(reference.uid)) owned.set(reference.uid, []);
            owned.get(reference.uid)?.push({ kind, one });
          }
        read += (found.items ?? []).length;
        next = read < MOST_READ ? (found.metadata?.continue ?? "") : "";
      } while (next);
    });
    this.addDependents(this.object.metadata.uid, 1, owned);
    this.draw();
    await this.readStates();
  }

  /**
   * @param {string} uid
   * @param {number} column
   * @param {Map<string, {kind: import("./api.js").Kind, one: any}[]>} owned
   */
  addDependents(uid, column, owned) {
    const found = owned.get(uid) ?? [];
    for (const { kind, one } of found.slice(0, MOST)) {
      if (this.boxes.has(one.metadata.uid) || this.boxes.size >= MOST_BOXES) continue;
      this.put({
        uid: one.metadata.uid,
        kind: kind.kind,
        name: one.metadata.name,
        link: objectLink(kind, one.metadata.namespace, one.metadata.name),
        state: "?",
        column,
        from: [uid],
        more: 0,
      });
      this.addDependents(one.metadata.uid, column + 1, owned);
    }
    if (found.length > MOST)
      this.put({
        uid: `${uid}/more`,
        kind: "",
        name: `${found.length - MOST} more`,
        link: "",
        state: "",
        column,
        from: [uid],
        more: found.length - MOST,
      });
  }

  async readStates() {
    await each(
      [...this.boxes.values()].filter((box) => box.state === "?"),
      LANES,
      async (box) => {
        const [group, version, resource, namespace, name] = box.link.slice(4).split("/").map(decodeURIComponent);
        const kind = { group: group === "core" ? "" : group, version, resource, namespaced: namespace !== "_" };
        const object = await get(pathOf(kind, namespace === "_" ? "" : namespace, name), {
          signal: this.stop.signal,
        }).catch(() => null);
        box.state = object ? stateOf(object) : "";
        this.draw();
      },
    );
  }

  draw() {
    if (this.stop.signal.aborted) return;
    const columns = new Map();
    for (const box of this.boxes.values()) columns.set(box.column, [...(columns.get(box.column) ?? []), box]);
    const order = [...columns.keys()].sort((a, b) => a - b);
    const tallest = Math.max(...[...columns.values()].map((list) => list.length));
    const height = tallest * (HEIGHT + GAP_Y) + GAP_Y;
    const width = order.length * (WIDTH + GAP_X) - GAP_X + 2;
    /** @type {Map<string, {x: number, y: number}>} */
    const places = new Map();
    order.forEach((column, index) => {
      const list = columns.get(column);
      const top = (height - list.length * (HEIGHT + GAP_Y) + GAP_Y) / 2;
      list.forEach((/** @type {Box} */ box, /** @type {number} */ row) =>
        places.set(box.uid, { x: 1 + index * (WIDTH + GAP_X), y: top + row * (HEIGHT + GAP_Y) }),
      );
    });
    const edges = [...this.boxes.values()].flatMap((box) =>
      box.from.map((from) => edge(places.get(from), places.get(box.uid))),
    );
    const nodes = [...this.boxes.values()].map((box) =>
      this.node(box, /** @type {{x: number, y: number}} */ (places.get(box.uid))),
    );
    fill(
      this.picture,
      svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Owners and dependents" },
        edges,
        nodes,
      ),
    );
  }

  /**
   * @param {Box} box
   * @param {{x: number, y: number}} place
   */
  node(box, { x, y }) {
    const isSelf = box.uid === this.object.metadata.uid;
    const shape = svg(
      "g",
      {
        class: `box ${isSelf ? "self" : ""} ${box.more ? "more" : ""} ${box.state === "gone" ? "lost" : ""}`,
        transform: `translate(${x} ${y})`,
      },
      svg("rect", { width: WIDTH, height: HEIGHT, rx: 9 }),
      box.kind && svg("circle", { cx: 16, cy: HEIGHT / 2, r: 4, class: `state ${tone(box.state)}` }),
      svg(
        "text",
        { x: box.kind ? 30 : 16, y: box.kind ? 19 : 28, class: box.kind ? "kind" : "kind only" },
        box.kind || box.name,
      ),
      box.kind && svg("text", { x: 30, y: 35, class: "name" }, short(box.name)),
      svg("title", {}, `${box.kind} ${box.name}${box.state && box.state !== "?" ? `: ${box.state}` : ""}`),
    );
    return box.link ? svg("a", { href: box.link }, shape) : shape;
  }
}

/** @param {string} name */
const short = (name) => (name.length > 25 ? `${name.slice(0, 10)}…${name.slice(-14)}` : name);

/**
 * @param {{x: number, y: number} | undefined} from
 * @param {{x: number, y: number} | undefined} to
 */
function edge(from, to) {
  if (!from || !to) return null;
  const [x, y, end, last] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const middle = (x + end) / 2;
  return svg("path", { class: "edge", d: `M${x} ${y}C${middle} ${y} ${middle} ${last} ${end} ${last}` });
}

/** One word about the state of an object. @param {any} object */
export function stateOf({ metadata, status = {}, spec = {} }) {
  if (metadata.deletionTimestamp) return "Terminating";
  const waiting = (status.containerStatuses ?? [])
    .map((/** @type {any} */ one) => one.state?.waiting?.reason)
    .find(Boolean);
  if (waiting) return waiting;
  if (status.phase) return status.phase;
  if (spec.replicas !== undefined) return `${status.readyReplicas ?? 0}/${spec.replicas}`;
  const ready = (status.conditions ?? []).find((/** @type {any} */ one) =>
    ["Ready", "Available", "Complete"].includes(one.type),
  );
  return ready ? (ready.status === "True" ? "Ready" : "NotReady") : "";
}
