// A ranked passage with the judged evidence in it marked. Offsets count characters as Python does.

// The parts of a passage that the page holds: [start, characters]; there may be gaps.
function textOf(document, start, end) {
  if (!textOf.by) {
    textOf.by = new Map();
    for (const [doc, at, text] of DATA.detail.texts) {
      if (!textOf.by.has(doc)) textOf.by.set(doc, []);
      textOf.by.get(doc).push({ at, text, letters: null });
    }
  }
  const parts = [];
  for (const piece of textOf.by.get(document) || []) {
    if (piece.at >= end) break;
    // JavaScript counts UTF-16 units, offsets count code points
    if (piece.letters === null) piece.letters = Array.from(piece.text);
    const stop = piece.at + piece.letters.length;
    if (stop <= start) continue;
    const from = Math.max(start, piece.at);
    parts.push([from, piece.letters.slice(from - piece.at, Math.min(end, stop) - piece.at)]);
  }
  return parts;
}

// Line breaks that a PDF makes at the right margin of its prose: after a long line of words. Those of tables,
// lists and headings stay.
const LONG_LINE = 60;

function softBreaks(letters) {
  const out = new Set();
  let start = 0;
  for (let at = 0; at < letters.length; at += 1) {
    if (letters[at] !== '\n') continue;
    const line = letters.slice(start, at);
    const figures = line.filter((letter) => letter >= '0' && letter <= '9' || letter === '|' || letter === '\t').length;
    const next = letters[at + 1];
    if (line.length >= LONG_LINE && figures < 0.15 * line.length && next !== undefined && next !== '\n') out.add(at);
    start = at + 1;
  }
  return out;
}

// Cut letters into runs of one grade: [{at, letters, grade}]; where spans overlap the highest grade shows.
function runs(from, letters, spans) {
  const cuts = new Set([from, from + letters.length]);
  for (const [, start, end] of spans) for (const cut of [start, end]) if (cut > from && cut < from + letters.length) cuts.add(cut);
  const edges = [...cuts].sort((x, y) => x - y);
  return edges.slice(0, -1).map((start, k) => {
    const over = spans.filter(([, s, e]) => s <= start && e > start).map((span) => span[3]);
    return { at: start - from, letters: letters.slice(start - from, edges[k + 1] - from), grade: over.length ? Math.max(...over) : null };
  });
}

function isControl(letter) {
  const code = letter.codePointAt(0);
  return (code < 32 && code !== 9 && code !== 10) || (code >= 127 && code < 160);
}

// The letters as they are; characters that print nothing get a mark, soft breaks become spaces to the eye.
function written(run, soft) {
  const out = [];
  let plain = '';
  const flush = () => { if (plain) out.push(plain); plain = ''; };
  run.letters.forEach((letter, k) => {
    if (soft.has(run.at + k)) {
      flush();
      out.push(h('span.soft-break', null, letter));
    } else if (isControl(letter)) {
      flush();
      out.push(h('span.control', { title: `a character that prints nothing: U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}` }, letter));
    } else plain += letter;
  });
  flush();
  return out;
}

function marked(run, soft) {
  if (run.grade === null) return written(run, soft);
  return h(`mark.grade-${run.grade}`, { title: `judged, grade ${run.grade}` }, hidden(`[judged, grade ${run.grade}: `), h('span', null, written(run, soft)), hidden(']'));
}

function passageText(chunk, query) {
  const { document, start, end } = chunk;
  const shown = [...chunk.before, [start, end]];
  const spans = DATA.detail.evidence[query].filter((span) => touches(chunk, span));
  const out = [];
  let some = false;
  let reached = shown[0][0];
  for (const [first, last] of shown) {
    for (const [from, letters] of textOf(document, first, last)) {
      some = true;
      if (from > reached) out.push(h('span.soft', null, ' […] '));
      const soft = softBreaks(letters);
      out.push(...runs(from, letters, spans).map((run) => marked(run, soft)));
      reached = from + letters.length;
    }
  }
  if (!some) return h('p.soft.small', null, 'The text of this passage is not on this page.');
  if (reached < end) out.push(h('span.soft', null, ' […]'));
  return h('div.passage-text.foreign', null, out);
}

