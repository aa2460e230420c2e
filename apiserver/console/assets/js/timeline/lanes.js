/** lanes: draws the entries of a timeline on a canvas, in lanes by client, by admission plugin and by object. */
import { h } from "../dom.js";
import { clock } from "./facts.js";
import { cross, diamond, square, star, triangle } from "./marks.js";

/** @typedef {import("./entries.js").Entry} Entry */
/** @typedef {{first: number, span: number, chosen: Entry | undefined, related: Entry[]}} Shown */

const LANE = 26;
const AXIS = 26;
const GAP = 12;
const NARROW = 560;
const SECTIONS = ["Clients", "Admission", "Leaders", "Objects"];
const STEPS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300];
const COLOURS = {
  ok: "accent",
  running: "accent",
  warn: "warn",
  bad: "bad",
  fault: "k2",
  add: "ok",
  change: "k4",
  gone: "bad",
  leader: "k5",
  line: "line",
  text: "text",
  soft: "soft",
  faint: "faint",
};

export class Lanes {
  /** @param {{choose: (id: string) => void, wheel: (event: WheelEvent) => void}} options */
  constructor(options) {
    this.options = options;
    /** @type {Entry[]} */
    this.visible = [];
    /** The lanes with their sections and heights, in order. @type {Map<string, {section: string, y: number}>} */
    this.lanes = new Map();
    this.first = 0;
    this.span = 1;
    this.left = 0;
    this.width = 0;
    this.height = 0;
    /** @type {Record<string, string>} */
    this.colours = {};
    this.canvas = h("canvas", {
      class: "tl-canvas",
      "aria-hidden": "true",
      onclick: (/** @type {MouseEvent} */ event) => this.onClick(event),
      onwheel: options.wheel,
    });
    this.element = h(
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
  }

  /** @param {Entry[]} entries those that the filters show @param {Shown} shown */
  draw(entries, shown) {
    const last = shown.first + shown.span;
    this.first = shown.first;
    this.span = shown.span;
    this.visible = entries.filter((one) => one.at <= last && Math.min(one.end, last) >= shown.first);
    this.width = this.element.clientWidth;
    this.left = this.width < NARROW ? 116 : 230;
    this.arrange();
    const pen = this.begin();
    this.paintAxis(pen);
    this.paintLanes(pen, shown.chosen?.lane);
    if (shown.chosen) for (const other of shown.related) this.paintLink(pen, shown.chosen, other);
    for (const one of this.visible) this.paintEntry(pen, one, one.id === shown.chosen?.id);
    if (!this.visible.length) {
      pen.fillStyle = this.colours.soft;
      pen.font = "13px Inter, system-ui, sans-serif";
      pen.fillText("Nothing happened in this time.", this.left + 12, AXIS + 50);
    }
  }

  /** Put the lanes in order: by section, then the busiest first. */
  arrange() {
    /** @type {Map<string, {section: string, count: number}>} */
    const found = new Map();
    for (const one of this.visible) {
      const lane = found.get(one.lane) ?? { section: one.section, count: 0 };
      lane.count += 1;
      found.set(one.lane, lane);
    }
    const sorted = [...found].sort(
      ([a, one], [b, other]) =>
        SECTIONS.indexOf(one.section) - SECTIONS.indexOf(other.section) ||
        other.count - one.count ||
        a.localeCompare(b),
    );
    this.lanes.clear();
    let y = AXIS + LANE / 2;
    let before = sorted[0]?.[1].section;
    for (const [name, { section }] of sorted) {
      if (section !== before) y += GAP;
      before = section;
      this.lanes.set(name, { section, y });
      y += LANE;
    }
    this.height = Math.max(140, y + LANE / 2);
  }

  begin() {
    const ratio = devicePixelRatio || 1;
    const { canvas, width, height } = this;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const style = getComputedStyle(canvas);
    for (const [name, variable] of Object.entries(COLOURS))
      this.colours[name] = style.getPropertyValue(`--${variable}`).trim();
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    return pen;
  }

  /** @param {number} at */
  x(at) {
    return this.left + ((at - this.first) / this.span) * (this.width - this.left - 12);
  }

  /** @param {string} lane */
  y(lane) {
    return this.lanes.get(lane)?.y ?? 0;
  }

  /** @param {CanvasRenderingContext2D} pen */
  paintAxis(pen) {
    const step = STEPS.find((one) => (this.width - this.left) / (this.span / one) > 82) ?? 300;
    pen.font = "11px Inter, system-ui, sans-serif";
    for (let at = Math.ceil(this.first / step) * step; at <= this.first + this.span; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      pen.strokeStyle = this.colours.line;
      pen.beginPath();
      pen.moveTo(x, AXIS - 6);
      pen.lineTo(x, this.height);
      pen.stroke();
      pen.fillStyle = this.colours.faint;
      if (x < this.width - 64) pen.fillText(clock(at).slice(0, step < 1 ? 10 : 8), x + 4, 13);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {string | undefined} chosen */
  paintLanes(pen, chosen) {
    const room = this.left - 26;
    for (const [lane, { section, y }] of this.lanes) {
      pen.strokeStyle = this.colours.line;
      pen.beginPath();
      pen.moveTo(this.left, Math.round(y) + 0.5);
      pen.lineTo(this.width - 12, Math.round(y) + 0.5);
      pen.stroke();
      const isStrong = section === "Clients" || lane === chosen;
      pen.font = `${isStrong ? 600 : 450} 12px Inter, system-ui, sans-serif`;
      pen.fillStyle = isStrong ? this.colours.text : this.colours.soft;
      const isShort = this.width < NARROW && (section === "Objects" || section === "Leaders");
      let name = isShort ? lane.slice(lane.indexOf(" ") + 1) : lane;
      while (name.length > 4 && pen.measureText(name).width > room)
        name = `${name.slice(0, Math.ceil(name.length / 2) - 2)}…${name.slice(Math.ceil(name.length / 2) + 1)}`;
      pen.fillText(name, 14, y + 4);
    }
  }

  /** A line between two entries of the same write. @param {CanvasRenderingContext2D} pen @param {Entry} entry @param {Entry} other */
  paintLink(pen, entry, other) {
    if (!this.lanes.has(other.lane) || !this.lanes.has(entry.lane)) return;
    const [x, y, end, last] = [this.x(entry.at), this.y(entry.lane), this.x(other.at), this.y(other.lane)];
    pen.strokeStyle = this.colours.faint;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.bezierCurveTo(x, (y + last) / 2, end, (y + last) / 2, end, last);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Entry} one @param {boolean} isChosen */
  paintEntry(pen, one, isChosen) {
    const [x, y] = [Math.max(this.left, this.x(one.at)), this.y(one.lane)];
    const end = Math.min(this.width - 12, this.x(Math.min(one.end, this.first + this.span)));
    const colour = this.colours[one.shape === "line" && one.tone === "ok" ? "line" : one.colour];
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (one.shape === "line") pen.roundRect(x, y - 1.5, Math.max(3, end - x), 3, 1.5);
    else if (one.shape === "bar") pen.roundRect(x, y - 7, Math.max(4, end - x), 14, 3);
    else if (one.shape === "leader") star(pen, x, y, 7);
    else if (one.shape === "gone") cross(pen, x, y, 5);
    else if (one.shape === "add") pen.arc(x, y, 5.5, 0, 7);
    else if (one.shape === "decision") square(pen, x, y, 4.5);
    else if (one.shape === "event") triangle(pen, x, y, 5.5);
    else diamond(pen, x, y, 5.5);
    if (one.isHollow) pen.stroke();
    else pen.fill();
    if (one.tone === "fault" && one.shape === "bar") {
      pen.beginPath();
      diamond(pen, x + 2, y - 10, 3.5);
      pen.fill();
    }
    if (one.retry) {
      pen.font = "600 9px Inter, system-ui, sans-serif";
      pen.fillText(`↻${one.retry}`, x, y - 9);
    }
    if (isChosen) {
      const isBar = one.shape === "bar" || one.shape === "line";
      pen.strokeStyle = this.colours.text;
      pen.beginPath();
      pen.roundRect(x - (isBar ? 4 : 9), y - 11, Math.max(4, isBar ? end - x : 10) + 8, 22, 6);
      pen.stroke();
    }
    pen.lineWidth = 1;
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const found = this.visible
      .map((one) => ({ one, far: this.distance(one, event.offsetX, event.offsetY) }))
      .filter(({ far }) => far < 14)
      .sort((a, b) => a.far - b.far)[0];
    if (found) this.options.choose(found.one.id);
  }

  /** @param {Entry} entry @param {number} x @param {number} y */
  distance(entry, x, y) {
    if (Math.abs(this.y(entry.lane) - y) > LANE / 2) return Infinity;
    const [from, to] = [this.x(entry.at), this.x(Math.min(entry.end, this.first + this.span))];
    return x < from ? from - x : x > to ? x - to : 0;
  }
}
