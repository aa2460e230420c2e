/**
 * timeline: draws what happened as lanes by client and by object, with hold, step, filter and details.
 *
 * It imports nothing, because reports carry it inside of one file. The lanes are a canvas; the list beside them has the
 * same events as text, for the keyboard and for screen readers.
 */

/** @typedef {{number: number, at: number, verb: string, group: string, resource: string, subresource: string, namespace: string, name: string, path: string, user: string, client: string, seconds: number | null, status: number, message: string, reason: string, fault: string, notes: Record<string, string>}} TracedRequest */
/** @typedef {{revision: number, at: number, type: string, group: string, resource: string, namespace: string, name: string, uid: string, manager: string, operation: string, owner: string, about: string, differences: [string, string | null, string | null][]}} ObjectChange */
/** @typedef {{id: string, at: number, end: number, lane: string, section: string, tone: string, shape: "bar" | "add" | "change" | "gone" | "leader" | "line", title: string, hint: string, text: string, isNoise: boolean, about?: string, request?: TracedRequest, change?: ObjectChange, retry: number}} Entry */
/** @typedef {{now: number, requests: TracedRequest[], changes: ObjectChange[]}} Data */

const LANE = 26;
const AXIS = 26;
const LIST = 250;
const MOST = 6000;
const SPANS = [5, 15, 60, 300, 900];
const NARROW = 560;
const READS = new Set(["get", "list", "watch"]);

/** @param {string} tag @param {Record<string, any>} [props] @param {...any} children @returns {any} */
function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((one) => one !== null && one !== undefined && one !== false && one !== ""));
  return element;
}

