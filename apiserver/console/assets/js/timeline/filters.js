/** filters: which entries a timeline shows: by words, and by what they are. */
import { h } from "../dom.js";

/** @typedef {import("./entries.js").Entry} Entry */

const TOGGLES = /** @type {const} */ ([
  ["requests", "Requests"],
  ["changes", "Changes"],
  ["events", "Events"],
  ["admission", "Admission"],
  ["watches", "Watches"],
  ["noise", "Background"],
]);

export class Filters {
  /** @param {() => void} changed */
  constructor(changed) {
    /** @type {Record<typeof TOGGLES[number][0], boolean>} */
    this.shows = { requests: true, changes: true, events: true, admission: true, watches: false, noise: false };
    this.search = h("input", {
      class: "input",
      type: "search",
      placeholder: "Filter: a client, an object, a verb, a status",
      "aria-label": "Filter the timeline",
      autocomplete: "off",
      spellcheck: "false",
      oninput: changed,
    });
    const toggles = TOGGLES.map(([name, text]) => this.toggle(name, text, changed));
    this.elements = [
      h("div", { class: "tl-search" }, this.search),
      h("div", { class: "tl-toggles", role: "group", "aria-label": "Shown" }, toggles),
    ];
  }

  /** @param {keyof typeof this.shows} name @param {string} text @param {() => void} changed */
  toggle(name, text, changed) {
    const button = h(
      "button",
      { class: "button ghost", type: "button", "aria-pressed": String(this.shows[name]) },
      text,
    );
    button.addEventListener("click", () => {
      this.shows[name] = !this.shows[name];
      button.setAttribute("aria-pressed", String(this.shows[name]));
      changed();
    });
    return button;
  }

  /** The entries that are shown. @param {Entry[]} entries */
  passed(entries) {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return entries.filter((one) => {
      if (one.isNoise && !this.shows.noise && !words.length) return false;
      if (!this.shows[one.group]) return false;
      return words.every((word) =>
        word.startsWith("!") ? !one.text.includes(word.slice(1)) : one.text.includes(word),
      );
    });
  }
}
