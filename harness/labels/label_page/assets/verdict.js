// How firm the verdict is: closed until somebody opens it, and asked for only while it is open.
import { byId, foreign, h, swap } from './elements.js';
import { get } from './requests.js';

const PAUSE = 1000;
let timer = null;
let drawn = '';

export function watchVerdict(shown) {
  const box = byId('verdict');
  box.hidden = !shown;
  box.addEventListener('toggle', () => follow(true));
}

// After a passage was graded; ``fresh`` asks for what all labels say, however few are new.
export function follow(fresh = false) {
  const box = byId('verdict');
  clearTimeout(timer);
  if (box.hidden || !box.open) return;
  get('verdict', { rater: null, fresh: fresh ? 'yes' : '' }).then((answer) => {
    // most answers are as they were: drawn again they would lose what is selected in them
    if (drawn !== JSON.stringify(answer)) draw(answer);
    drawn = JSON.stringify(answer);
    if (answer.working) timer = setTimeout(() => follow(), PAUSE);
  }).catch((error) => swap(byId('verdict-body'), h('p', null, error.message)));
}

function draw(answer) {
  const body = byId('verdict-body');
  if (answer.problem) {
    swap(body, h('p', null, answer.problem));
  } else if (!answer.sentences) {
    swap(body, h('p.soft', null, 'Computing…'));
  } else {
    swap(body,
      answer.sentences.map((text, at) => h(at === answer.sentences.length - 1 ? `p.${answer.stop ? 'stop' : 'go-on'}` : 'p', null, foreign(text))),
      h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Means of the settings' }, h('table', null,
        h('thead', null, h('tr', null, ['Setting', answer.measure, '95 % interval'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', null, answer.means.map((row) => h('tr', null,
          h('th', { scope: 'row' }, foreign(row[0])), h('td', null, row[1]), h('td', null, row[2])))))),
      answer.working && h('p.small.soft', null, 'Computing again…'));
  }
}
