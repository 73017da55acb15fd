// Sign in: who is labelling. The name is kept for this tab alone, so that two people can share a machine.
import { byId, h, swap } from './elements.js';
import { shared } from './shared.js';
import { counted } from './words.js';

export function signIn(enter) {
  const { about } = shared;
  const name = h('input', { type: 'text', id: 'name', maxlength: 40, required: true, autocomplete: 'off', autocapitalize: 'off' });
  const note = h('p', { role: 'alert', id: 'sign-in-note' });
  const begin = async (who) => {
    try {
      await enter(who);
    } catch (error) {
      note.textContent = error.message;
    }
  };
  swap(byId('main'), h('section.sign-in', null,
    h('h1.question', null, 'Who is labelling?'),
    h('p', null, `${counted(about.items, 'passage')} for ${counted(about.questions, 'question')}. Everyone labels under a name of their own and sees no grade of anybody else.`),
    about.raters.length > 0 && h('div.choices', { role: 'group', 'aria-label': 'Names used before' }, about.raters.map((who) => h('button.quiet', { type: 'button', onclick: () => begin(who) }, h('bdi', null, who)))),
    !about.fixed && h('form.line', { onsubmit: (event) => { event.preventDefault(); begin(name.value); } },
      h('label.field', null, h('span', null, about.raters.length ? 'Another name' : 'Your name'), name), h('button.main', { type: 'submit' }, 'Begin')),
    note));
  document.documentElement.dataset.ready = 'sign-in';
  if (!about.fixed) name.focus();
}
