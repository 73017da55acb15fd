// Two rankings of one query side by side: what moved, what only one of them has, which evidence they share.

// Whether two passages show the same text: half of the shorter one.
function overlaps(one, other) {
  const shared = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return one.document === other.document && shared > 0 && 2 * shared >= Math.min(one.end - one.start, other.end - other.start);
}

// For every rank of one ranking the first rank of the other that shows the same text; -1 for none.
function matched(ranking, other) {
  const there = (other?.[0] || []).map(chunkAt);
  return (ranking?.[0] || []).map((place, rank) => {
    const same = other?.[0].indexOf(place) ?? -1;
    return same >= 0 ? same : there.findIndex((chunk) => overlaps(chunk, chunkAt(ranking[0][rank])));
  });
}

// Whether a passage that touches a span counts for it, by the rule of the measures; see Projection in projection.py.
function holds(chunk, [, start, end]) {
  const { rule, span_share = 0.5, chunk_share = 0.5 } = DATA.record.config?.relevance ?? {};
  const parts = [...chunk.before, [chunk.start, chunk.end]];
  const length = parts.reduce((sum, [s, e]) => sum + e - s, 0);
  const shared = parts.reduce((sum, [s, e]) => sum + Math.max(0, Math.min(e, end) - Math.max(s, start)), 0);
  if (rule === 'any_overlap') return true;
  if (rule === 'full_cover') return shared === end - start;
  return shared / (end - start) >= span_share || shared / length >= chunk_share;
}

// The place of a judged span in a ranking: {rank, partly}, or null where no passage shown touches it. A passage
// earns a span that it holds when its grade is at least that of the span.
function foundAt(span, ranking) {
  let touched = -1;
  for (const [rank, place] of (ranking?.[0] || []).entries()) {
    const chunk = chunkAt(place);
    if (!touches(chunk, span)) continue;
    if (ranking[2][rank] >= span[3] && holds(chunk, span)) return { rank: rank + 1, partly: false };
    if (touched < 0) touched = rank;
  }
  return touched < 0 ? null : { rank: touched + 1, partly: true };
}

function foundNote(span, ranking) {
  const found = foundAt(span, ranking);
  if (!found) return h('b.small.missed', null, `not in the first ${DATA.detail.ranks}`);
  return h('b.small', null, found.partly ? `partly, at rank ${found.rank}` : `at rank ${found.rank}`);
}

// Where several parsers have read the documents, a span belongs to one text and to the settings that search it.
function isInText(span, setting) {
  const parsers = DATA.detail.parsers;
  return !parsers || parsers.documents[span[0]] === parsers.settings[setting];
}

function shareText(a, b) {
  const parsers = DATA.detail.parsers;
  return !parsers || parsers.settings[a] === parsers.settings[b];
}

// Which relevant spans both rankings hold, and which only one of them does.
function sharedEvidence(query, a, b, setting = 0) {
  const counts = { both: 0, a: 0, b: 0, neither: 0 };
  for (const span of DATA.detail.evidence[query]) {
    if (span[3] <= 0 || !isInText(span, setting)) continue;
    const has = [a, b].map((ranking) => foundAt(span, ranking)?.partly === false);
    counts[has[0] ? (has[1] ? 'both' : 'a') : has[1] ? 'b' : 'neither'] += 1;
  }
  return counts;
}

function overlapNote(query, a, b, places, setting) {
  const both = places.filter((rank) => rank >= 0).length;
  const { both: shared, a: onlyA, b: onlyB, neither } = sharedEvidence(query, a, b, setting);
  const total = shared + onlyA + onlyB + neither;
  return h('p.small', { role: 'status' },
    `Of ${count(places.length, 'passage')} on the left ${whole(both)} ${both === 1 ? 'is' : 'are'} on the right too. `,
    total ? `Of ${count(total, 'relevant span')} both hold ${whole(shared)}, only the left ${whole(onlyA)}, only the right ${whole(onlyB)}, neither ${whole(neither)}.` : '');
}

