// The leader board: means with intervals, and which differences from the leader are real.

const STANDINGS = {
  best: ['lead', 'really better than every other setting'],
  leads: ['lead', 'the highest mean, though others may be best too'],
  'may be best': ['open', 'no other setting is really better'],
  'ruled out': ['real', 'another setting is really better'],
  'too few': ['open', 'too few queries to choose by'],
};

function standing(setting) {
  const place = atFinal() && statistics().verdict?.standing[setting];
  if (!place || !STANDINGS[place]) return null;
  const [kind, about] = STANDINGS[place];
  return badge(kind, place, about);
}

function boardColumns(leader, ticks, place) {
  const mean = (i, split = 'all') => summary(i, { split })?.mean;
  const judged = DATA.measures.find((name) => name.startsWith('judged@'));
  const splits = ['train', 'validation'].filter((name) => DATA.summary[name] && DATA.settings.some((_, i) => known(mean(i, name))));
  const difference = (i) => (i === leader ? null : pair(i, leader));
  const columns = [
    { key: 'setting', title: 'setting', value: (i) => DATA.settings[i], cell: (i) => foreign(DATA.settings[i], 'span') },
    { key: 'n', title: 'n', num: true, about: 'Queries in the mean', value: (i) => summary(i, { split: state.split })?.n, cell: (i) => whole(summary(i, { split: state.split })?.n) },
    { key: 'mean', title: breakable(state.measure), num: true, value: (i) => mean(i, state.split), cell: (i) => h('b', null, fixed(mean(i, state.split))) },
    {
      key: 'interval', title: h('div.plot-head', null, `${percent(DATA.level)} interval`, axis(ticks, place)), wide: true,
      cell: (i) => {
        const row = summary(i, { split: state.split });
        return h('div.interval', { title: row ? range(row.low, row.high) : '' },
          strip([gridlines(ticks, place), whisker(row, place, { kind: i === leader ? 'first' : '' })], { label: `${fixed(row?.mean)}, ${range(row?.low, row?.high)}` }));
      },
    },
  ];
  if (DATA.settings.length > 1 && atFinal() && statistics().pairs?.rows) {
    columns.push(
      { key: 'difference', title: 'to the leader', num: true, about: 'Difference of means, paired by query, over all queries', value: (i) => difference(i)?.difference ?? 0, cell: (i) => (i === leader ? '' : [signed(difference(i)?.difference), known(difference(i)?.low) && h('small.soft', null, ` ${range(difference(i).low, difference(i).high)}`)]) },
      { key: 'p', title: 'p', num: true, about: 'Sign-flip test of all pairs of settings at once', value: (i) => difference(i)?.p, cell: (i) => (i === leader ? '' : chance(difference(i)?.p)) },
      { key: 'real', title: 'standing', value: (i) => ranked().indexOf(i), cell: (i) => standing(i) },
    );
  }
  splits.forEach((name) => { columns.push({ key: name, title: name, num: true, value: (i) => mean(i, name), cell: (i) => fixed(mean(i, name)) }); });
  if (judged && state.measure !== judged) {
    columns.push({ key: 'judged', title: judged, num: true, about: 'Share of the ranks that were judged', value: (i) => summary(i, { measure: judged })?.mean, cell: (i) => percent(summary(i, { measure: judged })?.mean) });
  }
  const failed = (i) => summary(i)?.failed || 0;
  if (DATA.settings.some((_, i) => failed(i))) columns.push({ key: 'failed', title: 'failed', num: true, about: 'Queries where something went wrong', value: failed, cell: failed });
  return narrow.matches ? answerFirst(columns) : columns;
}

// A small screen shows three columns without scrolling: the answer shall be among them.
const narrow = matchMedia('(max-width: 640px)');
narrow.addEventListener('change', () => draw((one) => one.id === 'board'));

function answerFirst(columns) {
  const wanted = ['setting', 'real', 'mean', 'difference', 'p'];
  const first = wanted.map((key) => columns.find((one) => one.key === key)).filter(Boolean);
  return [...first, ...columns.filter((one) => !first.includes(one))];
}

section({
  id: 'board',
  title: 'Leader board',
  on: ['measure', 'stage', 'split'],
  render() {
    const order = ranked();
    if (!order.length) return null;
    const wanted = board.filter.trim().toLowerCase();
    const [low, high, ticks] = scoreRange(order.map((i) => summary(i, { split: state.split })), 5);
    const place = percentOf(low, high);
    const leader = atFinal() ? statistics().verdict?.leader ?? order[0] : order[0];
    const shown = () => order.filter((i) => !board.filter || DATA.settings[i].toLowerCase().includes(board.filter.trim().toLowerCase()));
    const holder = h('div');
    const show = () => swap(holder, table(boardColumns(leader, ticks, place), shown(), {
      caption: 'Leader board', sort: 'mean', keep: 'board', most: 30,
      open: (i) => choose({ a: i, b: i === leader ? order[1] ?? i : leader }),
      label: (i) => DATA.settings[i],
    }));
    show();
    return [
      h('p.lede', null, atFinal()
        ? `Intervals are of the mean over queries. Whether two settings differ is told by their paired difference, which is far sharper than the overlap of intervals.${state.split === 'all' ? '' : ' Differences and standing are over all queries.'}`
        : 'Plain means of one stage. The verdict and its tests are on the last stage of every setting.'),
      DATA.settings.length > 5 ? h('div.tools', null, search('Filter settings', wanted, (text) => { board.filter = text; show(); }, { 'data-keep': 'board-filter' })) : null,
      holder,
    ];
  },
});
const board = { filter: '' };
