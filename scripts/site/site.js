// The menu on narrow screens, and the search: all words of the query must occur in a section.
"use strict";
const root = document.body.dataset.root;
const field = document.querySelector('input[type="search"]');
const found = document.getElementById("found");
const menu = document.querySelector(".menu");

menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", open);
});

// Headings count more than text, whole words more than beginnings.
function score(words, [, title, heading, text]) {
  let sum = 0;
  const places = [[heading.toLowerCase(), 10], [title.toLowerCase(), 4], [text.toLowerCase(), 1]];
  for (const word of words) {
    let best = 0;
    for (const [place, weight] of places) {
      const at = place.indexOf(word);
      if (at < 0) continue;
      const starts = at === 0 || !/[\p{L}\p{N}_]/u.test(place[at - 1]);
      const ends = !/[\p{L}\p{N}_]/u.test(place[at + word.length] ?? " ");
      best = Math.max(best, weight * (starts ? 2 : 1) * (starts && ends ? 2 : 1));
    }
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
}

// The text around the first word, with the words marked.
function excerpt(text, words) {
  const lower = text.toLowerCase();
  const first = Math.min(...words.map((w) => lower.indexOf(w)).filter((at) => at >= 0), text.length);
  const begin = first === text.length ? 0 : Math.max(0, first - 60);
  const part = document.createElement("p");
  const escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = text.slice(begin, begin + 160).split(new RegExp(`(${escaped.join("|")})`, "i"));
  part.append(begin > 0 ? "… " : "");
  pieces.forEach((piece, i) => {
    const node = i % 2 ? document.createElement("mark") : document.createTextNode(piece);
    if (i % 2) node.textContent = piece;
    part.append(node);
  });
  return part;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const hits = SEARCH_INDEX.map((entry) => [score(words, entry), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, 30);
  if (hits.length === 0) found.append("Nothing was found: try fewer or other words.");
  for (const [, [place, title, heading, text]] of hits) {
    const link = document.createElement("a");
    link.href = root + place;
    const name = document.createElement("strong");
    name.textContent = heading === title ? title : `${title}: ${heading}`;
    link.append(name, excerpt(text, words));
    found.append(link);
  }
}

field.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    field.value = "";
    search();
  } else if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Enter" && document.activeElement === field) {
    found.querySelector("a")?.click();
  }
});
found.addEventListener("click", (event) => {
  if (!event.target.closest("a")) return;
  field.value = "";
  search();
});
