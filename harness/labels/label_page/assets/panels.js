// Panels above the passage: guidelines, keys, search, questions, raters, reasons to skip.
import { open as openDocument } from './document.js';
import { byId, foreign, h, swap } from './elements.js';
import { give, go, tell } from './passage.js';
import { shared } from './shared.js';
import { get, post } from './requests.js';
import { blocks, counted } from './words.js';

const REASONS = ['cannot tell', 'text is damaged', 'question is unclear', 'not my subject'];
const KEYS = [
  ['0 – 4', 'grade the passage and go on'], ['u', 'undo your last change'], ['s', 'skip, with a reason'],
  ['n', 'write a note'], ['e', 'name the evidence'], ['d', 'go to the document; go back to the passage'],
  ['m', 'mark what is selected in the document'], ['/', 'search the documents'], ['g', 'guidelines'],
  ['q', 'all questions'], ['r', 'agreement of raters, and where they differ'], ['← →', 'back; next that is open'],
  ['Esc', 'leave a field or a panel'], ['?', 'these keys'],
];

export function panel(title, wideOne, ...content) {
  const dialog = byId('panel');
  dialog.className = wideOne ? 'wide-panel' : '';
  swap(dialog,
    h('div.panel-bar', null, h('h2', { id: 'panel-title' }, title), h('button.quiet', { type: 'button', onclick: close }, 'Close ', h('kbd', null, 'Esc'))),
    h('div', { id: 'panel-body' }, content));
  if (!dialog.open) dialog.showModal();
  return byId('panel-body');
}

export function close() {
  byId('panel').close();
}

export function guidelines() {
  panel('Guidelines', false, blocks(shared.about.guidelines).map((block) => {
    if (block.kind === 'heading') return h('h3', null, block.text);
    if (block.kind === 'list') return h('ul.plain', null, block.items.map((item) => h('li', null, item)));
    return h('p', null, block.text);
  }));
}

export function keys() {
  panel('Keys', false, h('dl.keys', null, KEYS.map(([key, what]) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, what)))));
}

export function skip() {
  if (!shared.item) return;
  const leave = (reason) => {
    close();
    give('skip', reason);
  };
  const own = h('input', { type: 'text', id: 'reason', maxlength: 200, autocomplete: 'off' });
  panel('Skip this passage', false,
    h('p.soft', null, 'A skipped passage has no grade, which is not grade 0. It stays unjudged.'),
    h('div.choices', null, REASONS.map((reason, at) => h('button.quiet', { type: 'button', 'data-key': at + 1, onclick: () => leave(reason) }, h('kbd', null, at + 1), ` ${reason}`))),
    h('form.line', { onsubmit: (event) => { event.preventDefault(); leave(own.value); } },
      h('label.field', null, h('span', null, 'Another reason'), own), h('button.quiet', { type: 'submit' }, 'Skip')));
}

export function search() {
  const words = h('input', { type: 'search', id: 'words', autocomplete: 'off', maxlength: 2000 });
  const list = h('ul.found-list', { 'aria-label': 'Passages found' });
  const note = h('p.soft', { role: 'status' });
  const look = async (event) => {
    event.preventDefault();
    swap(note, 'Searching…');
    try {
      const { found } = await get('find', { q: words.value, rater: null });
      swap(note, found.length ? `${counted(found.length, 'passage')}; those with exactly these words come first.` : 'No passage shares a word with it. Try other words, or fewer.');
      swap(list, found.map((one) => h('li', null,
        h('button.link', { type: 'button', onclick: () => { close(); openDocument(one); } }, h('bdi', null, one.doc_id), one.page ? `, page ${one.page}` : ''),
        h('p', null, foreign(one.text)))));
    } catch (error) {
      swap(note, error.message);
    }
  };
  panel('Search the documents', true,
    h('form.line', { role: 'search', onsubmit: look }, h('label.field', null, h('span', null, 'Words, or an exact text'), words), h('button.quiet', { type: 'submit' }, 'Search')),
    note, list);
  words.focus();
}

export async function questions(begin = 0) {
  const body = panel('Questions', true, h('p.soft', null, 'Loading…'));
  const answer = await get('questions', { begin });
  swap(body,
    h('ul.question-list', null, answer.questions.map((one) => h('li', null,
      h('button.link', { type: 'button', onclick: () => { close(); go({ item: one.first }); } }, foreign(one.text)),
      h('span.small.soft', null, ` ${one.done} of ${one.total}`)))),
    pages(answer, 50, questions));
}

