// The question, one passage, and its rating.
import { documentPanel, draw, follow } from './document.js';
import { byId, foreign, h, swap } from './elements.js';
import { shared } from './shared.js';
import { get, post } from './requests.js';
import { counted, duration } from './words.js';

let shownAt = 0;
let hiddenFor = 0;
let hiddenSince = null;
let actions = {};

export function useActions(given) {
  actions = given;
}

// The time a passage was looked at: not while the page is out of sight.
export function watchTime() {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hiddenSince = performance.now();
    else if (hiddenSince !== null) {
      hiddenFor += performance.now() - hiddenSince;
      hiddenSince = null;
    }
  });
}

function looked() {
  return Math.max(0, (performance.now() - shownAt - hiddenFor) / 1000);
}

let fadeTimer = 0;

// Success messages cover the page for a moment; failures stay.
export function tell(text) {
  const status = byId('status');
  status.textContent = text;
  status.classList.remove('old');
  clearTimeout(fadeTimer);
  if (text.startsWith('Saved')) fadeTimer = setTimeout(() => status.classList.add('old'), 5000);
}

export async function go(given) {
  show(await get('step', given));
}

export function show(step) {
  shared.item = step.item;
  shared.progress = step.progress ?? shared.progress;
  shared.selected = null;
  shownAt = performance.now();
  hiddenFor = 0;
  drawProgress();
  if (!step.item) drawEnd();
  else drawItem();
  document.documentElement.dataset.ready = step.item ? 'item' : 'end';
}

export function drawProgress() {
  const { done, total, remaining, question } = shared.progress;
  const left = remaining === null || done === total ? '' : ` · ${duration(remaining)} left`;
  const here = shared.item && question.total > 1 ? ` · ${question.done} of ${question.total.toLocaleString('en')} for this question` : '';
  swap(byId('progress'),
    h('progress', { max: Math.max(total, 1), value: done, 'aria-label': 'Passages done' }),
    h('span', { id: 'far' }, `${done.toLocaleString('en')} of ${counted(total, 'passage')}${left}${here}`));
}

function drawItem() {
  const { item } = shared;
  const work = h('section.work', { 'aria-label': 'Passage to grade', 'data-item': item.item_id },
    h('h1.question', null, foreign(item.question)),
    item.above && h('p.above.soft', null, h('span.small', null, 'Shown above it: '), foreign(item.above)),
    h('div.passage', { id: 'passage', tabindex: '0', role: 'region', 'aria-label': 'Passage' }, h('div.foreign', null, item.before && h('span.soft', null, item.before), item.text, item.after && h('span.soft', null, item.after))),
    h('p.small.soft', null, h('bdi', null, item.doc_id), item.page ? `, page ${item.page}` : '', h('span', { id: 'own-rating' })),
    h('div.grades', { role: 'group', 'aria-label': 'Grade' }, [0, 1, 2, 3, 4].map((grade) =>
      h(`button.grade.grade-${grade}`, { type: 'button', 'data-grade': grade, onclick: () => give('grade', grade) },
        h('b', null, grade), ' ', h('span', null, shared.captions[grade])))),
    h('div.also', null,
      h('label.field', null, h('span', null, 'Note ', h('kbd', null, 'n')), h('textarea', { id: 'note', rows: 1, maxlength: 2000, ...typed('note') }, item.rating.note)),
      h('label.field', null, h('span', null, 'Evidence name ', h('kbd', null, 'e')),
        h('input', { id: 'evidence', type: 'text', list: 'names', maxlength: 200, autocomplete: 'off', value: item.rating.evidence, placeholder: 'a name for the fact it states', ...typed('evidence') }),
        h('datalist', { id: 'names' }, item.names.map((name) => h('option', { value: name }))))),
    h('ol.legend', { 'aria-label': 'What the grades mean' }, shared.captions.map((caption, grade) => h('li', null, h('b', null, grade), ` ${caption}`))),
    h('div.moves', null,
      h('button.quiet', { type: 'button', onclick: () => actions.back() }, 'Back ', h('kbd', null, '←')),
      h('button.quiet', { type: 'button', onclick: () => actions.undo() }, 'Undo ', h('kbd', null, 'u')),
      h('button.quiet', { type: 'button', id: 'skip', onclick: () => actions.skip() }, 'Skip ', h('kbd', null, 's')),
      h('button.quiet', { type: 'button', onclick: () => actions.next() }, 'Next ', h('kbd', null, '→')),
      h('button.quiet.narrow', { type: 'button', onclick: () => actions.document() }, 'Document ', h('kbd', null, 'd'))),
    h('div', { id: 'marks' }));
  swap(byId('main'), h('div.work-area', null, work, keepDocument()));
  drawSaid();
  drawMarks();
  byId('passage').focus({ preventScroll: true });
  scrollTo(0, 0);
  byId('main').scrollTop = 0;
  follow();
}

