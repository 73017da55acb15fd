// The page on which experts review golden answers: question, contexts and answer side by side. It shows as saved
// what is on the disk.
import { byId, h, swap } from './elements.js';
import { matching } from './matching.js';
import { get, post, Refused } from './requests.js';
import { shared } from './shared.js';
import { hasColours, NEEDS, stored, useTheme } from './theme.js';

let words = {};
let shown = null;

function tell(text) {
  const status = byId('status');
  status.textContent = text;
  status.classList.remove('old');
}

function edited() {
  return shown !== null && byId('answer').value.trim() !== shown.answer;
}

// The sentences that hold much of a sentence of the answer, as it is being edited.
function point() {
  const found = matching(byId('answer').value, shown.contexts.map((context) => context.sentences));
  for (const line of document.querySelectorAll('.sentence')) line.classList.toggle('passage-range', found.has(line.dataset.at));
}

function add(sentence) {
  const field = byId('answer');
  field.value = `${field.value.trimEnd()}${field.value.trim() ? ' ' : ''}${sentence.trim()}`;
  point();
  field.focus();
}

function contexts() {
  return shown.contexts.map((context, at) => h('section', null,
    h('h2.small-head', null, `[${at + 1}] ${context.where}`),
    h('div.passage', null, context.sentences.map((sentence, number) => h('button.sentence', {
      type: 'button', 'data-at': `${at}-${number}`, title: words.add, onclick: () => add(sentence),
    }, sentence)))));
}

function state() {
  if (!shown.reviewed_by) return words.open;
  return `${shown.answer === shown.draft ? words.agreed : words.changed} ${shown.reviewed_by}`;
}

function show(answer) {
  shown = answer;
  shared.item = answer;
  const field = h('textarea', { id: 'answer', rows: 10, oninput: point });
  field.value = answer.answer;
  const move = (label, step, off) => h('button.quiet', { type: 'button', id: step < 0 ? 'before' : 'next', disabled: off, onclick: () => go(step) }, label);
  swap(byId('main'), h('h1.question', { id: 'question' }, answer.question), h('div.work-area.of-answers', null,
    h('div', { id: 'contexts' }, h('h2.small-head', null, words['contexts-name']), contexts()),
    h('section', null,
      h('label.field', null, h('span', null, words['answer-name']), field),
      h('div.moves', null, h('button.main', { type: 'button', id: 'keep', onclick: () => keep() }, words.keep), move(words.before, -1, answer.place === 0), move(words.next, 1, answer.place === answer.total - 1)),
      h('p.small', { id: 'state' }, state()),
      h('details', null, h('summary', null, words['draft-name']), h('p.above', { id: 'draft' }, answer.draft)))));
  swap(byId('progress'), `${answer.place + 1} / ${answer.total} · ${words.reviewed}: ${answer.reviewed}`);
  point();
  document.documentElement.dataset.ready = answer.query_id;
}

async function save() {
  shared.busy = true;
  try {
    const answer = await post('review', { item: shown.query_id, answer: byId('answer').value });
    tell(words.saved);
    return answer;
  } finally {
    shared.busy = false;
  }
}

async function keep() {
  if (shared.busy) return;
  const saved = await save();
  show(saved.place < saved.total - 1 ? await get('answer', { place: String(saved.place + 1) }) : saved);
}

// An answer that was edited is saved before another question is shown.
async function go(step) {
  if (shared.busy) return;
  if (edited()) await save();
  show(await get('answer', { place: String(shown.place + step) }));
}

async function enter(name) {
  const answer = await post('enter', { rater: name });
  shared.rater = answer.rater;
  stored(() => sessionStorage, 'rater', answer.rater);
  swap(byId('who'), h('bdi', null, `${shared.about.name}, ${answer.rater}`));
  show(answer);
}

function signIn() {
  const { about } = shared;
  const name = h('input', { type: 'text', id: 'name', maxlength: 40, required: true, autocomplete: 'off' });
  swap(byId('main'), h('section.sign-in', null, h('h1.question', null, words.who),
    about.raters.length > 0 && h('div.choices', null, about.raters.map((who) => h('button.quiet', { type: 'button', onclick: () => enter(who) }, h('bdi', null, who)))),
    h('form.line', { onsubmit: (event) => { event.preventDefault(); enter(name.value); } },
      h('label.field', null, h('span', null, words.your_name), name), h('button.main', { type: 'submit' }, words.begin))));
  document.documentElement.dataset.ready = 'sign-in';
  name.focus();
}

function waiting(error) {
  shared.unsaved = error !== null;
  byId('alarm').hidden = error === null;
  if (error) byId('alarm').textContent = `${words.not_saved} (${error.message})`;
}

async function begin() {
  if (!hasColours()) throw new Error(NEEDS);
  useTheme();
  shared.waiting = waiting;
  shared.about = await get('about', { rater: null });
  words = shared.about.words;
  document.documentElement.lang = shared.about.language;
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    tell(event.reason.message);
  });
  addEventListener('beforeunload', (event) => { if (shared.unsaved || shared.busy || edited()) event.preventDefault(); });
  document.addEventListener('keydown', (event) => { if ((event.ctrlKey || event.metaKey) && event.key === 'Enter' && shown) keep(); });
  const before = shared.about.fixed ? shared.about.raters[0] : stored(() => sessionStorage, 'rater');
  try {
    if (before) await enter(before);
    else signIn();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    signIn();
    tell(error.message);
  }
}

begin().catch((error) => {
  swap(byId('main'), h('p.waiting', null, `The page cannot start: ${error.message}`));
});
