// The labelling page: it asks for what it shows, and shows as saved what is on the disk.
import { open, toggle, watchSelection } from './document.js';
import { signIn } from './sign_in.js';
import { byId, h, swap } from './elements.js';
import { mark } from './marking.js';
import { close, guidelines, keys, questions, raters, search, skip } from './panels.js';
import { alone, give, go, refreshMarks, show, tell, useActions, watchTime } from './passage.js';
import { shared } from './shared.js';
import { get, post, Refused, Unanswered } from './requests.js';
import { hasColours, NEEDS, stored, turnTheme, useTheme } from './theme.js';
import { captions, undoneDecision, undoneMark } from './words.js';

const THEMES = { system: ['◐', 'as the system'], light: ['○', 'light'], dark: ['●', 'dark'] };

const actions = {
  mark, skip, guidelines, keys, search,
  questions: () => questions(),
  raters: () => raters(),
  document: toggle,
  open,
  back: () => go({ after: shared.item?.item_id ?? '', back: 'yes' }),
  next: () => go({ after: shared.item?.item_id ?? '' }),
  note: () => byId('note')?.focus(),
  evidence: () => byId('evidence')?.focus(),
  undo: () => alone(undo),
};
const BY_KEY = {
  u: 'undo', s: 'skip', n: 'note', e: 'evidence', d: 'document', m: 'mark', '/': 'search', g: 'guidelines', q: 'questions', r: 'raters',
  '?': 'keys', ArrowLeft: 'back', ArrowRight: 'next',
};

async function undo() {
  const answer = await post('undo', {});
  if (!answer.undone) tell('There is nothing left to undo.');
  else if (answer.mark) {
    if (shared.item) await refreshMarks();
    tell(`Saved: ${undoneMark(answer.mark)}.`);
  } else if ('decided' in answer) tell(`Saved: ${undoneDecision(answer.decided)}.`);
  else {
    show(answer);
    tell('Saved: undone.');
  }
}

function act(name) {
  Promise.resolve(actions[name]()).catch((error) => tell(error.message));
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !shared.rater) return;
  const { target, key } = event;
  // a key that is held down counts once: it would grade passages that nobody has seen
  if (event.repeat && !key.startsWith('Arrow')) return;
  const inDocument = target.id === 'leaf';
  const inField = target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select') || (target.isContentEditable && !inDocument);
  const dialog = byId('panel');
  if (dialog.open) {
    const choice = !inField && dialog.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (choice) choice.click();
    return;
  }
  if (key === 'Escape') {
    target.blur();
    byId('passage')?.focus();
    return;
  }
  if (inField || (inDocument && key.startsWith('Arrow'))) return;
  if (/^[0-4]$/.test(key) && shared.item) {
    event.preventDefault();
    give('grade', Number(key));
  } else if (Object.hasOwn(BY_KEY, key)) {
    event.preventDefault();
    act(BY_KEY[key]);
  }
}

function drawTools() {
  const button = (name, label, key) => h(`li.of-${name}`, null, h('button.quiet', { type: 'button', onclick: () => act(name) }, label, key && [' ', h('kbd', null, key)]));
  const theme = h('button.quiet', { type: 'button', id: 'theme', onclick: () => showTheme(turnTheme()) });
  swap(byId('tools'), button('guidelines', 'Guidelines', 'g'), button('search', 'Search', '/'), button('questions', 'Questions', 'q'), button('raters', 'Raters', 'r'), button('keys', 'Keys', '?'), h('li', null, theme));
  showTheme(useTheme());
}

function showTheme(name) {
  const button = byId('theme');
  const [sign, words] = THEMES[name];
  button.textContent = sign;
  button.title = `Colours: ${words}`;
  button.setAttribute('aria-label', button.title);
}

async function enter(name) {
  const answer = await post('enter', { rater: name });
  shared.rater = answer.rater;
  stored(() => sessionStorage, 'rater', answer.rater);
  swap(byId('who'), h('bdi', null, answer.rater));
  drawTools();
  show(answer);
}

function waiting(error) {
  const alarm = byId('alarm');
  shared.unsaved = error !== null;
  alarm.hidden = error === null;
  if (error) {
    alarm.textContent = `Not saved yet: ${error.message}. This page tries again every few seconds; leave it open.`;
    tell('Not saved yet.');
  }
}

async function begin() {
  if (!hasColours()) throw new Error(NEEDS);
  shared.waiting = waiting;
  shared.about = await get('about', { rater: null });
  shared.captions = captions(shared.about.guidelines);
  useActions(actions);
  watchTime();
  watchSelection();
  document.addEventListener('keydown', onKey);
  byId('panel').addEventListener('close', () => byId('passage')?.focus({ preventScroll: true }));
  byId('panel').addEventListener('click', (event) => { if (event.target === byId('panel')) close(); });
  addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof Refused || event.reason instanceof Unanswered)) return;
    event.preventDefault();
    tell(event.reason.message);
  });
  addEventListener('beforeunload', (event) => { if (shared.unsaved || shared.busy) event.preventDefault(); });
  const before = shared.about.fixed ? shared.about.raters[0] : stored(() => sessionStorage, 'rater');
  if (before) await enter(before);
  else signIn(enter);
}

begin().catch((error) => {
  swap(byId('main'), h('p.waiting', null, `The page cannot start: ${error.message}`));
});
