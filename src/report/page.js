// Brings a page to life: charts from the data in #page-data, their keyboard and their downloads,
// light and dark.
(() => {
  "use strict";

  const data = JSON.parse(document.getElementById("page-data").textContent);
  const announcer = document.getElementById("announcer");
  const charts = [];
  const mostRows = 500;  // of a data table; a download has them all
  const pointStyles = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "cross", "dash"];

  // ---- Numbers and text

  function shown(value) {
    if (typeof value === "string") return value;
    if (value === null || !Number.isFinite(value)) return "none";
    if (value === 0) return "0";  // not "-0"
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return value.toLocaleString("en");
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
    return String(Number(value.toPrecision(5)));
  }

  const superscript = (n) => String(n).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

  // On a long log axis only powers of ten are named; on shorter ones 2 and 5 times them, then all.
  function logTick(value, index, ticks) {
    const power = Math.floor(Math.log10(value) + 1e-9);
    const lead = Math.round(value / 10 ** power);
    const decades = Math.log10(ticks[ticks.length - 1].value / ticks[0].value);
    if (lead !== 1 && (decades > 2.5 || (decades > 0.8 && lead !== 2 && lead !== 5))) return null;
    if (lead !== 1 || Math.abs(power) < 4) return shown(value);
    return "10" + superscript(power);
  }

  // Not Math.min(...values): an argument list has a limit.
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

  const numberOrNaN = (value) => (value === null || value === undefined ? NaN : value);

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60).replace(/^-|-$/g, "") || "data";

  // ---- Colours

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const seriesColour = (index) => style(`--series-${(index % 8) + 1}`);

  function paintSets(datasets) {
    const bands = datasets.filter((d) => d.band).length / 2;
    for (const dataset of datasets) {
      const colour = seriesColour(dataset.series);
      dataset.borderColor = dataset.band ? "transparent" : colour;
      dataset.backgroundColor = colour;
      if (dataset.boxes) dataset.backgroundColor = colour + "2e";
      if (dataset.band) dataset.backgroundColor = colour + (bands > 2 ? "1a" : "2e");  // they lie upon one another
    }
    return datasets;
  }

  function paint(chart) {
    const { scales, plugins } = chart.options;
    for (const scale of Object.values(scales)) {
      scale.grid.color = style("--grid");
      scale.grid.borderColor = style("--line");
      scale.ticks.color = style("--quiet");
      scale.title.color = style("--quiet");
    }
    plugins.tooltip.backgroundColor = style("--text");
    plugins.tooltip.titleColor = style("--card");
    plugins.tooltip.bodyColor = style("--card");
    paintSets(chart.data.datasets);
    chart.update();  // not in the mode "none", which leaves the old colours with the elements
  }

  // ---- Marks that Chart.js has not: boxes' medians and whiskers, error bars

  function stroke(context, colour, width, lines) {
    context.save();
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const [x1, y1, x2, y2] of lines) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
    context.restore();
  }

  function drawBox(chart, element, box, colour) {
    const y = (value) => chart.scales.y.getPixelForValue(value);
    const { x, width } = element.getProps(["x", "width"], true);
    const half = width / 2;
    const cap = width / 4;
    stroke(chart.ctx, colour, 1.5, [
      [x, y(box.q3), x, y(box.high)], [x - cap, y(box.high), x + cap, y(box.high)],
      [x, y(box.q1), x, y(box.low)], [x - cap, y(box.low), x + cap, y(box.low)]]);
    stroke(chart.ctx, colour, 3, [[x - half, y(box.median), x + half, y(box.median)]]);
    chart.ctx.save();
    chart.ctx.strokeStyle = colour;
    for (const value of box.outliers) {
      chart.ctx.beginPath();
      chart.ctx.arc(x, y(value), 2.5, 0, 2 * Math.PI);
      chart.ctx.stroke();
    }
    chart.ctx.restore();
  }

  function drawErrorBar(chart, element, [low, high], colour, many) {
    const top = chart.scales.y.getPixelForValue(high);
    const bottom = chart.scales.y.getPixelForValue(low);
    const x = element.x;
    const caps = [[x - 3, top, x + 3, top], [x - 3, bottom, x + 3, bottom]];
    // Many of them are a texture behind the points.
    if (many) stroke(chart.ctx, colour + "59", 1, [[x, top, x, bottom]]);
    else stroke(chart.ctx, colour, 1.3, [[x, top, x, bottom], ...caps]);
  }

  const marks = {
    id: "marks",
    afterDatasetDraw(chart, { index, meta }) {
      const dataset = chart.data.datasets[index];
      const ink = dataset.errorBars && dataset.type === "bar" ? style("--text") : seriesColour(dataset.series);
      meta.data.forEach((element, i) => {
        const box = dataset.boxes && dataset.boxes[i];
        if (box && box.median !== null) drawBox(chart, element, box, ink);
        const bar = dataset.errorBars && dataset.errorBars[i];
        if (bar && bar[0] !== null && bar[1] !== null) drawErrorBar(chart, element, bar, ink, meta.data.length > 80);
      });
    },
  };

  // ---- Data sets

  // What a series has at an index, for the tooltip, the announcer, the table and the CSV.
  function entry(plot, series, index) {
    const x = !plot.categories ? series.x[index] : plot.categories[series.x ? series.x[index] : index];
    if (plot.kind === "box") {
      const { low, q1, median, q3, high } = series.boxes[index];
      return { x, low, q1, median, q3, high };
    }
    const found = { x, y: series.y[index] };
    if (series.low) Object.assign(found, { low: series.low[index], high: series.high[index] });
    return found;
  }

  function entryText(plot, series, index) {
    const e = entry(plot, series, index);
    if (plot.kind === "box") {
      return `${series.name}: median ${shown(e.median)}, quartiles ${shown(e.q1)} to ${shown(e.q3)}, ` +
        `whiskers ${shown(e.low)} to ${shown(e.high)}`;
    }
    const spread = series.low ? ` (${shown(e.low)} to ${shown(e.high)})` : "";
    return `${series.name}: ${shown(e.y)}${spread}`;
  }

  function entryTitle(plot, series, index) {
    const x = shown(entry(plot, series, index).x);
    return plot.x.label ? `${plot.x.label} ${x}` : x;
  }

  function points(xs, ys) {
    return xs.map((x, i) => ({ x: numberOrNaN(x), y: numberOrNaN(ys[i]) }));
  }

  function lineSets(plot, series, index) {
    const few = series.x.length <= 60;
    const line = {
      type: "line", series: index, label: series.name, data: points(series.x, series.y),
      borderWidth: series.x.length > 400 ? 1 : series.x.length > 60 ? 1.4 : 1.8, pointRadius: few ? 2.5 : 0, pointHitRadius: 8,
      pointHoverRadius: 5, pointStyle: pointStyles[index % pointStyles.length], order: 0, clip: 6,
      borderDash: index >= 8 ? [7, 4] : [],  // colours come again
    };
    if (!series.low) return [line];
    // A band that reaches down to zero has no lower end on a log axis: let it end at the least value.
    const bottom = least(plot.series.flatMap((s) => [...s.y, ...(s.high || [])]).filter((v) => v > 0));
    const low = plot.y.log ? series.low.map((v) => (v !== null && v <= 0 ? bottom : v)) : series.low;
    const edge = { type: "line", series: index, band: true, borderWidth: 0, pointRadius: 0, pointHitRadius: 0, order: 1 };
    return [line, { ...edge, data: points(series.x, low), fill: false },
      { ...edge, data: points(series.x, series.high), fill: "-1" }];
  }

  function scatterSets(plot, series, index) {
    return [{
      type: "scatter", series: index, label: series.name, data: points(series.x, series.y),
      pointRadius: series.x.length > 300 ? 2 : 3.5, pointHoverRadius: 6,
      pointStyle: pointStyles[index % pointStyles.length],
      errorBars: series.low && series.low.map((low, i) => [low, series.high[i]]),
    }];
  }

  function barSets(plot, series, index) {
    return [{
      type: "bar", series: index, label: series.name, data: series.y.map(numberOrNaN), borderWidth: 0,
      categoryPercentage: 0.86, barPercentage: 0.94, maxBarThickness: 60,
      errorBars: series.low && series.low.map((low, i) => [low, series.high[i]]),
    }];
  }

  // The box proper is a floating bar; `marks` draws the rest.
  function boxSets(plot, series, index) {
    return [{
      type: "bar", series: index, label: series.name, boxes: series.boxes,
      data: series.boxes.map((b) => (b.median === null ? null : [b.q1, b.q3])),
      borderWidth: 1.5, borderSkipped: false, categoryPercentage: 0.75, barPercentage: 0.8, maxBarThickness: 56,
    }];
  }

  const setsOf = { line: lineSets, scatter: scatterSets, bars: barSets, box: boxSets };

  // ---- Scales

  function xScale(plot) {
    const common = {
      grid: { display: !plot.categories }, title: { display: Boolean(plot.x.label), text: plot.x.label },
      ticks: { maxRotation: 0, autoSkipPadding: 16 },
    };
    if (plot.categories) {
      if (plot.categories.some((name) => name.length > 4)) common.ticks.maxRotation = 60;
      common.ticks.autoSkip = plot.categories.length > 12;
      return { type: "category", offset: true, ...common };
    }
    const all = plot.series.flatMap((s) => s.x).filter((v) => v !== null);
    const [from, to] = [least(all), greatest(all)];
    const scale = plot.x.log ? { type: "logarithmic" } : { type: "linear" };
    const room = plot.kind === "scatter" && !plot.x.log ? 0.02 * (to - from) : 0;
    if (from < to && (plot.kind === "line" || room > 0)) Object.assign(scale, { min: from - room, max: to + room });
    common.ticks.callback = plot.x.log ? logTick : shown;
    common.ticks.includeBounds = false;
    if (all.every(Number.isInteger)) common.ticks.precision = 0;
    return { ...scale, ...common };
  }

  // What the marks of this script reach, which Chart.js does not know of.
  function reach(plot) {
    const values = plot.series.flatMap((s) => [...(s.low || []), ...(s.high || []),
      ...(s.boxes || []).flatMap((b) => [b.low, b.high, ...b.outliers])]);
    if (plot.y.from !== undefined) values.push(plot.y.from, plot.y.to);
    return values.filter((v) => v !== null && (!plot.y.log || v > 0));
  }

  function yScale(plot) {
    const values = reach(plot);
    const scale = {
      type: plot.y.log ? "logarithmic" : "linear", beginAtZero: plot.kind === "bars" && !plot.y.log, grid: {},
      title: { display: Boolean(plot.y.label), text: plot.y.label },
      ticks: { callback: plot.y.log ? logTick : shown, maxTicksLimit: 9 },
    };
    if (!values.length) return scale;
    const [from, to] = [least(values), greatest(values)];
    const room = plot.kind === "box" && !plot.y.log ? 0.05 * (to - from || 1) : 0;
    return { ...scale, suggestedMin: from - room, suggestedMax: to + room };
  }

  // ---- Charts

  function makeChart(plot, canvas) {
    const label = (item) => entryText(plot, plot.series[item.dataset.series], item.dataIndex);
    const datasets = paintSets(plot.series.flatMap((s, i) => setsOf[plot.kind](plot, s, i)));
    const title = (items) => (items.length
      ? entryTitle(plot, plot.series[items[0].dataset.series], items[0].dataIndex) : "");
    return new Chart(canvas, {
      type: { line: "line", scatter: "scatter", bars: "bar", box: "bar" }[plot.kind],
      data: { labels: plot.categories, datasets },
      plugins: [marks],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
        parsing: plot.categories && plot.kind !== "scatter" ? undefined : false,
        interaction: plot.kind === "scatter" ? { mode: "nearest", intersect: true }
          : { mode: "nearest", axis: "x", intersect: false },
        scales: { x: xScale(plot), y: yScale(plot) },
        elements: { line: { tension: 0 } },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { label, title }, filter: (item) => !item.dataset.band, displayColors: false,
            padding: 9, caretPadding: 6 },
        },
      },
    });
  }

  const setsOfSeries = (chart, index) =>
    chart.data.datasets.map((d, i) => i).filter((i) => chart.data.datasets[i].series === index);

  function makeLegend(plot, chart, place) {
    if (plot.series.length < 2) return;
    plot.series.forEach((series, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = series.name;
      button.setAttribute("aria-pressed", "true");
      button.style.setProperty("--swatch", `var(--series-${(index % 8) + 1})`);
      button.classList.toggle("dashed", index >= 8 && plot.kind === "line");
      button.addEventListener("click", () => {
        const visible = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(visible));
        for (const i of setsOfSeries(chart, index)) chart.setDatasetVisibility(i, visible);
        chart.update();
      });
      place.append(button);
    });
  }

  // ---- The keyboard

  function show(plot, chart, at) {
    const [set] = setsOfSeries(chart, at.series);
    const series = plot.series[at.series];
    const active = [{ datasetIndex: set, index: at.index }];
    const { x, y } = chart.getDatasetMeta(set).data[at.index].getCenterPoint();
    chart.setActiveElements(active);
    // A value that is not there has no place to show a tooltip at; it is announced all the same.
    chart.tooltip.setActiveElements(Number.isFinite(x + y) ? active : [], { x, y });
    chart.update();
    announcer.textContent = `${entryTitle(plot, series, at.index)}, ${entryText(plot, series, at.index)}`;
  }

  function hide(chart) {
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    chart.update();
    announcer.textContent = "";
  }

  const lengthOf = (series) => (series.boxes || series.y).length;

  // Where a key leads from `at`; nothing when the key is not ours.
  function moved(plot, chart, at, key) {
    const visible = plot.series.map((s, i) => i).filter((i) => chart.isDatasetVisible(setsOfSeries(chart, i)[0]));
    if (!visible.length) return null;
    const to = { ...at, series: visible.includes(at.series) ? at.series : visible[0] };
    const last = lengthOf(plot.series[to.series]) - 1;
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -last, End: last };
    if (key in steps) {
      to.index = Math.max(0, Math.min(last, at.index + steps[key]));
      return to;
    }
    if (key !== "ArrowDown" && key !== "ArrowUp") return null;
    const place = visible.indexOf(to.series) + (key === "ArrowDown" ? 1 : -1);
    to.series = visible[(place + visible.length) % visible.length];
    to.index = Math.max(0, Math.min(lengthOf(plot.series[to.series]) - 1, at.index));
    return to;
  }

  function listenToKeys(plot, chart, box) {
    let at = { series: 0, index: -1 };
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") {
        hide(chart);
        return;
      }
      const to = moved(plot, chart, at, event.key);
      if (!to || !lengthOf(plot.series[to.series])) return;
      event.preventDefault();
      at = to;
      show(plot, chart, at);
    });
    box.addEventListener("blur", () => hide(chart));
  }

  // ---- Data

  function rowsOf(plot) {
    const names = plot.kind === "box" ? ["low", "q1", "median", "q3", "high"] : ["y"];
    if (plot.kind !== "box" && plot.series.some((s) => s.low)) names.push("low", "high");
    const head = ["series", plot.x.label || "x", ...names.map((n) => (n === "y" ? plot.y.label || "y" : n))];
    const rows = plot.series.flatMap((series) => Array.from({ length: lengthOf(series) }, (_, i) => {
      const e = entry(plot, series, i);
      return [series.name, e.x, ...names.map((n) => (e[n] === undefined ? null : e[n]))];
    }));
    return [head, ...rows];
  }

  function csv(rows) {
    const field = (v) => {
      const text = v === null ? "" : String(v);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
  }

  function dataTable(plot) {
    const [head, ...rows] = rowsOf(plot);
    const table = document.createElement("table");
    const addRow = (part, tag, cells) => {
      const row = part.insertRow();
      for (const cell of cells) {
        const element = document.createElement(tag);
        element.textContent = cell === null ? "" : tag === "th" ? cell : shown(cell);
        if (typeof cell === "number") element.className = "number";
        if (tag === "th") element.scope = "col";
        row.append(element);
      }
    };
    addRow(table.createTHead(), "th", head);
    const body = table.createTBody();
    for (const row of rows.slice(0, mostRows)) addRow(body, "td", row);
    if (rows.length > mostRows) {
      table.createCaption().textContent = `The first ${mostRows} of ${shown(rows.length)} rows; the CSV has all.`;
    }
    const place = document.createElement("div");
    Object.assign(place, { className: "table", tabIndex: 0, role: "region", ariaLabel: `Data of ${plot.title}` });
    place.append(table);
    return place;
  }

  function makeTools(plot, figure) {
    const details = figure.querySelector("details");
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("table")) details.append(dataTable(plot));
    });
    const button = figure.querySelector(".csv");
    button.hidden = false;
    button.addEventListener("click", () => save(`${fileName(plot.title)}.csv`, "text/csv", csv(rowsOf(plot))));
  }

  // ---- Tables that sort

  function sortBy(table, column, descending) {
    const rows = [...table.tBodies[0].rows];
    const key = (row) => row.cells[column].textContent;
    const number = (row) => {
      const text = key(row).replaceAll(",", "");
      return text === "inf" ? Infinity : Number.parseFloat(text);
    };
    const numeric = rows.some((row) => row.cells[column].classList.contains("number"));
    const sign = descending ? -1 : 1;
    rows.sort((a, b) => {
      if (!numeric) return sign * key(a).localeCompare(key(b), "en", { numeric: true });
      const [x, y] = [number(a), number(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return x === y ? 0 : sign * (x < y ? -1 : 1);
    });
    table.tBodies[0].append(...rows);
  }

  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sortBy(table, column, descending);
      });
    });
  }

  // ---- Light and dark

  const darkSystem = matchMedia("(prefers-color-scheme: dark)");
  const themeButton = document.getElementById("toggle-theme");
  const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";

  function repaint() {
    themeButton.textContent = isDark() ? "Light colours" : "Dark colours";
    charts.forEach(paint);
  }

  themeButton.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  darkSystem.addEventListener("change", repaint);

  // On paper: light, and as wide as the paper.
  let themeOnScreen;
  addEventListener("beforeprint", () => {
    themeOnScreen = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    repaint();
    charts.forEach((chart) => chart.resize());
  });
  addEventListener("afterprint", () => {
    if (themeOnScreen) document.documentElement.dataset.theme = themeOnScreen;
    else delete document.documentElement.dataset.theme;
    repaint();
    charts.forEach((chart) => chart.resize());
  });

  // ---- Begin

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  for (const plot of data.plots) {
    const figure = document.getElementById(plot.id);
    const chart = makeChart(plot, figure.querySelector("canvas"));
    charts.push(chart);
    makeLegend(plot, chart, figure.querySelector(".legend"));
    listenToKeys(plot, chart, figure.querySelector(".chart"));
    makeTools(plot, figure);
  }
  document.querySelectorAll("main > .table table").forEach(makeSortable);
  const download = document.getElementById("download-data");
  download.addEventListener("click", () =>
    save(`${fileName(data.title)}.json`, "application/json", JSON.stringify(data, null, 1) + "\n"));
  download.hidden = themeButton.hidden = false;
  repaint();
})();
