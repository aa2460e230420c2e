/** time_controls: which span of time a timeline shows, and the buttons that hold it, step and zoom. */
import { h } from "../dom.js";
import { duration } from "./facts.js";

const SPANS = [5, 15, 60, 300, 900];

export class TimeControls {
  /**
   * @param {{isLive: boolean, span: number, changed: () => void, step: (direction: number) => void, zoomed: () => void}} options
   */
  constructor(options) {
    this.options = options;
    this.span = options.span;
    this.isHeld = !options.isLive;
    this.end = 0;
    this.offset = 0;
    this.takenAt = 0;
    this.label = h("span", { class: "quiet span" });
    this.holdButton = h(
      "button",
      { class: "button", type: "button", "aria-pressed": String(this.isHeld), onclick: () => this.hold(!this.isHeld) },
      "Hold",
    );
    this.element = h(
      "div",
      { class: "tl-steps" },
      options.isLive && this.holdButton,
      stepButton("‹", "Step back", () => options.step(-1)),
      stepButton("›", "Step forward", () => options.step(1)),
      stepButton("−", "Zoom out", () => this.zoom(1)),
      stepButton("+", "Zoom in", () => this.zoom(-1)),
      this.label,
    );
  }

  /** The server's time goes on. @param {number} now */
  advance(now) {
    if (now <= this.end) return;
    this.end = now;
    this.takenAt = performance.now();
  }

  /** The end of the shown span. */
  get last() {
    return this.isHeld ? this.end - this.offset : this.end + (performance.now() - this.takenAt) / 1000;
  }

  get first() {
    return this.last - this.span;
  }

  /** @param {boolean} isHeld */
  hold(isHeld) {
    if (isHeld && !this.isHeld) this.end = this.last;
    this.isHeld = isHeld;
    if (!isHeld) this.offset = 0;
    this.holdButton.setAttribute("aria-pressed", String(isHeld));
    this.options.changed();
  }

  /** @param {number} direction */
  zoom(direction) {
    const place = SPANS.findIndex((one) => one >= this.span);
    this.span = SPANS[Math.max(0, Math.min(SPANS.length - 1, (place < 0 ? SPANS.length - 1 : place) + direction))];
    this.options.zoomed();
    this.options.changed();
  }

  /** Move the held time so that a moment is in it. @param {number} at */
  reveal(at) {
    const [first, last] = [this.first, this.last];
    if (at < first + this.span * 0.05 || at > last) this.offset = Math.max(0, this.end - at - this.span * 0.5);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (!this.isHeld) this.hold(true);
    this.offset = Math.max(0, this.offset - ((event.deltaX || event.deltaY) / 600) * this.span);
    this.options.changed();
  }

  drawLabel() {
    this.label.textContent = duration(this.span);
  }
}

/** @param {string} name @param {string} label @param {() => void} action */
const stepButton = (name, label, action) =>
  h("button", { class: "button", type: "button", "aria-label": label, title: label, onclick: action }, name);