// The document stays where it is, so that its picture is not loaded again for the next passage of the page.
function keepDocument() {
  return byId('document-panel') ?? documentPanel({ mark: () => actions.mark() });
}

export function drawSaid() {
  const { rating } = shared.item;
  for (const button of document.querySelectorAll('.grades [data-grade]')) button.setAttribute('aria-pressed', String(Number(button.dataset.grade) === rating.grade));
  const text = rating.grade !== null ? ` · you graded it ${rating.grade}` : rating.skipped ? ` · you skipped it: ${rating.skipped}` : '';
  byId('own-rating').textContent = text;
}

export function drawMarks() {
  const { marks } = shared.item;
  swap(byId('marks'), marks.length > 0 && [
    h('h2.small-head', null, 'Evidence marked for this question'),
    h('ul.marks', null, marks.map((mark) => h('li', null,
      h(`b.grade-dot.grade-${mark.rating.grade}`, null, mark.rating.grade),
      h('button.link', { type: 'button', onclick: () => actions.open(mark) }, foreign(mark.text.length > 160 ? `${mark.text.slice(0, 160)}…` : mark.text)),
      h('span.small.soft', null, ` ${mark.doc_id}${mark.page ? `, page ${mark.page}` : ''}${mark.rating.evidence ? ` · ${mark.rating.evidence}` : ''} `),
      h('button.quiet', { type: 'button', 'aria-label': `Remove the mark: ${mark.text.slice(0, 60)}`, onclick: () => removeMark(mark) }, 'Remove'))))]);
  draw();
}

async function removeMark(mark) {
  await post('say', { item: mark.item_id, kind: 'clear', value: null, seen: 0 });
  await refreshMarks();
  tell('Saved: the mark is removed. Undo brings it back.');
}

export async function refreshMarks() {
  const { marks } = await get('marks', { query: shared.item.query_id });
  shared.item.marks = marks;
  drawMarks();
}

function drawEnd() {
  const { total } = shared.progress;
  swap(byId('main'), h('section.end', null,
    h('h1.question', null, 'All done'),
    h('p', null, `${counted(total, 'passage')}, each graded or skipped, and all of it saved.`),
    h('div.moves', null,
      h('button.quiet', { type: 'button', onclick: () => actions.questions() }, 'Look through the questions'),
      h('button.quiet', { type: 'button', onclick: () => actions.raters() }, 'Compare with other raters'),
      h('button.quiet', { type: 'button', onclick: () => actions.undo() }, 'Undo ', h('kbd', null, 'u')))));
  byId('main').focus();
}

// Save something while nothing else is being saved.
export async function alone(save) {
  if (shared.busy) return;
  shared.busy = true;
  try {
    await save();
  } catch (error) {
    tell(`Not saved. ${error.message}`);
  } finally {
    shared.busy = false;
  }
}

// Give a grade or a reason to skip, and go on once it is saved.
export async function give(kind, value) {
  const { item } = shared;
  if (item) await alone(async () => {
    tell('Saving…');
    const answer = await post('say', { item: item.item_id, kind, value, seen: item.event, seconds: looked(), next: true });
    item.rating = answer.rating;
    drawSaid();
    show(answer.next);
    tell(`Saved: ${kind === 'grade' ? value : 'skipped'}.${replaced(answer)}`);
  });
}

function replaced(answer) {
  if (!answer.replaced) return '';
  const { grade, skipped } = answer.replaced;
  return ` Another tab of yours had saved ${grade === null ? `skip (${skipped})` : grade}; this one counts now, and undo takes it back.`;
}

// Words are saved while they are typed, a moment after the last letter, and at once when the field is left.
function typed(kind) {
  const { item } = shared;
  let timer = null;
  const save = async (value) => {
    clearTimeout(timer);
    timer = null;
    try {
      const answer = await post('say', { item: item.item_id, kind, value, seen: item.event });
      item.rating = answer.rating;
      item.event = answer.event;
      shared.unsaved = false;
      tell(`Saved: ${kind === 'note' ? 'note' : 'evidence name'}.`);
    } catch (error) {
      tell(`Not saved. ${error.message}`);
    }
  };
  return {
    oninput: (event) => {
      const { value } = event.target;
      shared.unsaved = true;
      clearTimeout(timer);
      timer = setTimeout(() => save(value), 400);
    },
    onblur: (event) => {
      if (timer !== null) save(event.target.value);
    },
  };
}