/** The client by its User-Agent: kubectl/v1.31.0 (linux/amd64) becomes kubectl. @param {TracedRequest} one */
function clientOf(one) {
  const word = one.client.split(/[/ (]/)[0] || "client";
  const name = word === "Mozilla" ? "browser" : word;
  if (name === "console") return name;
  return one.user && one.user !== "kubernetes-admin"
    ? `${name} · ${one.user.replace("system:serviceaccount:", "")}`
    : name;
}

/** @param {{namespace: string, name: string}} one */
const placeOf = (one) => [one.namespace, one.name].filter(Boolean).join("/");
/** @param {{group: string, resource: string, subresource?: string}} one */
const resourceOf = (one) =>
  `${one.resource}${one.subresource ? `/${one.subresource}` : ""}${one.group ? `.${one.group}` : ""}`;

/** @param {number} seconds */
function span(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const rest = Math.round(seconds % 60);
  return `${Math.floor(seconds / 60)} min${rest ? ` ${rest} s` : ""}`;
}

/** @param {number} at */
const clock = (at) => new Date(at * 1000).toISOString().slice(11, 23);

/** The timeline in a container. */
export class Timeline {
  /**
   * @param {HTMLElement} container
   * @param {{objectLink?: (change: {group: string, resource: string, namespace: string, name: string}) => string, objectAt?: (change: ObjectChange) => Promise<string>, isLive: boolean, span?: number}} options
   */
  constructor(container, options) {
    this.options = options;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    /** @type {Entry[]} */
    this.visible = [];
    /** @type {string[]} */
    this.lanes = [];
    this.span = options.span ?? 60;
    this.end = 0;
    this.offset = 0;
    this.isHeld = !options.isLive;
    this.chosen = "";
    this.frame = 0;
    this.first = 0;
    this.left = 0;
    this.width = 0;
    this.listKey = "";
    this.mustReveal = false;
    this.takenAt = 0;
    /** @type {Map<string, {section: string, count: number}>} */
    this.sections = new Map();
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.shows = { requests: true, watches: false, changes: true, noise: false };
    this.build(container);
    this.sizes = new ResizeObserver(() => this.schedule());
    this.sizes.observe(this.scroller);
    if (options.isLive)
      this.timer = setInterval(() => {
        if (!this.isHeld) this.schedule();
      }, 250);
  }

  close() {
    this.sizes.disconnect();
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
  }

  /** @param {HTMLElement} container */
  build(container) {
    this.search = make("input", {
      class: "input",
      type: "search",
      placeholder: "Filter: a client, an object, a verb, a status",
      "aria-label": "Filter the timeline",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.schedule(),
    });
    this.holdButton = make(
      "button",
      { class: "button", type: "button", "aria-pressed": String(this.isHeld), onclick: () => this.hold(!this.isHeld) },
      "Hold",
    );
    this.spanLabel = make("span", { class: "quiet span" });
    const step = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ action) =>
      make("button", { class: "button", type: "button", "aria-label": label, title: label, onclick: action }, name);
    const toggle = (/** @type {keyof typeof this.shows} */ name, /** @type {string} */ text) =>
      make(
        "button",
        {
          class: "button ghost",
          type: "button",
          "aria-pressed": String(this.shows[name]),
          onclick: (/** @type {any} */ event) => {
            this.shows[name] = !this.shows[name];
            event.currentTarget.setAttribute("aria-pressed", String(this.shows[name]));
            this.schedule();
          },
        },
        text,
      );
    const tools = make(
      "div",
      { class: "tl-tools" },
      make("div", { class: "tl-search" }, this.search),
      toggle("requests", "Requests"),
      toggle("changes", "Changes"),
      toggle("watches", "Watches"),
      toggle("noise", "Background"),
      make(
        "div",
        { class: "tl-steps" },
        this.options.isLive ? this.holdButton : null,
        step("‹", "Step back", () => this.step(-1)),
        step("›", "Step forward", () => this.step(1)),
        step("−", "Zoom out", () => this.zoom(1)),
        step("+", "Zoom in", () => this.zoom(-1)),
        this.spanLabel,
      ),
    );
    this.canvas = make("canvas", {
      class: "tl-canvas",
      "aria-hidden": "true",
      onclick: (/** @type {any} */ event) => this.onClick(event),
      onwheel: (/** @type {any} */ event) => this.onWheel(event),
    });
    this.scroller = make(
      "div",
      {
        class: "tl-lanes",
        tabindex: "0",
        role: "application",
        "aria-label": "Lanes by client and by object. Arrow keys step, plus and minus zoom, space holds.",
        "data-home": "",
      },
      this.canvas,
    );
    this.list = make("ol", { class: "tl-list", "aria-label": "Events" });
    this.detail = make("section", { class: "tl-detail", "aria-live": "polite", "aria-label": "The chosen event" });
    this.list.addEventListener("click", (/** @type {any} */ event) => {
      const id = event.target.closest("li")?.dataset.id;
      if (id) this.choose(id);
    });
    this.scroller.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
    container.append(
      make("div", { class: "tl" }, tools, this.scroller, make("div", { class: "tl-below" }, this.list, this.detail)),
    );
  }

  /** Take more requests and changes; known ones are replaced. @param {Data} data */
  add(data) {
    for (const one of data.requests) this.put(this.ofRequest(one));
    for (const one of data.changes) this.put(ofChange(one));
    if (data.now > this.end) {
      this.end = data.now;
      this.takenAt = performance.now();
    }
    while (this.entries.size > MOST) this.entries.delete(/** @type {string} */ (this.entries.keys().next().value));
    this.countRetries();
    this.schedule();
  }

  /** @param {Entry} entry */
  put(entry) {
    this.entries.set(entry.id, entry);
  }

  /** @param {TracedRequest} one @returns {Entry} */
  ofRequest(one) {
    const place = placeOf(one);
    const isWatch = one.verb === "watch";
    const what = one.resource ? `${one.verb} ${resourceOf(one)}${place ? ` ${place}` : ""}` : `${one.verb} ${one.path}`;
    const tone = one.fault
      ? "fault"
      : one.status >= 500
        ? "bad"
        : one.status === 429 || one.status === 409
          ? "warn"
          : one.status >= 400
            ? "bad"
            : one.seconds === null
              ? "running"
              : "ok";
    return {
      id: `r${one.number}`,
      at: one.at,
      end: one.at + (one.seconds ?? Infinity),
      lane: clientOf(one),
      section: "Clients",
      tone,
      shape: isWatch ? "line" : "bar",
      title: what,
      hint: one.status ? String(one.status) : one.seconds === null ? "…" : "closed",
      text: `${what} ${one.user} ${one.client} ${one.status} ${one.reason} ${one.fault}`.toLowerCase(),
      isNoise: one.resource === "leases" || (one.client === "console" && READS.has(one.verb)),
      request: one,
      retry: 0,
    };
  }

  /** Number the requests that repeat one that was refused. */
  countRetries() {
    /** @type {Map<string, Entry>} */
    const last = new Map();
    for (const entry of this.sorted()) {
      if (!entry.request) continue;
      const key = `${entry.lane} ${entry.title}`;
      const before = last.get(key);
      const again =
        before?.request && (before.request.status >= 400 || before.request.fault) && entry.at - before.at < 60;
      entry.retry = again ? /** @type {Entry} */ (before).retry + 1 : 0;
      last.set(key, entry);
    }
  }

  sorted() {
    return [...this.entries.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  get present() {
    return this.isHeld ? this.end - this.offset : this.end + (performance.now() - this.takenAt) / 1000;
  }

  /** @param {boolean} isHeld */
  hold(isHeld) {
    if (isHeld && !this.isHeld) this.end = this.present;
    this.isHeld = isHeld;
    if (!isHeld) this.offset = 0;
    this.holdButton.setAttribute("aria-pressed", String(isHeld));
    this.schedule();
  }

  /** @param {number} direction */
  zoom(direction) {
    const place = SPANS.findIndex((one) => one >= this.span);
    this.span = SPANS[Math.max(0, Math.min(SPANS.length - 1, (place < 0 ? SPANS.length - 1 : place) + direction))];
    const chosen = this.entries.get(this.chosen);
    if (this.isHeld && chosen) this.reveal(chosen);
    this.schedule();
  }

  /** Choose the next or the previous event that the filter shows. @param {number} direction */
  step(direction) {
    const all = this.filtered();
    if (!all.length) return;
    const place = all.findIndex((one) => one.id === this.chosen);
    const next =
      place < 0 ? (direction > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, place + direction));
    this.choose(all[next].id);
  }

  /** @param {string} id */
  choose(id) {
    const entry = this.entries.get(id);
    if (!entry) return;
    if (!this.isHeld) this.hold(true);
    this.chosen = id;
    this.reveal(entry);
    this.showDetail(entry);
    this.schedule();
    this.mustReveal = true;
  }

  /** Move the held time so that an event is in it. @param {Entry} entry */
  reveal(entry) {
    const [first, last] = [this.present - this.span, this.present];
    if (entry.at < first + this.span * 0.05 || entry.at > last)
      this.offset = Math.max(0, this.end - entry.at - this.span * 0.5);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const action = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      " ": () => this.hold(!this.isHeld),
      "+": () => this.zoom(-1),
      "-": () => this.zoom(1),
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (!this.isHeld) this.hold(true);
    this.offset = Math.max(0, this.offset - ((event.deltaX || event.deltaY) / 600) * this.span);
    this.schedule();
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const found = this.visible
      .map((one) => ({ one, far: this.distance(one, event.offsetX, event.offsetY) }))
      .filter(({ far }) => far < 14)
      .sort((a, b) => a.far - b.far)[0];
    if (found) this.choose(found.one.id);
  }

  /**
   * @param {Entry} entry
   * @param {number} x
   * @param {number} y
   */
  distance(entry, x, y) {
    if (Math.abs(this.y(entry.lane) - y) > LANE / 2) return Infinity;
    const [from, to] = [this.x(entry.at), this.x(Math.min(entry.end, this.present))];
    return x < from ? from - x : x > to ? x - to : 0;
  }

  filtered() {
    /** @type {string[]} */
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.sorted().filter((one) => {
      if (one.isNoise && !this.shows.noise && !words.length) return false;
      if (one.shape === "line" ? !this.shows.watches : one.request ? !this.shows.requests : !this.shows.changes)
        return false;
      return words.every((word) =>
        word.startsWith("!") ? !one.text.includes(word.slice(1)) : one.text.includes(word),
      );
    });
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const last = this.present;
    const first = last - this.span;
    const all = this.filtered();
    this.visible = all.filter((one) => one.at <= last && Math.min(one.end, last) >= first);
    const names = new Map();
    for (const one of this.visible)
      names.set(one.lane, { section: one.section, count: (names.get(one.lane)?.count ?? 0) + 1 });
    this.lanes = [...names.keys()].sort(
      (a, b) =>
        names.get(a).section.localeCompare(names.get(b).section) ||
        names.get(b).count - names.get(a).count ||
        a.localeCompare(b),
    );
    this.sections = names;
    this.width = this.scroller.clientWidth;
    this.left = this.width < NARROW ? 116 : 230;
    this.first = first;
    this.paint();
    this.drawList(all);
    this.spanLabel.textContent = span(this.span);
  }

  /** @param {number} at */
  x(at) {
    return this.left + ((at - this.first) / this.span) * (this.width - this.left - 12);
  }

  /** @param {string} lane */
  y(lane) {
    const place = this.lanes.indexOf(lane);
    const gap =
      this.sections.get(lane)?.section === "Objects" &&
      this.lanes.some((one) => this.sections.get(one)?.section === "Clients")
        ? 12
        : 0;
    return AXIS + place * LANE + LANE / 2 + gap;
  }

  paint() {
    const height = Math.max(140, AXIS + this.lanes.length * LANE + 24);
    const ratio = devicePixelRatio || 1;
    const { canvas, width } = this;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const style = getComputedStyle(canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const colours = {
      ok: colour("accent"),
      running: colour("accent"),
      warn: colour("warn"),
      bad: colour("bad"),
      fault: colour("k2"),
      add: colour("ok"),
      change: colour("k4"),
      gone: colour("bad"),
      leader: colour("k5"),
      line: colour("line"),
      text: colour("text"),
      soft: colour("soft"),
      faint: colour("faint"),
      raised: colour("raised"),
      chosen: colour("chosen"),
    };
    this.paintAxis(pen, colours, height);
    this.paintLanes(pen, colours);
    this.paintLink(pen, colours);
    for (const one of this.visible) this.paintEntry(pen, colours, one);
    if (!this.visible.length) {
      pen.fillStyle = colours.soft;
      pen.font = "13px Inter, system-ui, sans-serif";
      pen.fillText("Nothing happened in this time.", this.left + 12, AXIS + 50);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Record<string, string>} colours @param {number} height */
  paintAxis(pen, colours, height) {
    const steps = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300];
    const step = steps.find((one) => (this.width - this.left) / (this.span / one) > 82) ?? 300;
    pen.font = "11px Inter, system-ui, sans-serif";
    for (let at = Math.ceil(this.first / step) * step; at <= this.first + this.span; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(x, AXIS - 6);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = colours.faint;
      if (x < this.width - 64) pen.fillText(clock(at).slice(0, step < 1 ? 10 : 8), x + 4, 13);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Record<string, string>} colours */
  paintLanes(pen, colours) {
    const room = this.left - 26;
    const chosen = this.entries.get(this.chosen)?.lane;
    for (const lane of this.lanes) {
      const y = this.y(lane);
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(this.left, Math.round(y) + 0.5);
      pen.lineTo(this.width - 12, Math.round(y) + 0.5);
      pen.stroke();
      const isClient = this.sections.get(lane)?.section === "Clients";
      pen.font = `${isClient || lane === chosen ? 600 : 450} 12px Inter, system-ui, sans-serif`;
      pen.fillStyle = isClient || lane === chosen ? colours.text : colours.soft;
      let name = isClient || this.width >= NARROW ? lane : lane.slice(lane.indexOf(" ") + 1);
      while (name.length > 4 && pen.measureText(name).width > room)
        name = `${name.slice(0, Math.ceil(name.length / 2) - 2)}…${name.slice(Math.ceil(name.length / 2) + 1)}`;
      pen.fillText(name, 14, y + 4);
    }
  }

  /** A line from the chosen request to the changes of its object that followed, or from a change to its request. @param {CanvasRenderingContext2D} pen @param {Record<string, string>} colours */
  paintLink(pen, colours) {
    const entry = this.entries.get(this.chosen);
    if (!entry) return;
    for (const other of this.related(entry)) {
      if (!this.lanes.includes(other.lane) || !this.lanes.includes(entry.lane)) continue;
      const [x, y, end, last] = [this.x(entry.at), this.y(entry.lane), this.x(other.at), this.y(other.lane)];
      pen.strokeStyle = colours.faint;
      pen.setLineDash([3, 3]);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.bezierCurveTo(x, (y + last) / 2, end, (y + last) / 2, end, last);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  /** The requests and changes of the same object at the same time. @param {Entry} entry */
  related(entry) {
    const one = entry.request ?? entry.change;
    if (!one?.name) return [];
    const isSame = (/** @type {any} */ other) =>
      other &&
      other.resource === one.resource &&
      other.group === one.group &&
      other.name === one.name &&
      other.namespace === one.namespace;
    if (entry.request) {
      if (READS.has(entry.request.verb)) return [];
      return [...this.entries.values()].filter(
        (other) =>
          isSame(other.change) && other.at >= entry.at - 0.005 && other.at <= Math.min(entry.end, entry.at + 30) + 0.01,
      );
    }
    return [...this.entries.values()].filter(
      (other) =>
        isSame(other.request) &&
        !READS.has(other.request?.verb ?? "") &&
        entry.at >= other.at - 0.005 &&
        entry.at <= other.end + 0.01,
    );
  }

  /** @param {CanvasRenderingContext2D} pen @param {Record<string, string>} colours @param {Entry} one */
  paintEntry(pen, colours, one) {
    const [x, y] = [Math.max(this.left, this.x(one.at)), this.y(one.lane)];
    const end = Math.min(this.width - 12, this.x(Math.min(one.end, this.first + this.span)));
    const colour = colours[one.change ? one.shape : one.tone];
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (one.shape === "line") pen.roundRect(x, y - 1.5, Math.max(3, end - x), 3, 1.5);
    else if (one.shape === "bar") pen.roundRect(x, y - 7, Math.max(4, end - x), 14, 3);
    else if (one.shape === "leader") star(pen, x, y, 7);
    else if (one.shape === "gone") cross(pen, x, y, 5);
    else if (one.shape === "add") pen.arc(x, y, 5.5, 0, 7);
    else diamond(pen, x, y, 5.5);
    if (one.shape === "gone" || one.about === "collected") pen.stroke();
    else pen.fill();
    if (one.tone === "fault") {
      pen.beginPath();
      diamond(pen, x + 2, y - 10, 3.5);
      pen.fill();
    }
    if (one.retry) {
      pen.font = "600 9px Inter, system-ui, sans-serif";
      pen.fillText(`↻${one.retry}`, x, y - 9);
    }
    if (one.id === this.chosen) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.roundRect(x - 4 - (one.change ? 5 : 0), y - 11, Math.max(4, one.change ? 10 : end - x) + 8, 22, 6);
      pen.stroke();
    }
    pen.lineWidth = 1;
  }

  /** @param {Entry[]} all */
  drawList(all) {
    const place = all.findIndex((one) => one.id === this.chosen);
    const upTo = place >= 0 ? Math.min(all.length, place + LIST / 2) : all.length;
    const shown = all.slice(Math.max(0, upTo - LIST), upTo).reverse();
    const key = shown.map((one) => `${one.id}${one.hint}${one.id === this.chosen}`).join();
    if (key === this.listKey) return;
    this.listKey = key;
    this.list.replaceChildren(
      ...shown.map((one) =>
        make(
          "li",
          {
            "data-id": one.id,
            class: one.id === this.chosen ? "chosen" : undefined,
            "aria-current": one.id === this.chosen ? "true" : undefined,
          },
          make("span", { class: "tl-time" }, clock(one.at)),
          make("i", { class: `tl-mark ${one.change ? one.shape : one.tone}` }),
          make(
            "span",
            { class: "tl-title" },
            one.title,
            one.retry ? make("span", { class: "badge warn" }, `retry ${one.retry}`) : null,
            one.request?.fault ? make("span", { class: "badge warn" }, "fault") : null,
          ),
          make("span", { class: "tl-lane" }, one.request ? one.lane : (one.change?.manager ?? "")),
          make("span", { class: `tl-hint ${one.tone}` }, one.hint),
        ),
      ),
    );
    if (this.mustReveal) {
      this.mustReveal = false;
      const row = this.list.querySelector(".chosen");
      if (row) this.list.scrollTop = row.offsetTop - this.list.clientHeight / 3;
    }
  }

  /** @param {Entry} entry */
  showDetail(entry) {
    this.detail.replaceChildren(
      ...(entry.request
        ? requestDetail(entry, entry.request)
        : this.changeDetail(entry, /** @type {ObjectChange} */ (entry.change))),
    );
  }

  /** @param {Entry} entry @param {ObjectChange} change */
  changeDetail(entry, change) {
    const link = this.options.objectLink?.(change);
    const then = make("pre", { class: "tl-then" });
    const show = async () => {
      then.textContent = "…";
      then.textContent = await /** @type {(change: ObjectChange) => Promise<string>} */ (this.options.objectAt)(
        change,
      ).catch((error) => error.message);
    };
    return [
      make("h2", {}, entry.title),
      facts([
        ["When", clock(change.at)],
        ["Field manager", [change.manager, change.operation && `(${change.operation})`].filter(Boolean).join(" ")],
        ["Owner", change.owner],
        ["Revision", String(change.revision)],
        [
          "What",
          {
            leader: "another holder of the lease",
            collected: "deleted with an owner: garbage collection, or the controller",
            renewal: "renewal of a lease",
          }[change.about] ?? "",
        ],
      ]),
      change.differences.length
        ? make(
            "div",
            { class: "tl-diff" },
            change.differences.map(([path, before, after]) =>
              make(
                "div",
                {},
                make("code", { class: "path" }, path),
                before !== null ? make("code", { class: "before" }, before) : null,
                after !== null ? make("code", { class: "after" }, after) : null,
              ),
            ),
          )
        : null,
      make(
        "div",
        { class: "tl-links" },
        link ? make("a", { class: "button", href: link }, "The object now") : null,
        this.options.objectAt
          ? make("button", { class: "button", type: "button", onclick: show }, "The object then")
          : null,
      ),
      then,
    ].filter(Boolean);
  }
}

/** @param {ObjectChange} one @returns {Entry} */
function ofChange(one) {
  const lane = `${one.resource} ${placeOf(one)}`;
  const verb = { ADDED: "created", MODIFIED: "changed", DELETED: "deleted" }[one.type] ?? one.type;
  const shape =
    one.about === "leader" ? "leader" : one.type === "ADDED" ? "add" : one.type === "DELETED" ? "gone" : "change";
  const paths = one.differences.map(([path]) => path);
  const hint = paths.length ? `${paths[0]}${paths.length > 1 ? ` +${paths.length - 1}` : ""}` : one.about;
  return {
    id: `c${one.revision}/${one.uid}`,
    at: one.at,
    end: one.at,
    lane,
    section: "Objects",
    tone: "",
    shape,
    title: `${resourceOf(one)} ${placeOf(one)} ${verb}`,
    hint,
    text: `${lane} ${verb} ${one.manager} ${paths.join(" ")} ${one.about} ${one.group}`.toLowerCase(),
    isNoise: one.about === "renewal" || one.resource === "masterleases",
    change: one,
    retry: 0,
    about: one.about,
  };
}

/** @param {Entry} entry @param {TracedRequest} one */
function requestDetail(entry, one) {
  const notes = Object.entries(one.notes).filter(([key, value]) => value && key !== "authorization.k8s.io/decision");
  return [
    make("h2", {}, entry.title),
    facts([
      ["When", clock(one.at)],
      ["Took", one.seconds === null ? "still running" : span(one.seconds)],
      ["Answer", [one.status || "no answer", one.reason].filter(Boolean).join(" ")],
      ["User", one.user],
      ["Client", one.client],
      ["Retry", entry.retry ? String(entry.retry) : ""],
      ["Injected fault", one.fault],
      ...notes.map(
        ([key, value]) =>
          /** @type {[string, string]} */ ([key.replace("authorization.k8s.io/reason", "Authorization"), value]),
      ),
    ]),
    one.message ? make("p", { class: "note bad" }, one.message) : "",
  ].filter(Boolean);
}

/** @param {[string, string][]} pairs */
const facts = (pairs) =>
  make(
    "dl",
    { class: "facts" },
    pairs.filter(([, value]) => value).map(([key, value]) => [make("dt", {}, key), make("dd", {}, value)]),
  );

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} size */
function diamond(pen, x, y, size) {
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.lineTo(x - size, y);
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} size */
function cross(pen, x, y, size) {
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y - size);
  pen.lineTo(x - size, y + size);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} size */
function star(pen, x, y, size) {
  for (let point = 0; point < 10; point += 1) {
    const [angle, radius] = [(point * Math.PI) / 5 - Math.PI / 2, point % 2 ? size / 2.2 : size];
    pen.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  pen.closePath();
}
