// Bars for groups and for time with gaps, a line for time without; drawn by Chart.js, loaded when the first chart is shown. The table beneath says the same in words.
import { BarController, BarElement, CategoryScale, Chart as Drawn, LinearScale, LineController, LineElement, PointElement, Tooltip } from "chart.js";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { printing } from "./printing";
import { theme } from "../settings/theme";
import { language, t } from "../words";
import type { Series } from "./cells";

Drawn.register(BarController, BarElement, CategoryScale, LinearScale, LineController, LineElement, PointElement, Tooltip);
Drawn.defaults.font.family = '"Inter Variable", system-ui, sans-serif';
const MOST_BARS = 30;
const BAR = 30;

export function Chart({ series }: { series: Series[] }) {
  const [at, setAt] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  const one = series[Math.min(at, series.length - 1)]!;
  const labels = one.line ? one.labels : one.labels.slice(0, MOST_BARS);
  const values = one.line ? one.values : one.values.slice(0, MOST_BARS);
  // A line over months in which nothing happened would show amounts that there are not.
  const joined = one.line && !values.includes(null);
  // At once: what is printed is drawn anew before the printer takes it.
  useLayoutEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const number = new Intl.NumberFormat(language.value, { maximumFractionDigits: 2 });
    const short = new Intl.NumberFormat(language.value, { notation: "compact", maximumFractionDigits: 1 });
    // A label takes a third of the width at most; the whole name is in the tooltip and in the table.
    const longest = Math.max(8, Math.min(32, Math.floor(canvas.current!.parentElement!.clientWidth / 3 / 7)));
    const values_axis = {
      beginAtZero: true,
      border: { display: false },
      grid: { color: color("--line-soft") },
      ticks: { color: color("--faint"), callback: (value: string | number) => short.format(Number(value)), maxTicksLimit: 6 },
    };
    const names_axis = {
      border: { color: color("--line") },
      grid: { display: false },
      ticks: {
        color: color("--ink-soft"),
        autoSkip: one.line,
        callback: (_: unknown, index: number) => {
          const label = labels[index] ?? "";
          return label.length > longest ? `${label.slice(0, longest - 1)}…` : label;
        },
      },
    };
    const drawn = new Drawn(canvas.current!, {
      type: joined ? "line" : "bar",
      data: {
        labels,
        datasets: [
          {
            data: values,
            backgroundColor: joined ? color("--accent-wash") : color("--accent"),
            hoverBackgroundColor: color("--accent-strong"),
            borderColor: color("--accent"),
            borderWidth: joined ? 2 : 0,
            borderRadius: 3,
            maxBarThickness: one.line ? 40 : 18,
            pointRadius: 3,
            pointBackgroundColor: color("--accent"),
          },
        ],
      },
      options: {
        indexAxis: one.line ? "x" : "y",
        animation: printing.value || matchMedia("(prefers-reduced-motion: reduce)").matches ? false : { duration: 350 },
        maintainAspectRatio: false,
        responsive: true,
        plugins: { tooltip: { displayColors: false, callbacks: { title: (items) => labels[items[0]!.dataIndex] ?? "", label: (item) => `${number.format(Number(item.raw))} ${one.unit}`.trim() } } },
        scales: one.line ? { x: names_axis, y: values_axis } : { x: values_axis, y: names_axis },
      },
    });
    return () => drawn.destroy();
  }, [one, theme.value, language.value, printing.value]);
  const height = one.line ? 260 : Math.max(120, labels.length * BAR + 40);
  return (
    <figure class="chart">
      <figcaption>
        <span>
          {one.label}
          {one.unit && series.length < 2 ? `, ${one.unit}` : ""}
        </span>
        {series.length > 1 && (
          <span class="segments" role="group" aria-label={t("chart.choose")}>
            {series.map((item, index) => (
              <button type="button" aria-pressed={item === one} onClick={() => setAt(index)}>
                {item.unit && series.every((other) => other.label === item.label) ? item.unit : [item.label, item.unit].filter(Boolean).join(", ")}
              </button>
            ))}
          </span>
        )}
        {labels.length < one.labels.length && <span class="faint">{t("chart.some", { n: labels.length, all: one.labels.length })}</span>}
      </figcaption>
      <Canvas height={height}>
        <canvas ref={canvas} role="img" aria-label={t("chart.label", { label: one.label, unit: one.unit, n: labels.length })} />
      </Canvas>
    </figure>
  );
}

function Canvas({ height, children }: { height: number; children: preact.ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // By the object model: the page's policy allows no style in markup.
    frame.current!.style.height = `${height}px`;
  }, [height]);
  return (
    <div class="chart-frame" ref={frame}>
      {children}
    </div>
  );
}
