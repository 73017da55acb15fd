// The document next to the passage: its text, in which evidence is selected, and the picture of its page.
import { byId, h, swap } from './elements.js';
import { characters, pieces, rangeOf } from './offsets.js';
import { shared } from './shared.js';
import { get } from './requests.js';
import { counted } from './words.js';

let leaf = null;
let found = null;
let wanted = 0;
let drawn = null;
let actions = { mark: () => {} };

const wide = matchMedia('(min-width: 1000px)');

export function documentPanel(given) {
  actions = given;
  return h('section.document-panel', { id: 'document-panel', 'aria-label': 'Document', hidden: !wide.matches });
}

// A window that becomes narrow shows the passage, one that becomes wide both.
wide.addEventListener('change', () => {
  const panel = byId('document-panel');
  if (!panel) return;
  panel.hidden = !wide.matches;
  follow();
});

// Show the document of the passage; on a narrow page only once it is asked for.
export function follow() {
  const panel = byId('document-panel');
  found = null;
  if (panel && shared.item && !panel.hidden) show(shared.item.doc_id, { offset: shared.item.start });
}

export function toggle() {
  const panel = byId('document-panel');
  if (!panel) return;
  // beside the passage the document stays, and the key only moves between the two
  if (panel.contains(document.activeElement) || !(wide.matches || panel.hidden)) {
    panel.hidden = !wide.matches;
    byId('passage').focus();
  } else {
    panel.hidden = false;
    show(shared.item.doc_id, { offset: shared.item.start }).then(() => byId('leaf')?.focus({ preventScroll: true }));
  }
}

export async function open(place) {
  byId('document-panel').hidden = false;
  found = { start: place.start, end: place.end, doc_id: place.doc_id };
  await show(place.doc_id, { offset: place.start });
  byId('leaf')?.focus({ preventScroll: true });
}

async function show(docId, place) {
  wanted += 1;
  const number = wanted;
  const panel = byId('document-panel');
  if (!byId('leaf')) swap(panel, h('p.waiting', null, 'Loading the document…'));
  let answer = null;
  try {
    answer = await get('leaf', { doc: docId, rater: null, ...place });
  } catch (error) {
    if (number !== wanted) return;
    leaf = null;
    swap(panel, h('div.waiting', null, h('p', { role: 'alert' }, `The document cannot be shown: ${error.message}.`),
      h('div.moves', null, h('button.quiet', { type: 'button', onclick: () => show(docId, place) }, 'Try again'), h('button.quiet.narrow', { type: 'button', onclick: toggle }, 'Close'))));
    return;
  }
  // a later page was asked for in the meantime
  if (number !== wanted || !byId('document-panel')) return;
  leaf = answer;
  draw();
}

export function draw() {
  const panel = byId('document-panel');
  if (!panel || !leaf) return;
  const where = leaf.page !== null ? `page ${leaf.page}` : leaf.parts > 1 ? `part ${leaf.part} of ${leaf.parts}` : 'whole text';
  const text = h('div.leaf-text.foreign', {
    id: 'leaf', contenteditable: 'true', inputmode: 'none', spellcheck: 'false', role: 'textbox',
    'aria-multiline': 'true', 'aria-readonly': 'true', 'aria-label': `Text of ${leaf.doc_id}, ${where}`, tabindex: '0',
  }, written());
  // it can be read and selected by keyboard, and not be changed
  for (const kind of ['beforeinput', 'paste', 'cut', 'drop', 'dragstart']) text.addEventListener(kind, (event) => event.preventDefault());
  text.addEventListener('compositionend', draw);
  const picture = leaf.has_picture && h('div.picture', { tabindex: '0', role: 'region', 'aria-label': `Picture of ${where}` }, image(where));
  swap(panel,
    h('div.document-bar', null,
      h('h2.document-name', null, h('bdi', null, leaf.doc_id), h('span.soft', null, ` ${where}`)),
      h('button.quiet', { type: 'button', 'aria-label': 'Earlier in the document', disabled: leaf.part === 1, onclick: () => turn(-1) }, '‹'),
      h('button.quiet', { type: 'button', 'aria-label': 'Later in the document', disabled: leaf.part === leaf.parts, onclick: () => turn(1) }, '›'),
      h('button.quiet', { type: 'button', onclick: () => { found = null; show(shared.item.doc_id, { offset: shared.item.start }); } }, 'Passage'),
      h('button.quiet.mark-it', { type: 'button', id: 'mark', onpointerdown: (event) => event.preventDefault(), onclick: () => actions.mark() }, 'Mark selection ', h('kbd', null, 'm')),
      h('button.quiet.narrow', { type: 'button', onclick: toggle }, 'Close')),
    h(picture ? 'div.leaf.with-picture' : 'div.leaf', null, text, picture),
    leaf.needs_extra && h('p.small.soft.needs', null, 'To see pictures of the pages: ', h('code', null, 'pip install "ndcg-harness[pdfium]"')));
  const target = text.querySelector('.found') || text.querySelector('.passage-range');
  if (target) text.scrollTop = target.offsetTop - 80;
}

