/**
 * timeline: shows what happened as lanes and as a list, with the chosen entry in full.
 *
 * The lanes are a canvas; the list beside them has the same entries as text. Reports carry this module and those that
 * it imports inside of one file, so their names must be different.
 */
import { fill, h } from "../dom.js";
import { details } from "./details.js";
import { Entries } from "./entries.js";
import { EventList } from "./event_list.js";
import { Filters } from "./filters.js";
import { Lanes } from "./lanes.js";
import { TimeControls } from "./time_controls.js";

const FRAME = 250;

/** The timeline in a container. */
export class Timeline {
  /**
   * @param {HTMLElement} container
   * @param {import("./details.js").Links & {isLive: boolean, span?: number}} options
   */
  constructor(container, options) {
    this.options = options;
    this.entries = new Entries();
    this.chosen = "";
    this.frame = 0;
    const changed = () => this.schedule();
    this.filters = new Filters(changed);
    this.time = new TimeControls({
      isLive: options.isLive,
      span: options.span ?? 60,
      changed,
      step: (direction) => this.step(direction),
      zoomed: () => this.revealChosen(),
    });
    const choose = (/** @type {string} */ id) => this.choose(id);
    this.lanes = new Lanes({ choose, wheel: (event) => this.time.onWheel(event) });
    this.list = new EventList(choose);
    this.detail = h("section", {
      class: "tl-detail",
      "aria-live": "polite",
      "aria-label": "The chosen event",
      tabindex: "0",
    });
    for (const one of [this.lanes.element, this.list.element])
      one.addEventListener("keydown", (event) => this.onKey(/** @type {KeyboardEvent} */ (event)));
    const tools = h("div", { class: "tl-tools" }, ...this.filters.elements, this.time.element);
    const below = h("div", { class: "tl-below" }, this.list.element, this.detail);
    container.append(h("div", { class: "tl" }, tools, this.lanes.element, below));
    this.sizes = new ResizeObserver(changed);
    this.sizes.observe(this.lanes.element);
    const isMoving = () => !this.time.isHeld;
    this.timer = options.isLive ? setInterval(() => isMoving() && this.schedule(), FRAME) : undefined;
  }

  close() {
    this.sizes.disconnect();
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
  }

  /** @param {import("./facts.js").Data} data */
  add(data) {
    this.entries.add(data);
    this.time.advance(data.now);
    this.schedule();
  }

  filtered() {
    return this.filters.passed(this.entries.sorted());
  }

  /** Choose the next or the previous entry that the filters show. @param {number} direction */
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
    if (!this.time.isHeld) this.time.hold(true);
    this.chosen = id;
    this.time.reveal(entry.at);
    fill(this.detail, details(entry, this.options));
    this.list.mustReveal = true;
    this.schedule();
  }

  revealChosen() {
    const chosen = this.entries.get(this.chosen);
    if (this.time.isHeld && chosen) this.time.reveal(chosen.at);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const action = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      ArrowUp: () => this.step(1),
      ArrowDown: () => this.step(-1),
      " ": () => this.options.isLive && this.time.hold(!this.time.isHeld),
      "+": () => this.time.zoom(-1),
      "-": () => this.time.zoom(1),
    }[event.key];
    const isScroll = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (!action || event.ctrlKey || event.metaKey || (isScroll && event.currentTarget !== this.list.element)) return;
    event.preventDefault();
    action();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const all = this.filtered();
    const chosen = this.entries.get(this.chosen);
    this.lanes.draw(all, {
      first: this.time.first,
      span: this.time.span,
      chosen,
      related: chosen ? this.entries.related(chosen) : [],
    });
    this.list.draw(all, this.chosen);
    this.time.drawLabel();
  }
}
