/* What is wrong with an open page for somebody who reads it: returns sentences, each naming a kind and one place.

   axe measures the contrast of HTML only; words in drawings are measured here. Plotly's stand on pictures: their own
   tests know the colours below them. */
() => {
  const SMALLEST = 11;
  const CONTRAST = 4.5;
  const found = new Set();
  const brush = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });

  const shown = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 1 &&
    !element.closest(".sr, .skip, title, script, style, option, .tbl-stack-head");
  const place = (element, text) =>
    `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} “${text.slice(0, 24)}”`;

  const colour = (css) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = css;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, under, share = top[3] / 255) =>
    [0, 1, 2].map((at) => top[at] * share + under[at] * (1 - share)).concat(255);
  const light = (parts) => {
    const [red, green, blue] = parts.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(colour(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255, 255]);
  };
  /** The colour below a word of a drawing: every filled shape that was drawn before it there. */
  const drawnBelow = (word, drawing) => {
    const box = word.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    let below = ground(drawing);
    for (const shape of drawing.querySelectorAll("rect, path")) {
      if (shape.compareDocumentPosition(word) & Node.DOCUMENT_POSITION_PRECEDING) break;
      const own = shape.getBoundingClientRect();
      const style = getComputedStyle(shape);
      const isUnder = own.left <= x && x <= own.right && own.top <= y && y <= own.bottom;
      if (!isUnder || style.fill === "none" || style.fill.startsWith("url")) continue;
      const fill = colour(style.fill);
      below = over(fill, below, (fill[3] / 255) * style.fillOpacity * style.opacity);
    }
    return below;
  };

  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const text = words.currentNode.textContent.trim();
    const element = words.currentNode.parentElement;
    if (!text || !shown(element)) continue;
    const style = getComputedStyle(element);
    const drawing = element.closest("svg");
    const matrix = drawing?.getScreenCTM();
    const size = parseFloat(style.fontSize) * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
    if (size && size < SMALLEST - 0.05) found.add(`${size.toFixed(1)} px: ${place(element, text)}`);
    if (element instanceof SVGElement && !element.closest(".js-plotly-plot")) {
      const below = drawnBelow(element, drawing);
      const ratio = contrast(over(colour(style.fill), below), below);
      if (ratio < CONTRAST) found.add(`contrast ${ratio.toFixed(1)}: ${place(element, text)}`);
    }
  }

  for (const list of document.querySelectorAll("select")) {
    const chosen = list.selectedOptions[0]?.text ?? "";
    const style = getComputedStyle(list);
    brush.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    // Filters give each list the same room; and no list is wider than the screen.
    const isFixed = list.closest(".filters") || list.clientWidth > innerWidth * 0.75;
    if (shown(list) && !isFixed && brush.measureText(chosen).width > room + 1) {
      found.add(`a choice is cut: ${list.id} “${chosen}”`);
    }
  }
  return [...found].slice(0, 12);
}
