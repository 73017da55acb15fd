// Gains and losses of one setting against the leader, query by query.

const FIRST_GAINS = 10;

function pickSetting(setting, leader, row) {
  const order = ranked();
  const other = setting === leader ? order.find((i) => i !== leader) ?? setting : leader;
  for (const one of row.parentNode.querySelectorAll('.picked')) one.classList.remove('picked');
  const chosen = state.chosen === setting ? -1 : setting;
  if (chosen >= 0) row.classList.add('picked');
  gains.all = false;
  choose({ chosen, a: setting, b: other });
  if (chosen >= 0) byId('gains').scrollIntoView({ block: 'nearest' });
}

function gainList(title, rows, list) {
  const shown = gains.all ? rows : rows.slice(0, FIRST_GAINS);
  return h('div.panel', null,
    h('h3', null, title, ' ', h('span.soft.num', null, whole(rows.length))),
    rows.length ? h('ol.gains', null, shown.map(({ query, difference }) => h('li', null,
      h('b.num', null, signed(difference, 2)),
      h('button.link', { type: 'button', onclick: () => openQuery(query, state.a, list, state.b) }, foreign(DATA.queries.text[query] || DATA.queries.id[query], 'span')),
      h('small.soft', null, foreign(DATA.queries.id[query]), DATA.queries.type[query] ? [' · ', foreign(DATA.queries.type[query].replaceAll('_', ' '))] : null)))) : h('p.soft.small', null, 'None.'),
    shown.length < rows.length ? h('p', null, h('button.quiet', { type: 'button', onclick: () => { gains.all = true; draw((one) => one.id === 'gains'); } }, `Show all ${whole(rows.length)}`)) : null);
}

section({
  id: 'gains',
  title: 'Gained and lost',
  on: ['measure', 'stage', 'split', 'chosen', 'a', 'b'],
  render() {
    if (state.chosen < 0 || state.chosen !== state.a || state.a === state.b) return null;
    const rows = changes(state.a, state.b);
    const gained = rows.filter((one) => one.difference > 0);
    const lost = rows.filter((one) => one.difference < 0).reverse();
    const list = rows.map((one) => one.query);
    const summary = atFinal() && state.split === 'all' ? pairInWords(state.a, state.b) : [named(state.a, 'b'), ' against ', named(state.b, 'b'), `: better on ${whole(gained.length)}, worse on ${count(lost.length, 'query', 'queries')}.`];
    return [
      h('p.lede', null, summary),
      h('div.panels', null, gainList('Gained', gained, list), gainList('Lost', lost, list)),
    ];
  },
});
const gains = { all: false };
