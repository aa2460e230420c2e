/** edits: from an edited object to the configuration that server-side apply takes: the fields that the user has changed. */
import { below, keysOfList, managersOf, ownedPart } from "./managers.js";

/** @typedef {import("./yaml.js").Step} Step */

export const MANAGER = "console";
const LEFT_OUT = new Set([
  "managedFields",
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "generation",
  "selfLink",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);

/** The object as it is edited: without what the server writes by itself. @param {any} object */
export function editable(object) {
  const { status: _, metadata, ...rest } = object;
  return { ...rest, metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => !LEFT_OUT.has(key))) };
}

/**
 * The configuration for server-side apply, and the fields that the user has removed although another manager owns them.
 * @param {any} object the object as it is stored
 * @param {any} edited
 * @returns {{configuration: any, kept: string[]}}
 */
export function configurationOf(object, edited) {
  const managers = managersOf(object);
  const own = managers.find((one) => one.name === MANAGER && one.operation === "Apply" && !one.subresource);
  const before = editable(object);
  /** @type {string[]} */
  const kept = [];
  const owned = own ? ownedPart(own.fields, edited) : {};
  const changed = difference(before, edited, [], { managers, object, kept, own: own?.fields ?? {} }) ?? {};
  const { apiVersion, kind } = object;
  const { name, namespace } = object.metadata;
  const merged = merge(owned, changed, (path) => keysOfList(managers, object, path), []);
  const configuration = {
    ...merged,
    apiVersion,
    kind,
    metadata: { ...(merged.metadata ?? {}), name, ...(namespace ? { namespace } : {}) },
  };
  return { configuration, kept };
}

/** @param {any} one @param {any} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
/** @param {any} value */
const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * What differs in `after`; undefined when nothing does.
 * @param {any} before
 * @param {any} after
 * @param {Step[]} path
 * @param {{managers: import("./managers.js").Manager[], object: any, kept: string[], own: any}} about
 * @returns {any}
 */
function difference(before, after, path, about) {
  if (isSame(before, after)) return undefined;
  if (isMap(before) && isMap(after)) {
    /** @type {Record<string, any>} */
    const found = {};
    for (const [key, value] of Object.entries(after)) {
      const part = key in before ? difference(before[key], value, [...path, key], about) : value;
      if (part !== undefined) found[key] = part;
    }
    for (const key of Object.keys(before))
      if (!(key in after) && !owns(about.own, about.object, [...path, key])) about.kept.push([...path, key].join("."));
    return Object.keys(found).length ? found : undefined;
  }
  const keys = Array.isArray(before) && Array.isArray(after) ? keysOfList(about.managers, about.object, path) : [];
  return keys.length ? itemsOf(before, after, path, { ...about, keys }) : after;
}

/**
 * @param {any[]} before
 * @param {any[]} after
 * @param {Step[]} path
 * @param {{managers: import("./managers.js").Manager[], object: any, kept: string[], own: any, keys: string[]}} about
 */
function itemsOf(before, after, path, about) {
  const { keys } = about;
  const idOf = (/** @type {any} */ item) => JSON.stringify(keys.map((key) => item?.[key]));
  const places = firstPlaces(before, idOf);
  const left = new Set(after.map(idOf));
  const found = [];
  for (const item of after) {
    const index = places.get(idOf(item)) ?? -1;
    const part = index < 0 ? item : difference(before[index], item, [...path, index], about);
    if (part !== undefined)
      found.push({ ...Object.fromEntries(keys.filter((key) => key in item).map((key) => [key, item[key]])), ...part });
  }
  before.forEach((item, index) => {
    if (!left.has(idOf(item)) && !owns(about.own, about.object, [...path, index]))
      about.kept.push(`${path.join(".")}[${keys.map((key) => item[key]).join(",")}]`);
  });
  return found.length ? found : undefined;
}

/**
 * The first place of each item by its identity.
 * @param {any[]} items
 * @param {(item: any) => string} idOf
 */
function firstPlaces(items, idOf) {
  /** @type {Map<string, number>} */
  const places = new Map();
  items.forEach((item, index) => places.has(idOf(item)) || places.set(idOf(item), index));
  return places;
}

/**
 * @param {any} fields
 * @param {any} object
 * @param {Step[]} path
 */
function owns(fields, object, path) {
  let part = fields;
  let value = object;
  for (const step of path) {
    value = value?.[step];
    part = part && below(part, step, value);
  }
  return part !== undefined;
}

/**
 * The changed fields over those that the console has applied before.
 * @param {any} owned
 * @param {any} changed
 * @param {(path: Step[]) => string[]} keysAt
 * @param {Step[]} path
 * @returns {any}
 */
function merge(owned, changed, keysAt, path) {
  if (changed === undefined) return owned;
  if (isMap(owned) && isMap(changed)) {
    const names = [...new Set([...Object.keys(owned), ...Object.keys(changed)])];
    return Object.fromEntries(
      names.map((name) => [
        name,
        name in owned && name in changed
          ? merge(owned[name], changed[name], keysAt, [...path, name])
          : name in changed
            ? changed[name]
            : owned[name],
      ]),
    );
  }
  const keys = Array.isArray(owned) && Array.isArray(changed) ? keysAt(path) : [];
  if (!keys.length) return changed;
  const idOf = (/** @type {any} */ item) => JSON.stringify(keys.map((key) => item?.[key]));
  const places = firstPlaces(changed, idOf);
  const present = firstPlaces(owned, idOf);
  return [
    ...owned.map((/** @type {any} */ one) => merge(one, changed[places.get(idOf(one)) ?? -1], keysAt, path)),
    ...changed.filter((/** @type {any} */ item) => !present.has(idOf(item))),
  ];
}
