// Mark evidence: what is selected gets a grade and a name, and its copies elsewhere are joined.
import { byId, foreign, h, swap } from './elements.js';
import { close, panel } from './panels.js';
import { refreshMarks, tell } from './passage.js';
import { shared } from './shared.js';
import { get, post } from './requests.js';
import { counted, nameOf } from './words.js';

export function mark() {
  const chosen = shared.selected;
  if (!shared.item) return;
  if (!chosen) {
    tell('Select the words that answer first, in the document or in the passage.');
    return;
  }
  const grades = [0, 1, 2, 3, 4].map((grade) => h('label.radio', null,
    h('input', { type: 'radio', name: 'mark-grade', value: grade, 'data-key': grade, required: true, checked: shared.item.rating.grade === grade }),
    h('span', null, h('b', null, grade), ` ${shared.captions[grade]}`)));
  const name = h('input', { type: 'text', id: 'mark-name', list: 'mark-names', maxlength: 200, autocomplete: 'off', value: shared.item.rating.evidence });
  const copies = h('div', null, h('p.soft', null, 'Looking for copies…'));
  const form = h('form', { id: 'marking', onsubmit: (event) => { event.preventDefault(); save(chosen, form, name.value.trim()); } },
    h('blockquote', null, foreign(chosen.text)),
    h('fieldset', null, h('legend', null, 'Grade of this text'), grades),
    h('label.field', null, h('span', null, 'Evidence name'), name),
    h('datalist', { id: 'mark-names' }, shared.item.names.map((one) => h('option', { value: one }))),
    copies,
    h('p', { id: 'mark-note', role: 'alert' }),
    h('div.moves', null, h('button.main', { type: 'submit' }, 'Save mark')));
  panel('Mark evidence', true, form);
  form.querySelector('input[name="mark-grade"]:checked, input[name="mark-grade"]').focus();
  find(chosen, copies);
}

async function find(chosen, node) {
  try {
    const { copies, more } = await get('copies', { doc: chosen.doc_id, start: chosen.start, end: chosen.end, rater: null });
    if (!copies.length) {
      swap(node, h('p.soft.small', null, 'The text appears nowhere else.'));
      return;
    }
    const boxes = copies.map((one) => {
      const box = h('input', { type: 'checkbox', name: 'copy', checked: true });
      box.copy = one;
      return h('label.copy', null, box, h('span', null, h('bdi', null, one.doc_id), one.page ? `, page ${one.page}: ` : ': ', foreign(one.around)));
    });
    swap(node, h('fieldset', { id: 'copies' }, h('legend', null, `It appears in ${more ? 'more than ' : ''}${counted(copies.length, 'other place')}${more ? ', of which these are the first' : ''}: join those that state the same fact`), boxes));
  } catch (error) {
    swap(node, h('p.small', null, error.message));
  }
}

async function save(chosen, form, given) {
  const grade = Number(new FormData(form).get('mark-grade'));
  const joined = [...form.querySelectorAll('input[name="copy"]:checked')].map((box) => box.copy);
  const evidence = given || (joined.length ? nameOf(chosen.text) : '');
  const markOne = (one) => post('mark', { query: shared.item.query_id, doc: one.doc_id, start: one.start, end: one.end, text: one.text, grade, evidence });
  try {
    await markOne(chosen);
  } catch (error) {
    byId('mark-note').textContent = `Not saved. ${error.message}`;
    return;
  }
  let saved = 1;
  const refused = [];
  for (const one of joined) {
    try {
      await markOne(one);
      saved += 1;
    } catch (error) {
      refused.push(error.message);
    }
  }
  if (evidence && !shared.item.names.includes(evidence)) shared.item.names.push(evidence);
  close();
  await refreshMarks();
  const left = refused.length ? `Not marked: ${counted(refused.length, 'copy', 'copies')}. ${refused[0]} ` : '';
  tell(`${left}Saved: ${counted(saved, 'mark')} of grade ${grade}${evidence ? `, evidence “${evidence}”` : ''}.`);
}
