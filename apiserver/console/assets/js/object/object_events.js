/** object_events: the Events of the cluster about one object, the newest first. */
import { get, query } from "../api.js";
import { age, fill, h } from "../dom.js";

const MOST = 200;
const PAUSE = 2000;

/** The Events about one object, in an element of their own: a late answer is shown there, whatever tab is open. */
export class ObjectEvents {
  /** @param {{isPage: boolean, signal: AbortSignal}} options isPage: all of them on a page, else the newest */
  constructor({ isPage, signal }) {
    this.isPage = isPage;
    this.signal = signal;
    this.element = h("div", {});
    this.isLoading = false;
    this.isDue = false;
  }

  /** Load them, at most once in two seconds. @param {any} object */
  async refresh(object) {
    this.object = object;
    this.isDue = true;
    if (this.isLoading) return;
    this.isLoading = true;
    while (this.isDue && !this.signal.aborted) {
      this.isDue = false;
      await this.load();
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    this.isLoading = false;
  }

  async load() {
    const { uid, namespace } = this.object.metadata;
    const fieldSelector = `involvedObject.uid=${uid}`;
    const path = `/api/v1${namespace ? `/namespaces/${namespace}` : ""}/events`;
    const found = await get(path + query({ fieldSelector, limit: MOST }), { signal: this.signal }).catch(() => null);
    draw(this.element, found?.items ?? [], this.isPage);
  }
}

/**
 * @param {HTMLElement} place
 * @param {any[]} events
 * @param {boolean} isPage
 */
function draw(place, events, isPage) {
  const when = (/** @type {any} */ one) =>
    one.lastTimestamp ?? one.series?.lastObservedTime ?? one.eventTime ?? one.metadata.creationTimestamp;
  const items = events
    .sort((/** @type {any} */ a, /** @type {any} */ b) => (when(a) < when(b) ? 1 : -1))
    .slice(0, isPage ? MOST : 8);
  if (!items.length)
    return fill(
      place,
      isPage ? h("div", { class: "empty" }, h("strong", {}, "No events"), "Events are kept for an hour.") : null,
    );
  fill(
    place,
    h(
      "section",
      { class: "card part" },
      h("h2", {}, "Events"),
      h(
        "ol",
        { class: "events" },
        items.map((/** @type {any} */ one) =>
          h(
            "li",
            {},
            h("span", { class: `dot ${one.type === "Warning" ? "warn" : "ok"}` }),
            h("div", { class: "grow" }, h("strong", {}, one.reason), " ", h("span", { class: "quiet" }, one.message)),
            h(
              "span",
              { class: "faint" },
              `${(one.count ?? one.series?.count ?? 1) > 1 ? `${one.count ?? one.series.count} × ` : ""}${age(when(one))}`,
            ),
          ),
        ),
      ),
    ),
  );
}
