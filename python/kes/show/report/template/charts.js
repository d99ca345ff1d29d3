// The charts: plotly draws what Python prepared, in the colours of the page.

const CHARTS = ["landscape", "scores", "accumulation", "best-so-far"];
const SELECTED_TRACE = 3; // of the landscape

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "soft", "grid", "paper", "line", "added", "open", "dot"];
  return Object.fromEntries(names.map((name) => [name, get(name)]));
}

// Python's colours suit light pages; these are the same for any page.
function adapted(colour, { ink, added, open }) {
  return { undefined: ink, "#0072b2": added, "#d55e00": open }[colour] ?? colour;
}

function themed(figure, narrow) {
  const theme = colours();
  const { ink, soft, grid, paper, line, dot } = theme;
  const axis = (own) => ({ ...own, gridcolor: grid, linecolor: line, color: soft, automargin: true });
  const layout = {
    ...figure.layout,
    xaxis: axis(figure.layout.xaxis),
    yaxis: axis(figure.layout.yaxis),
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: ink },
    hoverlabel: { bgcolor: paper, bordercolor: soft, font: { color: ink }, align: "left" },
    margin: { l: narrow ? 40 : 56, r: 12, t: 34, b: 44 },
    hovermode: "closest",
    dragmode: narrow ? false : "zoom",
  };
  const traces = figure.data.map((trace) => {
    const copy = structuredClone(trace);
    const { marker } = copy;
    if (copy.line) copy.line.color = adapted(copy.line.color, theme);
    if (marker && typeof marker.color === "string") marker.color = adapted(marker.color, theme);
    if (marker?.line) marker.line.color = copy.name ? ink : dot;
    if (copy.name === "selected") marker.color = ink;
    if (marker?.colorbar && narrow) marker.showscale = false;
    return copy;
  });
  return [traces, layout];
}

class Charts {
  constructor(choose) {
    this.choose = choose;
    this.selected = data.best;
    this.drawn = new Set();
    // A chart is drawn when it comes near the screen, or there is nothing else to do: the page
    // opens faster.
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting && !this.drawn.has(target.id)) this.draw(target.id);
      }
    }, { rootMargin: "300px" });
    for (const name of CHARTS) this.watcher.observe(document.getElementById(name));
    addEventListener("load", () => setTimeout(() => this.drawRest(), 1000));
    const redraw = () => this.drawn.forEach((name) => this.draw(name));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    matchMedia("(max-width: 560px)").addEventListener("change", redraw);
    // On paper the page is light and narrower than on the screen, and has all charts.
    matchMedia("print").addEventListener("change", () => CHARTS.forEach((name) => this.draw(name)));
  }

  draw(name) {
    const narrow = matchMedia("(max-width: 560px)").matches;
    const place = document.getElementById(name);
    const [traces, layout] = themed(data.figures[name], narrow);
    if (name === "landscape") Object.assign(traces[SELECTED_TRACE], this.selection());
    const config = {
      displaylogo: false,
      responsive: true,
      displayModeBar: narrow ? false : "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: `kes-${name}` },
    };
    Plotly.react(place, traces, layout, config);
    if (!this.drawn.has(name)) {
      place.on("plotly_click", ({ points }) => {
        const index = points[0].customdata;
        if (Number.isInteger(index)) this.choose(index);
      });
    }
    this.drawn.add(name);
  }

  drawRest() {
    const next = CHARTS.find((name) => !this.drawn.has(name));
    if (!next) return;
    this.draw(next);
    setTimeout(() => this.drawRest(), 100); // between two charts the page can react
  }

  // Where the ring around the chosen optimum goes.
  selection() {
    const { x, y, customdata } = data.figures.landscape.data[0];
    const at = customdata.indexOf(this.selected);
    return { x: [x[at]], y: [y[at]], customdata: [this.selected] };
  }

  select(index) {
    this.selected = index;
    if (!this.drawn.has("landscape")) return;
    const { x, y, customdata } = this.selection();
    Plotly.restyle("landscape", { x: [x], y: [y], customdata: [customdata] }, [SELECTED_TRACE]);
  }
}
