/** event_list: the entries of a timeline as text, the newest first, for the keyboard and for screen readers. */
import { h } from "../dom.js";
import { clock } from "./facts.js";

/** @typedef {import("./entries.js").Entry} Entry */

const MOST_ROWS = 250;

export class EventList {
  /** @param {(id: string) => void} choose */
  constructor(choose) {
    this.element = h("ol", { class: "tl-list", "aria-label": "Events", tabindex: "0" });
    this.drawn = "";
    this.mustReveal = false;
    this.element.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest("li");
      if (row?.dataset.id) choose(row.dataset.id);
    });
  }

  /** @param {Entry[]} entries @param {string} chosen */
  draw(entries, chosen) {
    const place = entries.findIndex((one) => one.id === chosen);
    const upTo = place >= 0 ? Math.min(entries.length, place + MOST_ROWS / 2) : entries.length;
    const shown = entries.slice(Math.max(0, upTo - MOST_ROWS), upTo).reverse();
    const key = shown.map((one) => `${one.id}${one.hint}${one.id === chosen}`).join();
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.replaceChildren(...shown.map((one) => row(one, one.id === chosen)));
    if (!this.mustReveal) return;
    this.mustReveal = false;
    const found = /** @type {HTMLElement | null} */ (this.element.querySelector(".chosen"));
    if (found) this.element.scrollTop = found.offsetTop - this.element.clientHeight / 3;
  }
}

/** @param {Entry} one @param {boolean} isChosen */
function row(one, isChosen) {
  return h(
    "li",
    { "data-id": one.id, class: isChosen ? "chosen" : undefined, "aria-current": isChosen ? "true" : undefined },
    h("span", { class: "tl-time" }, clock(one.at)),
    h("i", { class: `tl-mark ${one.shape} ${one.colour}${one.isHollow ? " hollow" : ""}` }),
    h(
      "span",
      { class: "tl-title" },
      one.title,
      one.retry ? h("span", { class: "badge warn" }, `retry ${one.retry}`) : null,
      one.request?.fault && !one.step ? h("span", { class: "badge warn" }, "fault") : null,
    ),
    h("span", { class: "tl-lane" }, one.who),
    h("span", { class: `tl-hint ${one.tone}` }, one.hint),
  );
}
