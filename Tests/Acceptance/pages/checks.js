// Checks of a page as it is rendered; the value is { texts, problems }. Run by `run` in each view.
(() => {
  const problems = [];
  const width = document.documentElement.clientWidth;
  const say = (what, text) => { if (problems.length < 12) problems.push(`${what}: ${text.trim().slice(0, 60)}`); };

  // Nothing is wider than the page.
  if (document.documentElement.scrollWidth > width) say("wider than the page", `${document.documentElement.scrollWidth} px`);
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg") || element.closest("thead")) continue;
    const style = getComputedStyle(element);
    const cuts = style.overflowX !== "visible" || style.textOverflow === "ellipsis";
    if (cuts && element.scrollWidth > element.clientWidth + 1) say("cut or scrolled", element.className || element.tagName);
  }

  // Every piece of text: where it is, how large and how clear.
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return parse(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "rgb(0,0,0)" : "rgb(255,255,255)");
  };
  // The canvas turns every form of a colour into red, green, blue and opacity.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const parse = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const data = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [data[0], data[1], data[2], data[3] / 255]);
    }
    return known.get(colour);
  };
  const luminance = (colour) => {
    const parts = colour.slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, title, thead[style], audio")) continue;
    const style = getComputedStyle(parent);
    if (style.visibility === "hidden" || !parent.checkVisibility()) continue;
    // Heads of stacked tables are for screen readers; their text stands before each cell.
    const head = parent.closest("thead");
    if (head && getComputedStyle(head).position === "absolute") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 0.5) continue;
      pieces.push({ text: node.data, box: box, parent: parent });
    }
    const size = parseFloat(style.fontSize);
    if (size < 11) say(`text of ${size} px`, node.data);
    const [one, other] = [luminance(parse(style.color)), luminance(background(parent))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) say(`contrast of ${contrast.toFixed(1)}`, node.data);
  }
  // A short word in a table stays whole.
  for (const cell of document.querySelectorAll("td, th")) {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const rows = new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top)));
    if (/^\S{1,16}$/.test(cell.textContent.trim()) && cell.checkVisibility() && rows.size > 1) say("broken within a word", cell.textContent);
  }
  for (const { text, box } of pieces) {
    if (box.left < -0.5 || box.right > width + 0.5) say("beyond the edge of the page", text);
  }

  // No text covers another. Sorted by their tops, so that only near ones are compared.
  const sticky = document.querySelector(".player");
  const loose = pieces.filter((piece) => !sticky || !sticky.contains(piece.parent)).sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < loose.length; i++) {
    const a = loose[i].box;
    for (let j = i + 1; j < loose.length; j++) {
      const b = loose[j].box;
      if (b.top >= a.bottom - 3) break;
      if (loose[i].parent === loose[j].parent) continue;
      const overlapX = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const overlapY = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (overlapX > 1 && overlapY > 3) say("texts cover each other", `${loose[i].text.trim()} | ${loose[j].text.trim()}`);
    }
  }

  // A label of a chart stays within its chart.
  for (const label of document.querySelectorAll(".frame .label")) {
    if (!label.checkVisibility()) continue;
    const box = label.getBoundingClientRect(), frame = label.parentElement.getBoundingClientRect();
    if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
      say("label beyond its chart", label.textContent);
  }

  // An axis has two values at least, or nothing can be read from it.
  for (const chart of document.querySelectorAll(".chart")) {
    const ticks = Array.from(chart.querySelectorAll(".frame .x")).filter((tick) => tick.checkVisibility());
    if (ticks.length === 1) say("axis with one value", `${chart.getAttribute("aria-label") || ""} ${ticks[0].textContent}`);
  }

  // Structure: one main heading, no level left out; names for pictures; heads for tables; a unit at every axis.
  const levels = Array.from(document.querySelectorAll("h1, h2, h3, h4"), (heading) => Number(heading.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) say("not one main heading", String(levels));
  levels.forEach((level, index) => { if (index > 0 && level > levels[index - 1] + 1) say("heading level left out", String(levels)); });
  for (const picture of document.querySelectorAll("[role=img]")) {
    if (!picture.getAttribute("aria-label")) say("picture without a name", picture.className);
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.querySelector("th[scope]")) say("table without heads", table.textContent);
  }
  for (const title of document.querySelectorAll(".x-title")) {
    if (!/\(.+\)|false accepts|misses/.test(title.textContent)) say("axis without a unit", title.textContent);
  }
  if (document.querySelectorAll("script").length !== document.querySelectorAll("audio").length) say("script", "from a name?");
  if (!document.documentElement.lang || !document.title) say("page without language or title", "");
  return { texts: pieces.length, problems: problems };
})();
