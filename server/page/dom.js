// Makes elements. Texts go in as text nodes only: nothing that a document or a model wrote is ever read as HTML.

/** Return an element with properties, attributes (names with a dash, role, for, href, class) and children. */
export function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return the element of an id. */
export const by = (id) => document.getElementById(id);

/** Tell people who listen what has happened. */
export function say(text) {
  by("said").textContent = text;
}

/** Return "1 hit" or "2 hits". */
export const counted = (number, noun, plural = `${noun}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;

/** Return a text for people that listen only. */
export const unseen = (text) => make("span", { class: "unseen" }, text);

/** Move an element into view, at once where less motion is asked for. */
export function bring(element, block = "center") {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block, behavior: calm ? "auto" : "smooth" });
}
