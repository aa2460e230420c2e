/**
 * rows: a grid that has elements for the visible rows alone, whatever the number of rows.
 *
 * Elements are used again for other rows, and are touched where their text differs. All changes between two frames are
 * drawn together.
 */
import { h } from "./dom.js";

const DESKTOP = 34;
const PHONE = 58;
const SPARE = 6;

/**
 * @template T
 * @typedef {{cells: (row: T) => {text: string, tone: string}[], second: (row: T) => string, key: (row: T) => string, isFresh: (row: T) => boolean, isGone: (row: T) => boolean, open: (row: T) => void, label: string}} Look
 */

/** @template T */
export class RowsGrid {
  /** @param {Look<T>} look */
  constructor(look) {
    this.look = look;
    /** @type {T[]} */
    this.rows = [];
    /** @type {HTMLElement[]} */
    this.pool = [];
    this.chosen = "";
    this.template = "";
    this.pill = -1;
    this.frame = 0;
    this.height = DESKTOP;
    this.phone = matchMedia("(max-width: 760px)");
    this.head = h("div", { class: "head", role: "row" });
    this.body = h("div", { class: "body", role: "rowgroup" });
    this.wide = h("div", { class: "wide", role: "presentation" }, this.head, this.body);
    this.scroller = h(
      "div",
      {
        class: "scroller",
        tabindex: "0",
        role: "grid",
        "aria-label": look.label,
        "data-home": "",
        onscroll: () => this.schedule(),
      },
      this.wide,
    );
    this.element = h("div", { class: "grid" }, this.scroller);
    this.sizes = new ResizeObserver(() => this.schedule());
    this.sizes.observe(this.scroller);
    this.body.addEventListener("click", (event) => this.onClick(event));
  }

  close() {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /**
   * The columns: their widths, and which is the status for narrow windows.
   * @param {string} template
   * @param {number} pill
   */
  arrange(template, pill) {
    if (template === this.template && pill === this.pill) return;
    this.template = template;
    this.pill = pill;
    this.head.style.gridTemplateColumns = template;
    this.pool.forEach((one) => one.remove());
    this.pool = [];
  }

  /** @param {T[]} rows */
  show(rows) {
    this.rows = rows;
    this.schedule();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    this.height = this.phone.matches ? PHONE : DESKTOP;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - SPARE);
    const count = Math.min(this.rows.length - first, Math.ceil(clientHeight / this.height) + 2 * SPARE);
    this.body.style.height = `${this.rows.length * this.height}px`;
    this.scroller.setAttribute("aria-rowcount", String(this.rows.length));
    let active = "";
    while (this.pool.length < count) this.body.append(this.pool[this.pool.push(this.element_()) - 1]);
    this.pool.forEach((element, index) => {
      if (index >= count) {
        element.style.display = "none";
        return;
      }
      // The element of a row is the same while it stays visible, because the pool is used as a ring.
      const place = first + ((index - (first % this.pool.length) + this.pool.length) % this.pool.length);
      if (place >= this.rows.length || place >= first + this.pool.length) {
        element.style.display = "none";
        return;
      }
      if (this.put(element, this.rows[place], place)) active = element.id;
    });
    if (active) this.scroller.setAttribute("aria-activedescendant", active);
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  element_() {
    const element = h("div", { class: "row", role: "row", id: `row-${this.pool.length}` });
    element.style.gridTemplateColumns = this.template;
    return element;
  }

  /**
   * Show one row in an element. Returns whether it is the chosen one.
   * @param {HTMLElement} element
   * @param {T} row
   * @param {number} place
   */
  put(element, row, place) {
    const cells = this.look.cells(row);
    element.style.display = "";
    element.style.transform = `translateY(${place * this.height}px)`;
    element.setAttribute("aria-rowindex", String(place + 1));
    element.dataset.place = String(place);
    while (element.children.length <= cells.length)
      element.append(
        h("span", { role: "gridcell", class: element.children.length === cells.length ? "second" : "cell" }),
      );
    cells.forEach((cell, index) => {
      const shown = /** @type {HTMLElement} */ (element.children[index]);
      if (shown.textContent !== cell.text) {
        shown.textContent = cell.text;
        shown.title = cell.text;
      }
      const wanted = `cell${index === 0 ? " name" : ""}${index === this.pill ? " pill" : ""}${cell.tone ? ` tone ${cell.tone}` : ""}`;
      if (shown.className !== wanted) shown.className = wanted;
    });
    const second = /** @type {HTMLElement} */ (element.children[cells.length]);
    const text = this.phone.matches ? this.look.second(row) : "";
    if (second.textContent !== text) second.textContent = text;
    const key = this.look.key(row);
    const isChosen = key === this.chosen;
    element.setAttribute("aria-selected", String(isChosen));
    element.classList.toggle("chosen", isChosen);
    element.classList.toggle("fresh", this.look.isFresh(row));
    element.classList.toggle("gone", this.look.isGone(row));
    element.dataset.key = key;
    return isChosen;
  }

  /** Choose a row so many places further. @param {number} step */
  move(step) {
    if (!this.rows.length) return;
    const present = this.rows.findIndex((row) => this.look.key(row) === this.chosen);
    const first = Math.ceil(this.scroller.scrollTop / this.height);
    const next =
      present < 0
        ? step > 0
          ? first
          : this.rows.length - 1
        : Math.min(this.rows.length - 1, Math.max(0, present + step));
    this.chosen = this.look.key(this.rows[next]);
    const top = next * this.height;
    const room = this.scroller.clientHeight - this.head.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + this.height > this.scroller.scrollTop + room) this.scroller.scrollTop = top + this.height - room;
    this.schedule();
  }

  openChosen() {
    const row = this.rows.find((one) => this.look.key(one) === this.chosen);
    if (row) this.look.open(row);
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const place = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".row"))?.dataset
      .place;
    if (place === undefined || String(getSelection())) return;
    const row = this.rows[Number(place)];
    if (row) {
      this.chosen = this.look.key(row);
      this.look.open(row);
    }
  }
}
