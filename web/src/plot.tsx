// Plots of a stream's last minutes.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import { SPAN_S, type History } from "./history";
import type { Path } from "./api";
import { useInSight } from "./parts";
import { rate } from "./words";

/** Links with a colour of their own; the others are one area. */
export const COLOURED = 7;
const HEIGHT = 180;
/** Seconds that an empty plot shows. */
const LEAST_S = 60;

const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colour of a link, by its place in the list. */
export const colourName = (place: number): string => (place < COLOURED ? `--link-${place}` : "--link-rest");

const base = (width: number, label: (value: number) => string): Omit<uPlot.Options, "series"> => {
  const axis: uPlot.Axis = {
    stroke: style("--muted"),
    grid: { stroke: style("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    legend: { show: false },
    scales: { x: { time: true, range: (_, min, max) => [Math.max(Math.min(min, max - LEAST_S), max - SPAN_S), max] }, y: { range: (_, __, max) => [0, (max || 1) * 1.1] } },
    axes: [
      { ...axis, values: "{HH}:{mm}:{ss}", space: 90, size: 28 },
      { ...axis, values: (_, splits) => splits.map(label), size: 78 },
    ],
  };
};

interface Plotted {
  /** Makes a plot anew when it differs. */
  form: string;
  label: string;
  options: (width: number) => uPlot.Options;
  data: () => uPlot.AlignedData;
  /** Changes with each sample. */
  version: number;
}

/** A plot that has the width of its place, and the colours of the page. */
function Plot({ form, label, options, data, version }: Plotted) {
  const [place, inSight] = useInSight<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const make = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element.clientWidth), data(), element);
    };
    make();
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", make);
    return () => {
      sized.disconnect();
      scheme.removeEventListener("change", make);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [form]);
  useEffect(() => {
    if (!inSight) return undefined;
    // Each plot is drawn in a task of its own.
    const timer = setTimeout(() => plot.current?.setData(data()));
    return () => clearTimeout(timer);
  }, [version, inSight]);
  return <div class="plot" role="img" aria-label={label} ref={place} />;
}

/** Margin over time, with a mark wherever messages were too late. */
export function MarginPlot({ history, version }: { history: History; version: number }) {
  const marks = (plot: uPlot): void => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.fillStyle = style("--late");
    for (const late of history.late) {
      const from = plot.valToPos(late.from / 1000 - 0.5, "x", true);
      const to = plot.valToPos(late.to / 1000 + 0.5, "x", true);
      if (to < bbox.left) continue;
      const left = Math.max(from, bbox.left);
      ctx.fillRect(left, bbox.top, Math.max(2, to - left), bbox.height);
    }
    ctx.restore();
  };
  const options = (width: number): uPlot.Options => ({
    ...base(width, (value) => `${Math.round(value)} ms`),
    series: [{}, { stroke: style("--accent"), width: 2, points: { show: false } }],
    hooks: { drawClear: [marks] },
  });
  const data = (): uPlot.AlignedData => [
    history.samples.map((one) => one.at / 1000),
    history.samples.map((one) => one.margin),
  ];
  return <Plot form="margin" label="Margin over the last minutes" {...{ options, data, version }} />;
}

/** Rates of all links, stacked. */
export function LinkPlot({ history, paths, version }: { history: History; paths: Path[]; version: number }) {
  const own = paths.slice(0, COLOURED).map((path) => path.id);
  const rest = paths.slice(COLOURED).map((path) => path.id);
  const areas = rest.length ? own.length + 1 : own.length;
  // The highest sum is drawn first, and the others over it.
  const places = [...Array(areas).keys()].reverse();
  const options = (width: number): uPlot.Options => ({
    ...base(width, rate),
    series: [{}, ...places.map((place): uPlot.Series => {
      const colour = style(colourName(place));
      return { stroke: colour, fill: colour, width: 1, points: { show: false } };
    })],
  });
  const data = (): uPlot.AlignedData => {
    const sums = history.samples.map(({ rates }) => {
      const values = own.map((id) => rates.get(id) ?? 0);
      if (rest.length) values.push(rest.reduce((sum, id) => sum + (rates.get(id) ?? 0), 0));
      let sum = 0;
      return values.map((value) => (sum += value));
    });
    const areasOf = places.map((place) => sums.map((one) => one[place] ?? 0));
    return [history.samples.map((one) => one.at / 1000), ...areasOf];
  };
  const form = [...own, ...rest].join(" ");
  return <Plot label="Rates of the links over the last minutes, stacked" {...{ form, options, data, version }} />;
}
