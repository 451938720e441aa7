// Looks at the pages of JOB one after the other in a frame of each width, and posts what it finds (tools/check-pages).

/** Posts a result; null ends the run. */
const post = (result) => fetch("/__found", { method: "POST", body: JSON.stringify(result) });

/** Loads a page into a new frame, and resolves when its fonts and pictures are there. */
async function load(page) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "border: 0; height: 4000px; width: 1280px";
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.src = "/" + page;
  document.body.append(frame);
  await loaded;
  const inside = frame.contentDocument;
  const still = inside.createElement("style");
  still.textContent = "* { transition: none !important; animation: none !important }";
  inside.head.append(still);
  for (const image of inside.images) image.loading = "eager";
  for (const details of inside.querySelectorAll("details")) details.open = true;
  await inside.fonts.ready;
  await Promise.all([...inside.images].filter(isShown).map((image) => image.decode().catch(() => null)));
  return frame;
}

const isShown = (element) => element.getClientRects().length > 0;

/** Names an element so that a reader finds it. */
function name(element) {
  const text = (element.alt || element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 60);
  const kind = element.tagName.toLowerCase() + [...element.classList].slice(0, 2).map((c) => "." + c).join("");
  return text ? `<${kind}> "${text}"` : `<${kind}>`;
}

/** Tells whether an element, or one around it, scrolls or cuts what is too wide. */
function scrolls(element, root) {
  for (let at = element; at && at !== root; at = at.parentElement) {
    if (getComputedStyle(at).overflowX !== "visible") return true;
  }
  return false;
}

/** Yields what is wider than the page: the innermost elements. */
function* overflow(inside) {
  const root = inside.documentElement;
  if (root.scrollWidth <= root.clientWidth + 1) return;
  const wide = [...inside.body.querySelectorAll("*")].filter(
    (e) => isShown(e) && e.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(e.parentElement, inside.body),
  );
  const innermost = wide.filter((e) => !wide.some((other) => other !== e && e.contains(other)));
  for (const element of innermost.slice(0, 3)) yield `wider than the page: ${name(element)}`;
  if (!innermost.length) yield `wider than the page by ${root.scrollWidth - root.clientWidth} px`;
}

/** Yields tables of few columns of which a telephone shows a part. */
function* hidden(inside, width) {
  if (width > 480) return;
  for (const table of inside.querySelectorAll("table")) {
    const columns = Math.max(0, ...[...table.rows].map((row) => row.cells.length));
    if (!isShown(table) || columns > 3 || table.closest("[class*=highlight]")) continue;
    let box = table;
    while (box && box !== inside.body && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
    if (box && box.scrollWidth > box.clientWidth + 1) yield `a table of ${columns} columns is cut: ${name(table.rows[0])}`;
  }
}

const RAW = /\{\s*[.#:][\w-][^}]*\}|\]\([^)\s]+\)|\*\*\w[^*]*\w\*\*|^\s*(?:#{2,6} |!!! |\?\?\? |::: )/m;
const SOURCE = "code, pre, script, style, svg, math, textarea, noscript, .jp-Notebook";

/** Yields Markdown that is left as text. */
function* raw(inside) {
  const walker = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const match = RAW.exec(node.data);
    if (match && !node.parentElement.closest(SOURCE)) yield `Markdown as text: ${match[0].slice(0, 60)}`;
  }
}

/** Yields broken pictures, and pictures that are shown twice. */
function* pictures(inside) {
  const shown = [...inside.images].filter(isShown);
  for (const image of shown) if (!image.naturalWidth) yield `a broken picture: ${image.getAttribute("src").slice(0, 80)}`;
  const texts = new Map();
  for (const image of shown) if (image.alt) texts.set(image.alt, (texts.get(image.alt) || 0) + 1);
  for (const [alt, count] of texts) if (count > 1) yield `a picture is shown ${count} times: ${alt.slice(0, 60)}`;
}

/** Returns red, green, blue (0 to 255) and opacity of a computed colour, in any of its notations. */
const parsed = (() => {
  const known = new Map();
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  return (colour) => {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
})();

const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];

/** Returns the colour behind an element's text, or null where a picture lies there. */
function ground(element, dark) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (style.backgroundImage !== "none" || style.filter !== "none") return null;
    const colour = parsed(style.backgroundColor);
    layers.push(colour);
    if (colour[3] === 1) break;
  }
  const canvas = dark ? [18, 18, 18, 1] : [255, 255, 255, 1];
  return layers.reduceRight((below, layer) => over(layer, below), canvas);
}

/** Relative luminance (WCAG 2.1). */
function luminance(colour) {
  const [r, g, b] = colour.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** What is no text of a page, or what the theme draws when it is asked for. */
const UNSEEN = "script, style, svg, noscript, [data-md-component=search]";

/** Yields text whose contrast is too low: one element for each pair of colours. */
function* contrast(inside, dark) {
  const pairs = new Set();
  const walker = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !isShown(element) || element.closest(UNSEEN)) continue;
    const style = getComputedStyle(element);
    const back = ground(element, dark);
    if (!back || style.visibility === "hidden" || !opaque(element)) continue;
    const fore = over(parsed(style.color), back);
    const [high, low] = [luminance(fore), luminance(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const pair = `${style.color} ${back}`;
    if (ratio < (large ? 3 : 4.5) - 0.005 && !pairs.has(pair)) {
      pairs.add(pair);
      yield `contrast ${ratio.toFixed(2)} to 1: ${name(element)}`;
    }
  }
}

/** Tells whether an element is drawn: Material fades what it shows at a pointer. */
function opaque(element) {
  for (let at = element; at; at = at.parentElement) if (getComputedStyle(at).opacity === "0") return false;
  return true;
}

/** Looks at one page at all widths, and posts each finding once, with the widths that have it. */
async function look(page) {
  const frame = await load(page);
  const inside = frame.contentDocument;
  const dark = JOB.scheme === "dark";
  const found = new Map();
  const note = (what, width) => found.set(what, new Set([...(found.get(what) || []), width]));
  for (const width of JOB.widths) {
    frame.style.width = `${width}px`;
    await new Promise((done) => { setTimeout(done, 0); });
    for (const what of overflow(inside)) note(what, width);
    for (const what of hidden(inside, width)) note(what, width);
    for (const what of pictures(inside)) note(what, width);
  }
  for (const what of raw(inside)) found.set(what, []);
  for (const what of contrast(inside, dark)) found.set(what, []);
  frame.remove();
  for (const [what, widths] of found) await post({ page, what, widths: [...widths] });
  await post({ page, views: JOB.widths.length });
}

(async () => {
  document.write("<body></body>");
  for (const page of JOB.pages) {
    try {
      await look(page);
    } catch (error) {
      await post({ page, what: `not looked at: ${error}`, widths: [] });
    }
  }
  await post(null);
})();
