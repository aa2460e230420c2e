/**
 * Finds what keeps people from reading and using a page: pale text, controls without a name or a visible focus, and
 * regions that scroll and that the keyboard does not reach. Each row says what and where.
 */
() => {
  const wrong = [];
  const where = (element) => {
    const parts = [];
    for (let one = element; one && one !== document.body && parts.length < 3; one = one.parentElement)
      parts.unshift(one.tagName.toLowerCase() + [...one.classList].map((name) => `.${name}`).join(""));
    return parts.join(" > ");
  };

  // Contrast (WCAG 2.2, 1.4.3): 4.5, and 3 for large text.
  const colour = (text) => {
    const numbers = (text.match(/[\d.]+(e-?\d+)?/g) ?? [0, 0, 0, 0]).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return { rgb: numbers.slice(0, 3).map((one) => one * scale), alpha: numbers[3] ?? 1 };
  };
  const over = (top, below) => top.rgb.map((one, place) => one * top.alpha + below[place] * (1 - top.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const layersOf = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const found = colour(getComputedStyle(one).backgroundColor);
      if (found.alpha) layers.unshift(found);
      if (found.alpha === 1) break;
    }
    return layers;
  };
  const backgroundOf = (element) => layersOf(element).reduce((below, layer) => over(layer, below), [255, 255, 255]);
  const opacityOf = (element) => {
    let product = 1;
    for (let one = element; one; one = one.parentElement) product *= Number(getComputedStyle(one).opacity);
    return product;
  };
  const known = new Set();
  const check = (element, style, text) => {
    const shown = colour(element instanceof SVGElement ? style.fill : style.color);
    if (!shown.alpha) return; // the text of an editor, which is drawn below it
    const behind = backgroundOf(element);
    const front = over({ rgb: shown.rgb, alpha: shown.alpha * opacityOf(element) }, behind);
    const [dark, light] = [luminance(front), luminance(behind)].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const place = `contrast ${ratio.toFixed(2)} in ${where(element)}`;
    if (ratio >= (isLarge ? 3 : 4.5) || known.has(place)) return;
    known.add(place);
    wrong.push(`${place}: ${text.trim().slice(0, 30)}`);
  };
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || seen.has(element) || !isShown(element) || element.closest("svg[aria-hidden]")) continue;
    if (["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || element.closest(":disabled")) continue;
    seen.add(element);
    check(element, getComputedStyle(element), texts.currentNode.data);
  }
  for (const field of document.querySelectorAll("input, textarea"))
    if (isShown(field) && field.placeholder) check(field, getComputedStyle(field, "::placeholder"), field.placeholder);

  // Names, and the focus that the keyboard shows.
  const before = document.activeElement;
  const reachable = "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";
  for (const control of document.querySelectorAll(reachable)) {
    if (!isShown(control) || control.disabled) continue;
    const label = control.getAttribute("aria-label") ?? control.labels?.[0]?.textContent ?? "";
    if (!`${label}${control.textContent}${control.title ?? ""}`.trim()) wrong.push(`no name: ${where(control)}`);
    if (control.tabIndex > 0) wrong.push(`a place of its own in the order of Tab: ${where(control)}`);
    control.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement !== control) continue;
    const style = getComputedStyle(control);
    const frame = getComputedStyle(control.parentElement);
    const isMarked = [style, frame].some((one) => parseFloat(one.outlineWidth) > 0 && one.outlineStyle !== "none") || style.boxShadow !== "none";
    if (!isMarked) wrong.push(`no visible focus: ${where(control)}`);
  }
  before?.focus?.({ preventScroll: true });

  // Regions that scroll.
  for (const region of document.querySelectorAll("body *")) {
    const style = getComputedStyle(region);
    if (region.getAttribute("role") === "listbox") continue; // the arrow keys of its combobox scroll it
    if (!/auto|scroll/.test(`${style.overflowY} ${style.overflowX}`) || !isShown(region)) continue;
    const isLonger = region.scrollHeight > region.clientHeight + 1 || region.scrollWidth > region.clientWidth + 1;
    if (isLonger && region.tabIndex < 0 && !region.querySelector(reachable)) wrong.push(`no way to scroll with keys: ${where(region)}`);
  }

  // Identifiers and pictures.
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids.filter((one, place) => ids.indexOf(one) !== place))) wrong.push(`two elements with the id ${id}`);
  for (const picture of document.querySelectorAll("img:not([alt])")) wrong.push(`no alternative text: ${where(picture)}`);
  return [...new Set(wrong)];
}