// Ranks as dots in two columns, coloured by grade; a line joins the places of one passage.
function movesPlot(a, b, places) {
  const most = Math.max(a[0].length, b[0].length);
  const step = 22;
  const [from, to, wide] = [34, 226, 260];
  const y = (rank) => 14 + rank * step;
  const kind = (rank) => (places[rank] === rank ? 'same' : places[rank] < rank ? 'rise' : 'fall');
  const dot = (x, rank, ranking, anchor) => [
    g('circle', { class: ranking[2][rank] >= 0 ? `dot-grade grade-${ranking[2][rank]}` : 'dot-grade unjudged', cx: x, cy: y(rank), r: 6 }),
    g('text.tick', { x: anchor === 'end' ? x - 12 : x + 12, y: y(rank), 'text-anchor': anchor, 'dominant-baseline': 'middle' }, rank + 1),
  ];
  const moves = places.map((to2, rank) => (to2 < 0 ? `${rank + 1} only left` : `${rank + 1} to ${to2 + 1}`)).join(', ');
  return g('svg.moves', { viewBox: `0 0 ${wide} ${y(most) - 8}`, width: wide, role: 'img', 'aria-label': `Ranks on the left and on the right: ${moves}` },
    places.map((rank, i) => (rank < 0 ? null : g(`line.${kind(i)}`, { x1: from, x2: to, y1: y(i), y2: y(rank) }))),
    a[0].map((_, rank) => dot(from, rank, a, 'end')),
    b[0].map((_, rank) => dot(to, rank, b, 'start')));
}

function rankingsPanel(query, setting, other) {
  const [a, b] = [rankingOf(setting, query), rankingOf(other, query)];
  if (!a?.[0].length || !b?.[0].length) return null;
  if (!shareText(setting, other)) return h('p.small.soft', null, 'Different parsers have read what the two settings search: their passages have no places in common.');
  const places = matched(a, b);
  const plotted = movesPlot(a, b, places);
  return h('section.two-rankings', { 'aria-label': 'Both rankings side by side' },
    plotted,
    h('div', null, overlapNote(query, a, b, places, setting),
      legend([['rise', 'higher on the right'], ['fall', 'lower on the right'], ['same', 'same rank'], ['unjudged-dot', 'dots have the colour of their grade']]),
      h('p.saves', null, svgButton('ranks that moved', () => svgText(plotted)))));
}

// Passages that hold what is looked for stay; where the browser can, the words are marked.
function findInPassages(dialog, wanted) {
  const text = wanted.trim();
  const found = [];
  let shown = 0;
  const all = [...dialog.querySelectorAll('.passage')];
  for (const node of all) {
    const body = node.querySelector('.passage-text');
    const ranges = text && body ? textRanges(body, text) : [];
    const fits = !text || ranges.length > 0;
    node.classList.toggle('unfit', !fits);
    shown += fits;
    found.push(...ranges);
  }
  const counter = dialog.querySelector('.found-count');
  if (counter) counter.textContent = text ? `${whole(shown)} of ${count(all.length, 'passage')}` : '';
  if (typeof Highlight === 'function' && CSS.highlights) CSS.highlights.set('found', new Highlight(...found));
}

// Where a text has what is looked for, as [from, to]; neither case nor the kind of white space matters. A lower case
// that is longer than its letter, as that of İ, is cut, so that places stay those of the text.
function placesOf(text, wanted) {
  const folded = (all) => Array.from(all, (letter) => letter.toLowerCase().slice(0, letter.length).replace(/\s/, ' ')).join('');
  const [own, looked] = [folded(text), folded(wanted)];
  const out = [];
  for (let at = own.indexOf(looked); at >= 0; at = own.indexOf(looked, at + looked.length)) out.push([at, at + looked.length]);
  return out;
}

// The same in the text that a node shows, across the edges of what is in it.
function textRanges(node, wanted) {
  const parts = [];
  let length = 0;
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT, (one) => (one.parentNode.closest('.hidden') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  while (walker.nextNode()) {
    parts.push({ node: walker.currentNode, at: length });
    length += walker.currentNode.length;
  }
  return placesOf(parts.map((one) => one.node.data).join(''), wanted).map(([from, to]) => {
    const [first, last] = [from, to - 1].map((place) => parts.findLast((one) => one.at <= place));
    const range = document.createRange();
    range.setStart(first.node, from - first.at);
    range.setEnd(last.node, to - last.at);
    return range;
  });
}