// The text of the document right before or after a passage, as far as the page holds it without a gap.
const AROUND = 300;

function neighbour({ document, start, end }, side) {
  const before = side === 'before';
  const parts = before ? textOf(document, Math.max(0, start - AROUND), start) : textOf(document, end, end + AROUND);
  const part = before ? parts.at(-1) : parts[0];
  const fits = part && (before ? part[0] + part[1].length === start : part[0] === end);
  if (!fits) return null;
  const text = written({ at: 0, letters: part[1] }, softBreaks(part[1]));
  return h(`p.around.foreign.${side}`, null, hidden(before ? 'Before it: ' : 'After it: '), before ? '… ' : '', text, before ? '' : ' …');
}

// The picture of the PDF page that a judged span begins on, with its lines marked; null where the page has none.
function pagePicture([document, start, end, , page]) {
  const name = DATA.detail.documents[document];
  const picture = (DATA.pictures || []).find((one) => one.document === name && one.page === page);
  if (!picture) return null;
  const { width, height, uri, marks } = picture;
  const boxes = marks.find(([from, to]) => from === start && to === end)?.[2] || [];
  const alt = `page ${page} of ${name}${boxes.length ? ', with the judged text marked' : ''}`;
  return h('details.page-picture', null, h('summary.small', null, `Page ${page}`),
    g('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': alt },
      g('image', { href: uri, width, height }),
      boxes.map(([left, top, right, bottom]) => g('rect.pen', { x: left - 2, y: top - 2, width: right - left + 4, height: bottom - top + 4 }))));
}

// Whether a passage, or what it shows before it, such as the heading of its table, holds text of a judged span.
function touches(chunk, [document, start, end]) {
  return chunk.document === document && [...chunk.before, [chunk.start, chunk.end]].some(([s, e]) => s < end && e > start);
}

function chunkAt(place) {
  const c = DATA.detail.chunks;
  return { document: c.document[place], start: c.start[place], end: c.end[place], before: c.before[place] || [], page: c.page[place] };
}

function gradeChip(grade) {
  return grade === null || grade < 0
    ? h('span.grade.unjudged', null, 'unjudged')
    : h(`span.grade.grade-${grade}`, null, `grade ${grade}`);
}

function where(document, page, start, end) {
  return h('span.soft.small', null, foreign(DATA.detail.documents[document]), known(page) ? `, page ${page}` : '', h('span.num', null, `, ${whole(start)}–${whole(end)}`));
}

// `otherRank` is the rank of the same text in the other ranking, -1 where it has none, null where there is no other;
// `read` says that it was read to answer.
function passage(rank, ranking, query, otherRank = null, read = null) {
  const [chunks, scores, grades, earned] = ranking;
  const chunk = chunkAt(chunks[rank]);
  const grade = grades[rank];
  const again = grade > 0 && earned[rank] < grade;
  return h('li.passage', null,
    h('div.passage-head', null,
      h('span.rank.num', null, rank + 1), gradeChip(grade), read,
      again && badge('out', earned[rank] ? `earns ${earned[rank]}` : 'earns nothing again', 'its evidence was read further up'),
      otherRank !== null && (otherRank < 0 ? badge('only', 'only here', 'no passage of the other ranking shows half of this text') : h('span.soft.small.num', null, `other ranking: ${otherRank + 1}`)),
      h('span.soft.small.num', null, scores[rank] === null ? 'not scored' : `score ${amount(scores[rank])}`),
      where(chunk.document, chunk.page, chunk.start, chunk.end)),
    neighbour(chunk, 'before'), passageText(chunk, query), neighbour(chunk, 'after'));
}
