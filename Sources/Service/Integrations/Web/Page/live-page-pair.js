"use strict";
// ---- The key that Home Assistant asks for when it adds the voice satellite, as text and QR code, for those who have the token.

const pairing = {
  async load() {
    let key = null;
    try {
      const answer = mayChange ? await get("esphome") : null;
      if (answer && answer.ok) key = await answer.json();
    } catch { }
    $("pair-section").hidden = !key;
    // Whoever passes by does not see it: the user opens it, and it is closed again with the token.
    if (!key) $("pair-details").open = false;
    $("pair-name").textContent = key ? key.name : "";
    $("pair-key").textContent = key ? key.key : "";
    this.draw(key && key.modules);
  },
  // Dark on white whatever the page's colours are, with a margin, as cameras need it.
  draw(rows) {
    const canvas = $("pair-code");
    canvas.hidden = !rows;
    if (!rows) return;
    const [margin, scale] = [4, 6];
    canvas.width = canvas.height = (rows.length + 2 * margin) * scale;
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = "#000000";
    rows.forEach((row, y) => [...row].forEach((dot, x) => {
      if (dot === "1") pen.fillRect((x + margin) * scale, (y + margin) * scale, scale, scale);
    }));
  },
};
