/**
 * live: the rows of one kind, listed in pages and then kept current by a watch, in kubectl's columns.
 *
 * The watch begins at the resource version of the list, so no change is lost between them. A hidden tab closes its watch,
 * and goes on at the last resource version when it is shown again.
 */
import { ApiError, TABLE, get, pathOf, query, watch } from "./api.js";

const PAGE = 500;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15000;
const MOST_ROWS = 50000;
const LONGEST = 1000;

/** @typedef {{name: string, type: string, format: string, description: string, priority: number}} Column */
/** @typedef {{key: string, name: string, namespace: string, uid: string, created: string, cells: any[], text: string, labels: Record<string, string>, at: number, isGone: boolean}} Row */

/** The rows of one kind under a selection. */
export class LiveRows {
  /**
   * @param {import("./api.js").Kind} kind
   * @param {{namespace: string, labels: string, fields: string}} selection
   * @param {{changed: (hasNewOrder: boolean) => void, state: (state: "loading" | "live" | "waiting" | "paused", problem?: ApiError) => void}} listener
   */
  constructor(kind, selection, listener) {
    this.kind = kind;
    this.selection = selection;
    this.listener = listener;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Column[]} */
    this.columns = [];
    this.version = "";
    this.changes = 0;
    this.isCut = false;
    this.stopped = new AbortController();
    /** @type {AbortController | undefined} */
    this.watching = undefined;
    this.onVisibility = () => (document.hidden ? this.pause() : this.resume());
    document.addEventListener("visibilitychange", this.onVisibility);
    this.run();
  }

  stop() {
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.stopped.abort();
    this.watching?.abort();
  }

  pause() {
    this.watching?.abort();
    this.listener.state("paused");
  }

  resume() {
    this.wake?.();
  }

  async run() {
    let pause = FIRST_PAUSE;
    while (!this.stopped.signal.aborted) {
      if (document.hidden && this.version)
        await new Promise((resolve) => {
          this.wake = () => resolve(null);
        });
      try {
        if (!this.version) await this.list();
        await this.follow(() => {
          pause = FIRST_PAUSE;
        });
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        if (document.hidden) continue;
        if (error instanceof ApiError && error.code === 410) {
          this.version = "";
          continue;
        }
        this.listener.state("waiting", error instanceof ApiError ? error : undefined);
        if (error instanceof ApiError && [401, 403, 404, 400, 405].includes(error.code)) return;
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    }
  }

  async list() {
    this.listener.state("loading");
    const known = new Set();
    let next = "";
    do {
      const page = await get(this.path({ limit: PAGE, continue: next }), {
        accept: TABLE,
        signal: this.stopped.signal,
      });
      if (page.columnDefinitions?.length) this.columns = page.columnDefinitions;
      for (const one of page.rows ?? []) known.add(this.put(one, 0).key);
      next = page.metadata?.continue ?? "";
      this.isCut = Boolean(next) && known.size >= MOST_ROWS;
      this.version = page.metadata?.resourceVersion ?? "";
      this.listener.changed(true);
    } while (next && !this.isCut);
    for (const key of this.rows.keys()) if (!known.has(key)) this.rows.delete(key);
    this.listener.changed(true);
  }

  /** @param {() => void} onOpen */
  async follow(onOpen) {
    this.watching = new AbortController();
    const path = this.path({ watch: 1, resourceVersion: this.version, allowWatchBookmarks: true });
    const opened = () => {
      onOpen();
      this.listener.state("live");
    };
    await watch(path, {
      accept: TABLE,
      signal: this.watching.signal,
      onEvents: (events) => this.take(events),
      onOpen: opened,
    });
  }

  /** @param {import("./api.js").WatchEvent[]} events */
  take(events) {
    const now = performance.now();
    let hasNewOrder = false;
    for (const event of events) {
      if (event.type === "ERROR") throw new ApiError(event.object?.code ?? 500, event.object);
      const rows = event.object.rows ?? [];
      const version = rows[0]?.object?.metadata?.resourceVersion ?? event.object.metadata?.resourceVersion;
      if (version) this.version = version;
      if (event.type === "BOOKMARK") continue;
      for (const one of rows) {
        this.changes += 1;
        const key = keyOf(one.object.metadata);
        if (event.type === "DELETED") hasNewOrder = this.rows.delete(key) || hasNewOrder;
        else {
          hasNewOrder ||= !this.rows.has(key);
          this.put(one, now);
        }
      }
    }
    this.listener.changed(hasNewOrder);
  }

  /**
   * @param {any} one
   * @param {number} at
   * @returns {Row}
   */
  put(one, at) {
    const { name, namespace = "", uid, creationTimestamp, labels = {}, deletionTimestamp } = one.object.metadata;
    const key = keyOf(one.object.metadata);
    const cells = one.cells.map(short);
    const row = {
      key,
      name,
      namespace,
      uid,
      created: creationTimestamp,
      cells,
      text: `${namespace} ${cells.join(" ")}`.toLowerCase(),
      labels,
      at,
      isGone: Boolean(deletionTimestamp),
    };
    this.rows.set(key, row);
    return row;
  }

  /** @param {Record<string, string | number | boolean>} more */
  path(more) {
    const { namespace, labels, fields } = this.selection;
    return pathOf(this.kind, namespace) + query({ labelSelector: labels, fieldSelector: fields, ...more });
  }
}

/** A cell without the end of a long text. @param {any} cell */
const short = (cell) => (typeof cell === "string" && cell.length > LONGEST ? `${cell.slice(0, LONGEST)}…` : cell);

/** @param {{name: string, namespace?: string}} metadata */
const keyOf = (metadata) => `${metadata.namespace ?? ""}/${metadata.name}`;