function pages(answer, size, turn) {
  if (answer.total <= size) return null;
  return h('div.moves', null,
    h('button.quiet', { type: 'button', disabled: answer.begin === 0, onclick: () => turn(Math.max(0, answer.begin - size)) }, 'Earlier'),
    h('span.soft.small', null, `${answer.begin + 1} to ${Math.min(answer.begin + size, answer.total)} of ${answer.total.toLocaleString('en')}`),
    h('button.quiet', { type: 'button', disabled: answer.begin + size >= answer.total, onclick: () => turn(answer.begin + size) }, 'Later'));
}

const share = (value) => (value === null ? '–' : `${Math.round(value * 100)} %`);
const coefficient = (value) => (value === null ? '–' : value.toFixed(2));

export async function raters() {
  const numbers = h('div');
  const differ = h('div');
  const body = panel('Raters', true, h('section', { 'aria-labelledby': 'how-far' }, h('h3', { id: 'how-far' }, 'Agreement so far'), numbers),
    h('section', { 'aria-labelledby': 'where' }, h('h3', { id: 'where' }, 'Where raters differ'), differ));
  const refresh = async () => {
    if (!body.isConnected || !byId('panel').open) return;
    drawAgreement(numbers, await get('agreement', { rater: null }));
    setTimeout(refresh, 5000);
  };
  await Promise.all([refresh(), drawDifferences(differ, 0)]);
}

function drawAgreement(node, found) {
  if (!found.pairs.length) {
    swap(node, h('p.soft', null, 'One rater so far. Agreement is shown once a second rater grades the same passages, under another name.'));
    return;
  }
  swap(node,
    h('p', null, `Krippendorff’s alpha (ordinal): ${coefficient(found.alpha)} over ${counted(found.items, 'passage')} with two grades or more.`),
    h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Agreement by pairs' }, h('table', null,
      h('thead', null, h('tr', null, ['Raters', 'Passages', 'Same grade', 'At most one apart', 'Weighted kappa'].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, found.pairs.map((pair) => h('tr', null,
        h('th', { scope: 'row' }, h('bdi', null, pair.first), ' and ', h('bdi', null, pair.second)),
        [pair.items, share(pair.exact), share(pair.near), coefficient(pair.kappa_quadratic)].map((cell) => h('td', null, cell))))))));
}

async function drawDifferences(node, begin) {
  const found = await get('disagreements', { begin });
  const hidden = found.hidden ? h('p.soft', null, `${counted(found.hidden, 'more difference')} on passages that you have not graded yet: shown once you have.`) : null;
  const none = !found.total && !found.hidden ? h('p.soft', null, 'No differences so far.') : null;
  const left = h('p', { role: 'status' });
  const count = (open) => { left.textContent = `${open} of ${counted(found.total, 'difference')} to resolve.`; };
  count(found.open);
  const resolved = () => {
    found.open -= 1;
    count(found.open);
  };
  swap(node, none, found.total > 0 && left, hidden,
    h('ol.differences', null, found.items.map((one) => difference(one, resolved))),
    pages(found, 50, (next) => drawDifferences(node, next)));
}

function difference(one, settled) {
  const decided = h('span.soft.small', { role: 'status' }, one.decided ? `Resolved: ${one.decided.grade}, by ${one.decided.rater}` : '');
  const buttons = [0, 1, 2, 3, 4].map((grade) => h(`button.grade.grade-${grade}`, {
    type: 'button', 'aria-pressed': String(one.decided?.grade === grade), 'aria-label': `Resolve as ${grade}: ${shared.captions[grade]}`,
    onclick: () => decide(grade),
  }, h('b', null, grade)));
  const decide = async (grade) => {
    decided.textContent = 'Saving…';
    try {
      await post('decide', { item: one.item_id, grade, note: '' });
      for (const [at, button] of buttons.entries()) button.setAttribute('aria-pressed', String(at === grade));
      decided.textContent = `Saved: ${grade}, by ${shared.rater}`;
      if (!one.decided) settled();
      one.decided = { grade, rater: shared.rater };
      tell(`Saved: resolved as ${grade}.`);
    } catch (error) {
      decided.textContent = `Not saved. ${error.message}`;
    }
  };
  return h('li.difference', null,
    h('h4', null, foreign(one.question)),
    h('div.passage', null, foreign(one.text, 'div')),
    h('p.small', null, h('button.link', { type: 'button', onclick: () => { close(); openDocument(one); } }, h('bdi', null, one.doc_id), one.page ? `, page ${one.page}` : '')),
    h('dl.sides', null, one.grades.map((side) => h('div', null,
      h('dt', null, h('bdi', null, side.rater)), h('dd', null, h(`b.grade-dot.grade-${side.grade}`, null, side.grade), side.note && [' ', foreign(side.note)])))),
    h('div.grades.small-grades', { role: 'group', 'aria-label': 'Resolve as' }, buttons), decided);
}
