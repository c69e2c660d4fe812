import { expect, test } from "vitest";
import { cellOf, compare, kindOf, printedAmount, seriesOf, shown } from "../src/ask/cells";

const sorted = (texts: unknown[], down = false) => texts.map(cellOf).sort((one, other) => compare(one, other, down)).map((cell) => cell.text);

test("amounts are ordered within their currency, and empty cells come last either way", () => {
  const amounts = ["1,000.00 USD", "", "200.00 EUR", "-5.00 USD", "1,500.00 EUR"];
  expect(sorted(amounts)).toEqual(["200.00 EUR", "1,500.00 EUR", "-5.00 USD", "1,000.00 USD", ""]);
  expect(sorted(amounts, true)).toEqual(["1,500.00 EUR", "200.00 EUR", "1,000.00 USD", "-5.00 USD", ""]);
  expect(sorted(["2.00 EUR", "900.00", "1.00 EUR", "9.00"]), "without a currency").toEqual(["9.00", "900.00", "1.00 EUR", "2.00 EUR"]);
});

test("numbers are ordered by size, days by time, words with their numbers", () => {
  expect(sorted(["10 V", "9 V", "1,200 V"])).toEqual(["9 V", "10 V", "1,200 V"]);
  expect(sorted(["2024-10-01", "2024-02-01"])).toEqual(["2024-02-01", "2024-10-01"]);
  expect(sorted(["A-10", "a-9"])).toEqual(["a-9", "A-10"]);
});

test("codes are no numbers, and a mixed column is text", () => {
  expect(cellOf("0071").kind).toBe("text");
  expect(kindOf(["1.00 EUR", "about 5"].map(cellOf))).toBe("text");
  expect(kindOf(["1.00 EUR", "", "3.00 USD"].map(cellOf))).toBe("money");
  expect(kindOf(["1.00 EUR", "12.50"].map(cellOf))).toBe("money");
  expect(shown({ amount: "3.00", currency: "EUR" })).toBe("3.00 EUR");
  expect(shown(["a", "b"])).toBe("a; b");
});

test("groups are drawn as bars, the largest first, each currency for itself", () => {
  const rows = [["Elm", "5.00 EUR"], ["Oak", "7.00 EUR"], ["Ash", "1.00 USD"], ["Fir", "2.00 USD"]].map((row) => row.map(cellOf));
  expect(seriesOf(["vendor", "sum"], rows).map(({ unit, line, labels, values }) => ({ unit, line, labels, values }))).toEqual([
    { unit: "EUR", line: false, labels: ["Oak", "Elm"], values: [7, 5] },
    { unit: "USD", line: false, labels: ["Fir", "Ash"], values: [2, 1] },
  ]);
});

test("the currency of most groups is drawn first", () => {
  const rows = [["Elm", "5.00 EUR"], ["Oak", "7.00 EUR"], ["Ash", "1.00 USD"], ["Fir", "2.00 USD"], ["Yew", "3.00 USD"], ["Bay", "4.00"]].map((row) => row.map(cellOf));
  expect(seriesOf(["vendor", "sum"], rows).map(({ unit, labels }) => [unit, labels.length])).toEqual([["USD", 3], ["EUR", 2]]);
});

test("months are drawn as a line in their order, those without a row as a gap", () => {
  const rows = [["2024-02", 4], ["2023-11", 9], ["2023-12", 1]].map((row) => row.map(cellOf));
  const [series] = seriesOf(["month", "count"], rows);
  expect(series).toMatchObject({ line: true, labels: ["2023-11", "2023-12", "2024-01", "2024-02"], values: [9, 1, null, 4] });
  const years = [["2023", 4], ["2024", 9]].map((row) => row.map(cellOf));
  expect(seriesOf(["year", "count"], years)[0]).toMatchObject({ line: true, labels: ["2023", "2024"] });
});

test("amounts are printed alike everywhere, without a digit lost", () => {
  expect(["5854.8 EUR", "-309.6 USD", "1234567.125 KWD", "12 JPY", "Rev. 2"].map(printedAmount)).toEqual(["5,854.80 EUR", "-309.60 USD", "1,234,567.125 KWD", "12.00 JPY", "Rev. 2"]);
});
