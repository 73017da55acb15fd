// One page at a time, by the address behind #, and a search over the sections of all pages.
const articles = [...document.querySelectorAll("article")];
const links = [...document.querySelectorAll("nav ul a")];
const field = document.querySelector("nav input");
const hits = document.querySelector("#search-hits");
const MOST = 40;
let sections = null;

function show() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1))) ?? articles[0];
  const article = target.closest("article") ?? articles[0];
  for (const other of articles) other.hidden = other !== article;
  for (const link of links) {
    if (link.hash === `#${article.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${article.querySelector("h1").textContent} – harness`;
  if (target === article) scrollTo(0, 0);
  else target.scrollIntoView();
}

function sectionsOf(article) {
  const page = article.querySelector("h1").textContent;
  const parts = [];
  for (const element of article.children) {
    if (/^H[1-6]$/.test(element.tagName)) parts.push({ id: element.id, page, title: element.textContent, text: "" });
    else if (parts.length) parts[parts.length - 1].text += ` ${element.textContent}`;
  }
  return parts.map((part) => ({ ...part, words: `${part.page} ${part.title} ${part.text}`.toLowerCase() }));
}

function around(text, word) {
  const plain = text.replace(/\s+/g, " ");
  const start = Math.max(0, plain.toLowerCase().indexOf(word) - 40);
  return `${start ? "…" : ""}${plain.slice(start, start + 120)}…`;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  sections ??= articles.flatMap(sectionsOf);
  const inTitle = (section) => words.filter((word) => section.title.toLowerCase().includes(word)).length;
  const matching = words.length ? sections.filter(({ words: all }) => words.every((word) => all.includes(word))) : [];
  matching.sort((a, b) => inTitle(b) - inTitle(a));
  hits.replaceChildren(
    ...matching.slice(0, MOST).map((section) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const where = document.createElement("small");
      link.href = `#${section.id}`;
      link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
      where.textContent = around(section.text, words[0]);
      link.append(where);
      item.append(link);
      return item;
    }),
  );
  const none = words.length && !matching.length;
  document.querySelector("#search-count").textContent = none ? "No section has all of these words." : "";
}

field.addEventListener("input", search);
addEventListener("hashchange", show);
show();
