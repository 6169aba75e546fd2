// Draws the page's charts with Plotly. Data comes as JSON blocks, colours from the tokens at the time of drawing.
// Labels are allow-listed ids made by the server; nothing uploaded reaches a template string.

const FONT = 12;

const TOKENS = ["surface", "ink", "ink-2", "line", "line-strong", "pass-fill", "fail-fill", "unk-fill"];

/** Read tokens as the browser resolves them: light-dark() has a value only on a real property. */
function colours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const resolved = Object.fromEntries(
    TOKENS.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return resolved;
}

function base(paint, x, y) {
  const axis = (title) => ({
    title: { text: title, font: { size: FONT } },
    gridcolor: paint.line,
    linecolor: paint["line-strong"],
    zeroline: false,
    automargin: true,
    fixedrange: true,
  });
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: FONT, color: paint["ink-2"] },
    paper_bgcolor: paint.surface,
    plot_bgcolor: paint.surface,
    margin: { l: 56, r: 16, t: 16, b: 48 },
    hovermode: "closest",
    showlegend: false,
    dragmode: false,
    xaxis: axis(x),
    yaxis: axis(y),
  };
}

function mix(paint, share) {
  const part = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
  const [ink, ground] = [part(paint.ink), part(paint.surface)];
  return `rgb(${ink.map((value, at) => Math.round(value * share + ground[at] * (1 - share))).join(",")})`;
}

/** Shares of ink in the grounds of a heat map: the lower three carry ink, the others the colour of the surface. */
const GROUNDS = [0.05, 0.14, 0.26, 0.78, 0.94];
const LAST_OF_INK = 2;

/** A scale of steps: between them no ground is so grey that neither dark nor light words can be read on it. */
function steps(colors) {
  return colors.flatMap((color, at) => [
    [at / colors.length, color],
    [(at + 1) / colors.length, color],
  ]);
}

/** What the scale reaches over; values that are all the same stand in the middle of it. */
function span({ low, high }) {
  return low < high ? { low, high } : { low: low - 1, high: high + 1 };
}

/** The words of a heat map, each in the colour that is read on its ground; Plotly's own choice is a grey. */
function words(data, paint) {
  const cells = data.z.flatMap((row, y) => row.map((value, x) => ({ value, x, y: data.rows[y], text: data.text[y][x] })));
  const { low, high } = span(data);
  const step = (value) => Math.min(GROUNDS.length - 1, Math.floor(((value - low) / (high - low)) * GROUNDS.length));
  return {
    type: "scatter",
    mode: "text",
    x: cells.map((cell) => cell.x),
    y: cells.map((cell) => cell.y),
    text: cells.map((cell) => cell.text),
    textfont: {
      size: FONT,
      weight: 600,
      color: cells.map(({ value }) => (value === null || step(value) <= LAST_OF_INK ? paint.ink : paint.surface)),
    },
    cliponaxis: false,
    hoverinfo: "skip",
  };
}

function heat(data, paint) {
  const layout = base(paint, "", "");
  layout.xaxis = { ...layout.xaxis, showgrid: false, showline: false, showticklabels: false, ticks: "" };
  layout.yaxis = { ...layout.yaxis, showgrid: false, showline: false, ticks: "", autorange: "reversed", type: "category" };
  layout.margin = { l: 72, r: 16, t: 8, b: 8 };
  const trace = {
    type: "heatmap",
    z: data.z,
    y: data.rows,
    text: data.text,
    hovertemplate: "%{text}<extra></extra>",
    hoverongaps: false,
    xgap: 2,
    ygap: 2,
    zmin: span(data).low,
    zmax: span(data).high,
    colorscale: steps(GROUNDS.map((share) => mix(paint, share))),
    colorbar: { thickness: 10, outlinewidth: 0, title: { text: data.unit, side: "right" } },
  };
  // The highest value has the darkest ground: a frame inside it marks it by form, and words where there is no text.
  if (data.worst) {
    const [x, y] = data.worst;
    layout.shapes = [
      { type: "rect", x0: x - 0.42, x1: x + 0.42, y0: y - 0.4, y1: y + 0.4, line: { color: paint.surface, width: 2 } },
    ];
    if (!data.has_text) {
      layout.annotations = [
        { x, y, text: "highest", arrowcolor: paint.ink, ax: 0, ay: y ? -24 : 24, bgcolor: paint.surface, bordercolor: paint.ink, font: { color: paint.ink, size: 11 } },
      ];
    }
  }
  return { traces: data.has_text ? [trace, words(data, paint)] : [trace], layout };
}

const SHAPES = {
  pass: { symbol: "circle", fill: "pass-fill" },
  fail: { symbol: "x-thin", fill: "fail-fill" },
  unk: { symbol: "square-open-dot", fill: "unk-fill" },
};

function frontier(data, paint) {
  const layout = base(paint, data.x_title, data.y_title);
  const crowded = data.groups.some((group) => !group.has_names);
  const middle = (data.x_range[0] + data.x_range[1]) / 2;
  const traces = data.groups.map((group) => ({
    type: "scatter",
    mode: group.has_names ? "markers+text" : "markers",
    x: group.x,
    y: group.y,
    text: group.labels,
    textposition: group.x.map((x) => `${crowded ? "top" : "middle"} ${x > middle ? "left" : "right"}`),
    textfont: { color: group.css === "pass" ? paint.ink : paint["ink-2"], size: FONT },
    hovertemplate: "%{text}<br>%{x}<br>%{y}<extra></extra>",
    cliponaxis: false,
    marker: {
      symbol: SHAPES[group.css].symbol,
      color: paint[SHAPES[group.css].fill],
      size: crowded && !group.has_names ? 7 : 13,
      line: { width: group.css === "pass" ? 0 : crowded ? 1.5 : 2.5, color: paint[SHAPES[group.css].fill] },
    },
  }));
  layout.shapes = data.limits.map((limit) => ({
    type: "line",
    line: { color: paint.ink, width: 1.5, dash: "dash" },
    ...(limit.axis === "x"
      ? { x0: limit.at, x1: limit.at, yref: "paper", y0: 0, y1: 1 }
      : { y0: limit.at, y1: limit.at, xref: "paper", x0: 0, x1: 1 }),
  }));
  layout.annotations = data.limits.map((limit) => ({
    text: limit.text,
    showarrow: false,
    font: { color: paint.ink, size: 11 },
    ...(limit.axis === "x"
      ? {
          x: limit.at,
          yref: "paper",
          y: 1,
          xanchor: limit.at > middle ? "right" : "left",
          yanchor: "top",
          xshift: limit.at > middle ? -4 : 4,
        }
      : { y: limit.at, xref: "paper", x: 1, xanchor: "right", yanchor: "bottom" }),
  }));
  layout.xaxis.range = data.x_range;
  layout.yaxis.range = data.y_range;
  layout.margin.r = 24;
  return { traces, layout };
}

const KINDS = { heat, frontier };

export function draw(root) {
  for (const place of root.querySelectorAll("[data-chart]")) {
    const data = JSON.parse(document.getElementById(place.dataset.source).textContent);
    const { traces, layout } = KINDS[place.dataset.chart](data, colours());
    globalThis.Plotly.react(place, traces, layout, { displayModeBar: false, responsive: true, staticPlot: false });
  }
}

draw(document);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(document));
document.addEventListener("theme", () => draw(document));
document.addEventListener("htmx:afterSettle", () => draw(document));
