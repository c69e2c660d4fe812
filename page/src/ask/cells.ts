// What the cells of a table are: amounts with their currency, numbers, days, words; how they are ordered and charted.

export type Cell =
  | { kind: "money"; text: string; value: number; currency: string }
  | { kind: "number"; text: string; value: number; unit: string }
  | { kind: "date"; text: string; value: number }
  | { kind: "text"; text: string }
  | { kind: "empty"; text: "" };

const MONEY = /^(-?[\d,]+(?:\.\d+)?)\s([A-Z]{3})$/;
const NUMBER = /^(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?:\s(\D{1,6}))?$/;
const DAY = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/;

export function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(shown).join("; ");
  if (typeof value === "object") {
    const given = value as Record<string, unknown>;
    return "amount" in given ? `${given.amount} ${given.currency ?? ""}`.trim() : String(given.raw ?? given.value ?? "");
  }
  return String(value);
}

export function cellOf(value: unknown): Cell {
  const text = shown(value).trim();
  if (!text) return { kind: "empty", text: "" };
  const money = MONEY.exec(text);
  if (money) return { kind: "money", text, value: Number(money[1]!.replaceAll(",", "")), currency: money[2]! };
  const day = DAY.exec(text);
  if (day) return { kind: "date", text, value: Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3] ?? 1)) };
  const number = NUMBER.exec(text);
  // A code with leading zeros is no number.
  if (number && !/^-?0\d/.test(text)) return { kind: "number", text, value: Number(number[1]!.replaceAll(",", "")), unit: number[2] ?? "" };
  return { kind: "text", text };
}

/** The kind of a whole column: that of all its cells that hold something, else text; an amount may lack its currency. */
export function kindOf(cells: Cell[]): Cell["kind"] {
  const kinds = new Set(cells.map((cell) => cell.kind).filter((kind) => kind !== "empty"));
  if (kinds.has("money")) kinds.delete("number");
  return kinds.size === 1 ? [...kinds][0]! : kinds.size ? "text" : "empty";
}

/** Order cells: amounts within their currency, numbers by size, days by time, words by the alphabet; empty ones last either way. */
export function compare(one: Cell, other: Cell, down: boolean): number {
  if (one.kind === "empty" || other.kind === "empty") return Number(one.kind === "empty") - Number(other.kind === "empty");
  const turn = down ? -1 : 1;
  if (one.kind === "money" || other.kind === "money") {
    const [own, its] = [one, other].map((cell) => (cell.kind === "money" ? cell.currency : ""));
    if (own !== its) return own!.localeCompare(its!);
  }
  if (one.kind === other.kind && "value" in one && "value" in other) return (one.value - other.value) * turn;
  return one.text.localeCompare(other.text, undefined, { numeric: true, sensitivity: "base" }) * turn;
}

export const currenciesOf = (cells: Cell[]): string[] => [...new Set(cells.flatMap((cell) => (cell.kind === "money" ? [cell.currency] : [])))].sort();

export interface Series {
  label: string;
  unit: string;
  /** Over time; what is missing in between is null. */
  line: boolean;
  labels: string[];
  /** One a label; null for a month without a row. */
  values: (number | null)[];
}

/** Time itself is drawn as a line: months, days, years. */
const TIME = /^\d{4}(-\d{2}(-\d{2})?)?$|^\d{4}-Q[1-4]$/;

/**
 * Return what can be drawn of a table: for each column of amounts or numbers, and each currency in it, one series
 * over the groups that the other columns name. Rows that are documents are not drawn one by one.
 */
export function seriesOf(columns: string[], rows: Cell[][]): Series[] {
  const kinds = columns.map((_, at) => kindOf(rows.map((row) => row[at]!)));
  const time = columns.findIndex((_, at) => rows.length > 1 && rows.every((row) => TIME.test(row[at]!.text)));
  const measured = columns.map((_, at) => at).filter((at) => at !== time && (kinds[at] === "money" || kinds[at] === "number"));
  const naming = columns.map((_, at) => at).filter((at) => !measured.includes(at));
  if (!naming.length || rows.length < 2) return [];
  const line = naming.length === 1 && time === naming[0];
  const ordered = line ? [...rows].sort((one, other) => one[time]!.text.localeCompare(other[time]!.text)) : rows;
  const series: Series[] = [];
  for (const at of measured) {
    const units = kinds[at] === "money" ? currenciesOf(rows.map((row) => row[at]!)) : [""];
    for (const unit of units) {
      const own = ordered.filter((row) => {
        const cell = row[at]!;
        return cell.kind === "money" ? cell.currency === unit : cell.kind === "number" && unit === "";
      });
      if (own.length < 2) continue;
      if (line) {
        const found = new Map(own.map((row) => [row[time]!.text, valueOf(row[at]!)]));
        const labels = everyMonth([...found.keys()]);
        series.push({ label: columns[at]!, unit, line, labels, values: labels.map((label) => found.get(label) ?? null) });
        continue;
      }
      const sorted = [...own].sort((one, other) => valueOf(other[at]!) - valueOf(one[at]!));
      series.push({
        label: columns[at]!,
        unit,
        line,
        labels: sorted.map((row) => naming.map((name) => row[name]!.text || "–").join(" · ")),
        values: sorted.map((row) => valueOf(row[at]!)),
      });
    }
  }
  // First what most groups have.
  return series.sort((one, other) => other.labels.length - one.labels.length);
}

const MOST_MONTHS = 240;

/** Months between the first and the last are there too, though nothing happened in them: a line would hide that. */
function everyMonth(labels: string[]): string[] {
  if (!labels.every((label) => /^\d{4}-(0[1-9]|1[0-2])$/.test(label))) return labels;
  const number = (label: string) => Number(label.slice(0, 4)) * 12 + Number(label.slice(5)) - 1;
  const [first, last] = [number(labels[0]!), number(labels.at(-1)!)];
  if (last - first > MOST_MONTHS) return labels;
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const month = first + step;
    return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
  });
}

const valueOf = (cell: Cell): number => ("value" in cell ? cell.value : 0);

/** Print an amount as the server stores it ("5854.8 EUR") the way answers do: "5,854.80 EUR"; other texts stay. */
export function printedAmount(text: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))? ([A-Z]{3})$/.exec(text);
  if (!found) return text;
  const whole = found[2]!.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${found[1]}${whole}.${(found[3] ?? "").padEnd(2, "0")} ${found[4]}`;
}
