/** entries: requests, their steps, changes and Events as the entries of a timeline, each in its lane. */
import { clientOf, placeOf, READS, requestWords, resourceOf } from "./facts.js";

/** @typedef {import("./facts.js").TracedRequest} TracedRequest */
/** @typedef {import("./facts.js").TracedStep} TracedStep */
/** @typedef {import("./facts.js").ObjectChange} ObjectChange */
/** @typedef {import("./facts.js").KubernetesEvent} KubernetesEvent */
/** @typedef {"requests" | "watches" | "admission" | "changes" | "events"} Group what the filters show or leave out */
/** @typedef {"Clients" | "Admission" | "Leaders" | "Objects"} Section */
/** @typedef {"bar" | "add" | "change" | "gone" | "leader" | "line" | "fault" | "decision" | "event"} Shape */
/** @typedef {{id: string, at: number, end: number, lane: string, section: Section, group: Group, tone: string, shape: Shape, colour: string, title: string, who: string, hint: string, text: string, isNoise: boolean, isHollow?: boolean, request?: TracedRequest, step?: TracedStep, change?: ObjectChange, event?: KubernetesEvent, retry: number}} Entry */

const MOST = 6000;
const SLACK = 0.005;

/** @param {TracedRequest} one */
function toneOf(one) {
  if (one.fault) return "fault";
  if (one.status === 429 || one.status === 409) return "warn";
  if (one.status >= 400) return "bad";
  return one.seconds === null ? "running" : "ok";
}

/** @param {TracedRequest} one @returns {Entry} */
function ofRequest(one) {
  const title = requestWords(one);
  const isWatch = one.verb === "watch";
  const found = toneOf(one);
  return {
    id: `r${one.record}.${one.number}`,
    at: one.at,
    end: one.at + (one.seconds ?? Infinity),
    lane: clientOf(one),
    section: "Clients",
    group: isWatch ? "watches" : "requests",
    tone: found,
    shape: isWatch ? "line" : "bar",
    colour: found,
    title,
    who: clientOf(one),
    hint: one.status ? String(one.status) : one.seconds === null ? "…" : "closed",
    text: `${title} ${one.user} ${one.client} ${one.status} ${one.reason} ${one.fault}`.toLowerCase(),
    isNoise: one.resource === "leases" || (one.client === "console" && READS.has(one.verb)),
    request: one,
    retry: 0,
  };
}

/** The faults in a watch, and the decisions of admission. @param {TracedRequest} one @returns {Entry[]} */
function ofSteps(one) {
  const words = requestWords(one);
  return one.steps.flatMap((step, index) => {
    if (step.kind === "fault" && one.verb !== "watch") return [];
    const isFault = step.kind === "fault";
    const isRefused = step.verdict === "refused";
    const title = isFault ? `fault ${step.verdict} in ${words}` : `${step.by} ${step.verdict} ${words}`;
    const colour = isFault ? "fault" : isRefused ? "bad" : step.verdict === "changed" ? "change" : "soft";
    return [
      {
        id: `s${one.record}.${one.number}.${index}`,
        at: step.at - (isFault ? 0 : step.seconds),
        end: step.at,
        lane: isFault ? clientOf(one) : step.by,
        section: /** @type {Section} */ (isFault ? "Clients" : "Admission"),
        group: /** @type {Group} */ (isFault ? "requests" : "admission"),
        tone: isFault ? "fault" : isRefused ? "bad" : step.verdict === "failed open" ? "warn" : "",
        shape: /** @type {Shape} */ (isFault ? "fault" : "decision"),
        colour,
        title,
        who: isFault ? clientOf(one) : step.kind,
        hint: isFault ? "" : step.verdict === "changed" ? step.detail.split(", ")[0] : step.verdict,
        text: `${title} ${step.kind} ${step.detail} ${one.user} ${one.client}`.toLowerCase(),
        isNoise: one.resource === "leases",
        isHollow: step.verdict === "allowed",
        request: one,
        step,
        retry: 0,
      },
    ];
  });
}

/** @type {Record<string, string>} */
const VERBS = { ADDED: "created", MODIFIED: "changed", DELETED: "deleted" };
/** @type {Record<string, Shape>} */
const SHAPE_OF = { ADDED: "add", MODIFIED: "change", DELETED: "gone" };