// The same picture is not asked for twice in a row.
function image(where) {
  const src = `/api/picture?${new URLSearchParams({ doc: leaf.doc_id, page: leaf.page })}`;
  if (drawn?.getAttribute('src') !== src) {
    drawn = h('img', { src, alt: `${leaf.doc_id}, ${where}, as printed` });
    const failed = drawn;
    drawn.addEventListener('error', () => failed.replaceWith(h('p.soft.small', null, 'There is no image of this page. Use its text.')));
  }
  return drawn;
}

function written() {
  const ranges = [];
  if (shared.item && shared.item.doc_id === leaf.doc_id) ranges.push({ start: shared.item.start, end: shared.item.end, name: 'passage-range' });
  for (const mark of shared.item?.marks ?? []) {
    if (mark.doc_id === leaf.doc_id) ranges.push({ start: mark.start, end: mark.end, name: `marked.grade-${mark.rating.grade}` });
  }
  if (found && found.doc_id === leaf.doc_id) ranges.push({ ...found, name: 'found' });
  const inside = ranges
    .map((one) => ({ ...one, start: Math.max(one.start, leaf.start), end: Math.min(one.end, leaf.end) }))
    .filter((one) => one.start < one.end);
  return pieces(leaf.text, inside, leaf.start).map(({ text, of }) => (of.length ? h(`span.${of.join('.')}`, null, text) : text));
}

function turn(step) {
  found = null;
  return show(leaf.doc_id, { part: leaf.part + step });
}

// The selection in the document or in the passage, as a range of the document.
export function watchSelection() {
  document.addEventListener('selectionchange', () => {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) {
      if (document.activeElement?.id === 'leaf') choose(null);
      return;
    }
    const range = selection.getRangeAt(0);
    const box = [byId('leaf'), byId('passage')].find((one) => one && range.intersectsNode(one) && (one.contains(range.startContainer) || one.contains(range.endContainer)));
    if (!box) return;
    const [text, begin, docId] = box.id === 'leaf' ? [leaf.text, leaf.start, leaf.doc_id] : [...shownText(shared.item), shared.item.doc_id];
    const [from, to] = placeIn(box, range);
    const chosen = rangeOf(text, from, to, begin);
    choose(chosen && { ...chosen, doc_id: docId });
  });
}

// The passage as it is drawn, with what completes its first and last sentence, and where that begins.
function shownText({ before, text, after, start }) {
  return [before + text + after, start - characters(before)];
}

function choose(range) {
  shared.selected = range;
  const button = byId('mark');
  if (button) button.title = range ? counted(range.end - range.start, 'character') : 'Select the words that answer first';
}

// A range in UTF-16 units from the beginning of a box. The text nodes of a box hold its text letter by letter.
function placeIn(box, range) {
  const before = document.createRange();
  before.selectNodeContents(box);
  const whole = before.toString().length;
  const at = (node, offset) => {
    if (!box.contains(node)) return null;
    before.selectNodeContents(box);
    before.setEnd(node, offset);
    return before.toString().length;
  };
  return [at(range.startContainer, range.startOffset) ?? 0, at(range.endContainer, range.endOffset) ?? whole];
}
