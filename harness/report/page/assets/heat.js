// Queries × settings: which queries are hard, and where settings part.

function spread(values) {
  const some = values.filter(known);
  if (some.length < 2) return some.length ? 0 : -1;
  const mean = some.reduce((x, y) => x + y, 0) / some.length;
  return Math.sqrt(some.reduce((sum, x) => sum + (x - mean) ** 2, 0) / some.length);
}

function meanOf(values) {
  const some = values.filter(known);
  return some.length ? some.reduce((x, y) => x + y, 0) / some.length : null;
}

const ORDERS = {
  spread: 'where settings differ most',
  worst: 'hardest first',
  difference: 'A − B, largest first',
  file: 'as in the file of queries',
};

function queryRows() {
  const settings = ranked();
  const rows = DATA.queries.id.map((_, query) => {
    const values = settings.map((i) => score(i, query));
    const difference = known(score(state.a, query)) && known(score(state.b, query)) ? score(state.a, query) - score(state.b, query) : null;
    return { query, values, mean: meanOf(values), spread: spread(values), difference };
  }).filter((row) => queryMatches(row.query));
  const by = {
    spread: (x, y) => y.spread - x.spread,
    worst: (x, y) => (x.mean ?? 2) - (y.mean ?? 2),
    difference: (x, y) => (y.difference ?? -9) - (x.difference ?? -9),
    file: () => 0,
  }[state.order];
  return rows.sort((x, y) => by(x, y) || x.query - y.query);
}

function queryCell(query) {
  const q = DATA.queries;
  return h('div.query-cell', null,
    foreign(q.text[query] || q.id[query], 'span'),
    h('small.soft', null, foreign(q.id[query]), q.type[query] ? [' · ', foreign(q.type[query].replaceAll('_', ' '))] : null, ` · ${q.split[query]}`, q.answerable[query] ? null : ' · unanswerable'));
}

// A query in one column of the page, and in several of a file.
function queryColumns() {
  const q = DATA.queries;
  return [
    { key: 'query', head: 'query_id', title: 'query', value: (r) => q.id[r.query], cell: (r) => queryCell(r.query), file: (r) => q.id[r.query] },
    fileColumn('text', (r) => q.text[r.query]),
    ...(q.type.some(Boolean) ? [fileColumn('type', (r) => q.type[r.query])] : []),
    fileColumn('split', (r) => q.split[r.query]),
    fileColumn('answerable', (r) => (q.answerable[r.query] ? 'yes' : 'no')),
  ];
}

function heatTools() {
  const types = [...new Set(DATA.queries.type)].filter(Boolean).sort();
  const settings = settingOptions();
  return h('div.tools', null,
    search('Find a query', state.find, (find) => choose({ find }), { 'data-keep': 'find' }),
    types.length > 1 && select('type', [['', 'all types'], ...types.map((type) => [type, type.replaceAll('_', ' ')])], state.type, (type) => choose({ type }), { 'data-keep': 'type' }),
    select('order', Object.entries(ORDERS), state.order, (order) => choose({ order }), { 'data-keep': 'order' }),
    settings.length > 1 && select('A', settings, state.a, (a) => choose({ a: Number(a) }), { 'data-keep': 'a' }),
    settings.length > 1 && select('B', settings, state.b, (b) => choose({ b: Number(b) }), { 'data-keep': 'b' }));
}

section({
  id: 'queries',
  title: 'Query by query',
  short: 'Queries',
  on: ['measure', 'stage', 'split', 'find', 'type', 'order', 'a', 'b'],
  painted: true,
  render() {
    const settings = ranked();
    if (!settings.length) return null;
    const rows = queryRows();
    const shades = ramp('heat', 6);
    const shown = rows.filter((row) => row.values.some(known));
    const undefinedOnes = rows.length - shown.length;
    const two = settings.length > 1 && state.a !== state.b;
    return [
      h('p.lede', null, `Each column is a query, each row a setting, coloured by its ${state.measure}. Open one to read what was ranked.`),
      heatTools(),
      two ? h('p.on-paper', null, 'A is ', named(state.a, 'b'), ', B is ', named(state.b, 'b'), '.') : null,
      h('p.soft.small', { role: 'status' }, `${count(shown.length, 'query', 'queries')} shown${undefinedOnes ? `; ${whole(undefinedOnes)} more without a value of ${state.measure}, in the table below` : ''}.`),
      shown.length ? [h('div.heat-scale', { 'aria-hidden': true }, '0', h('i.heat-ramp'), '1'), grid({
        label: `${state.measure} of every query under every setting. Arrow keys move, Enter opens the query.`,
        keep: 'heat',
        rows: settings.map(nameOf),
        columns: shown.length,
        narrowest: 5,
        widest: 36,
        hint: 'Point at a cell, or use the arrow keys; Enter opens the query.',
        fill: (r, c) => (known(shown[c].values[r]) ? shades(shown[c].values[r]) : null),
        text: (r, c) => [h('b.num', null, fixed(shown[c].values[r])), ' ', foreign(nameOf(settings[r])), ' — ', foreign(DATA.queries.text[shown[c].query] || DATA.queries.id[shown[c].query])],
        open: (r, c) => openQuery(shown[c].query, settings[r], shown.map((row) => row.query)),
      })] : h('p.nothing', null, 'No query fits.'),
      table([
        ...queryColumns(),
        { key: 'mean', title: 'mean', num: true, about: 'Over all settings', value: (r) => r.mean, cell: (r) => fixed(r.mean, 2) },
        { key: 'spread', title: 'spread', num: true, about: 'Standard deviation over settings', value: (r) => (r.spread < 0 ? null : r.spread), cell: (r) => (r.spread < 0 ? NONE : fixed(r.spread, 2)) },
        ...(two ? [
          { key: 'a', head: DATA.settings[state.a], title: 'A', num: true, about: nameOf(state.a), value: (r) => score(state.a, r.query), cell: (r) => fixed(score(state.a, r.query), 2) },
          { key: 'b', head: DATA.settings[state.b], title: 'B', num: true, about: nameOf(state.b), value: (r) => score(state.b, r.query), cell: (r) => fixed(score(state.b, r.query), 2) },
          { key: 'difference', title: 'A − B', num: true, value: (r) => r.difference, cell: (r) => signed(r.difference, 2) },
        ] : []),
      ], rows, {
        caption: 'Queries', keep: `queries-${state.order}`, most: 12,
        open: (r) => openQuery(r.query, state.a, rows.map((row) => row.query)), label: (r) => DATA.queries.text[r.query],
      }),
    ];
  },
});