/** @param {ObjectChange} one @returns {Entry} */
function ofChange(one) {
  const isLeader = one.about === "leader";
  const lane = isLeader ? placeOf(one) : `${one.resource} ${placeOf(one)}`;
  const shape = isLeader ? "leader" : SHAPE_OF[one.type];
  const paths = one.differences.map(([path]) => path);
  const title = isLeader
    ? `${one.holder || "nothing"} holds the lease ${placeOf(one)}`
    : `${resourceOf(one)} ${placeOf(one)} ${VERBS[one.type]}`;
  return {
    id: `c${one.revision}/${one.uid}`,
    at: one.at,
    end: one.at,
    lane,
    section: isLeader ? "Leaders" : "Objects",
    group: "changes",
    tone: "",
    shape,
    colour: shape,
    title,
    who: one.manager,
    hint: paths.length ? `${paths[0]}${one.count > 1 ? ` +${one.count - 1}` : ""}` : one.about,
    text: `${lane} ${title} ${one.manager} ${paths.join(" ")} ${one.about} ${one.group}`.toLowerCase(),
    isNoise: one.about === "renewal" || one.resource === "masterleases",
    isHollow: one.about === "collected" || shape === "gone",
    change: one,
    retry: 0,
  };
}

/** An Event in the lane of the object that it is about, where that is known. @param {KubernetesEvent} one @param {Map<string, string>} lanes @returns {Entry} */
function ofEvent(one, lanes) {
  const isWarning = one.type === "Warning";
  return {
    id: `e${one.uid}`,
    at: one.at,
    end: one.at,
    lane: lanes.get(one.regarding) ?? `${one.kind.toLowerCase()} ${placeOf(one)}`,
    section: "Objects",
    group: "events",
    tone: isWarning ? "warn" : "",
    shape: "event",
    colour: isWarning ? "warn" : "soft",
    title: `${one.reason}: ${one.message}`,
    who: one.source,
    hint: one.count > 1 ? `× ${one.count}` : "",
    text: `event ${one.type} ${one.reason} ${one.message} ${one.kind} ${placeOf(one)} ${one.source}`.toLowerCase(),
    isNoise: false,
    event: one,
    retry: 0,
  };
}

/** The entries of one timeline, at most 6,000. */
export class Entries {
  constructor() {
    /** @type {Map<string, Entry>} */
    this.known = new Map();
    /** The lanes of objects by their uid. @type {Map<string, string>} */
    this.lanes = new Map();
  }

  /** @param {string} id */
  get(id) {
    return this.known.get(id);
  }

  /** Take more; known ones are replaced. @param {import("./facts.js").Data} data */
  add(data) {
    for (const one of data.requests) this.put(ofRequest(one), ...ofSteps(one));
    for (const one of data.changes) {
      const entry = ofChange(one);
      this.put(entry);
      this.lanes.set(one.uid, entry.lane);
    }
    for (const one of data.events) this.put(ofEvent(one, this.lanes));
    for (const entry of this.known.values())
      if (entry.event) entry.lane = this.lanes.get(entry.event.regarding) ?? entry.lane;
    while (this.known.size > MOST) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
    while (this.lanes.size > MOST) this.lanes.delete(/** @type {string} */ (this.lanes.keys().next().value));
    this.countRetries();
  }

  /** @param {...Entry} entries */
  put(...entries) {
    for (const entry of entries) this.known.set(entry.id, entry);
  }

  /** Number the requests that repeat one that was refused. */
  countRetries() {
    /** @type {Map<string, Entry>} */
    const last = new Map();
    for (const entry of this.sorted()) {
      if (!entry.request || entry.step) continue;
      const key = `${entry.lane} ${entry.title}`;
      const before = last.get(key);
      const again =
        before?.request && (before.request.status >= 400 || before.request.fault) && entry.at - before.at < 60;
      entry.retry = again ? /** @type {Entry} */ (before).retry + 1 : 0;
      last.set(key, entry);
    }
  }

  sorted() {
    return [...this.known.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  /** The entries of the same write: its request, its decisions, its change of the object. @param {Entry} entry */
  related(entry) {
    const all = [...this.known.values()];
    if (entry.change) {
      const { change } = entry;
      return all.filter(
        (other) =>
          isWrite(other) &&
          isSame(/** @type {TracedRequest} */ (other.request), change) &&
          entry.at >= other.at - SLACK &&
          entry.at <= other.end + 2 * SLACK,
      );
    }
    const { request } = entry;
    if (!request) return [];
    if (entry.step) return all.filter((other) => other.request === request && !other.step);
    return all.filter((other) => {
      if (other.step) return other.request === request && other.shape === "decision";
      if (!other.change || !isWrite(entry) || !isSame(request, other.change)) return false;
      return other.at >= entry.at - SLACK && other.at <= Math.min(entry.end, entry.at + 30) + 2 * SLACK;
    });
  }
}

/** Whether the entry is a write that the server has not refused. @param {Entry} one */
const isWrite = (one) =>
  one.request !== undefined && !one.step && !READS.has(one.request.verb) && one.request.status < 400;

/** @param {TracedRequest} request @param {ObjectChange} change */
const isSame = (request, change) =>
  Boolean(change.name) &&
  request.resource === change.resource &&
  request.group === change.group &&
  request.name === change.name &&
  request.namespace === change.namespace;
