// The leader board: means with intervals, differences from the leader, and the groups of the first screen.

const BADGES = { use: 'lead', may: 'open', out: 'real' };

function standing(setting) {
  const found = atFinal() && statistics().verdict?.standing[setting];
  if (!found) return null;
  const [group, words] = found;
  return badge(BADGES[group], words, TERMS[GROUPS[group][1]]);
}

function boardColumns(leader, ticks, place) {
  const mean = (i, split = 'all') => summary(i, { split })?.mean;
  const judged = DATA.measures.find((name) => name.startsWith('judged@'));
  const share = (i) => summary(i, { split: state.split, measure: judged })?.mean;
  const splits = ['train', 'validation'].filter((name) => DATA.summary[name] && DATA.settings.some((_, i) => known(mean(i, name))));
  const difference = (i) => (i === leader ? null : pair(i, leader));
  const columns = [
    settingColumn(),
    { key: 'n', title: 'n', num: true, about: 'Queries in the mean', value: (i) => summary(i, { split: state.split })?.n, cell: (i) => whole(summary(i, { split: state.split })?.n) },
    { key: 'mean', title: breakable(state.measure), num: true, value: (i) => mean(i, state.split), cell: (i) => h('b', null, fixed(mean(i, state.split))) },
    ...boundColumns((i) => summary(i, { split: state.split })),
    {
      key: 'interval', pageOnly: true, title: h('div.plot-head', null, `${confidence(DATA.level)} interval`, axis(ticks, place)), wide: true,
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
      ...boundColumns(difference, 'difference_'),
      { key: 'p', title: 'p', num: true, about: 'Sign-flip test of all pairs of settings at once', value: (i) => difference(i)?.p, cell: (i) => (i === leader ? '' : chance(difference(i)?.p)) },
      { key: 'group', title: 'group', about: TERMS.group, value: (i) => ranked().indexOf(i), cell: (i) => standing(i) },
    );
  }
  columns.push(...factorColumns());
  splits.forEach((name) => { columns.push({ key: name, title: name, num: true, value: (i) => mean(i, name), cell: (i) => fixed(mean(i, name)) }); });
  if (judged && state.measure !== judged) {
    columns.push({ key: 'judged', title: judged, num: true, about: 'Share of the ranks that were judged', value: share, cell: (i) => percent(share(i)) });
  }
  const failed = (i) => summary(i, { split: state.split })?.failed || 0;
  if (DATA.settings.some((_, i) => failed(i))) columns.push({ key: 'failed', title: 'failed', num: true, about: 'Queries where something went wrong', value: failed, cell: failed });
  return narrow.matches ? answerFirst(columns) : columns;
}

// A small screen shows three columns without scrolling: the verdict must be among them.
const narrow = matchMedia('(max-width: 640px)');
narrow.addEventListener('change', () => draw((one) => one.id === 'board'));

function answerFirst(columns) {
  const wanted = ['setting', 'group', 'mean', 'difference', 'p'];
  const first = wanted.map((key) => columns.find((one) => one.key === key)).filter(Boolean);
  return [...first, ...columns.filter((one) => !first.includes(one))];
}

// The factors in which settings differ: a choice to filter by, and a column each in the file; names in words say them.
function factorColumns() {
  return DATA.factors.map(({ name, about, values }) => {
    const num = values.every((value) => value === null || typeof value === 'number');
    return { key: `factor-${name}`, fileOnly: true, title: name, num, about, value: (i) => values[i], cell: (i) => (num ? whole(values[i]) : foreign(values[i] ?? NONE, 'span')) };
  });
}

function factorTools() {
  const chosen = new URLSearchParams(state.factors);
  const order = (x, y) => (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true }));
  // the measured length follows from the size: it has its own column
  const some = DATA.factors.filter((one) => one.name !== 'median tokens' || !DATA.factors.some((other) => other.name === 'size'));
  return some.map(({ name, values, levels }) => {
    const options = [...new Set(values.map((value) => value ?? ''))].sort(levels ? (x, y) => levels.indexOf(x) - levels.indexOf(y) : order);
    return select(name, [['*', 'all'], ...options.map((value) => [value, valueInWords(values, value)])], chosen.has(name) ? chosen.get(name) : '*', (value) => {
      if (value === '*') chosen.delete(name);
      else chosen.set(name, value);
      choose({ factors: chosen.toString() });
    }, { 'data-keep': `factor-${name}` });
  });
}

function boardTools() {
  if (DATA.settings.length < 3) return null;
  const many = DATA.settings.length > 5;
  if (!many && !DATA.factors.length) return null;
  return h('div.tools', null,
    many && search('Filter settings', state.named, (named) => choose({ named }), { 'data-keep': 'board-filter' }),
    factorTools(),
    (state.factors || state.named) && h('button.quiet', { type: 'button', onclick: () => choose({ factors: '', named: '' }) }, 'All settings'));
}

section({
  id: 'board',
  title: 'Leader board',
  on: ['measure', 'stage', 'split', 'named', 'factors'],
  render() {
    const order = ranked();
    if (!order.length) return null;
    const wanted = state.named.trim().toLowerCase();
    const [low, high, ticks] = scoreRange(order.map((i) => summary(i, { split: state.split })), 5);
    const place = percentOf(low, high);
    const leader = leaderOf();
    const shown = order.filter((i) => `${nameOf(i)} ${DATA.settings[i]}`.toLowerCase().includes(wanted) && factorsMatch(i));
    const folded = DATA.settings.length - order.length;
    return [
      h('p.lede', null, prose(atFinal()
        ? `Intervals are of the mean over queries. To see whether two settings differ, look at their paired difference, which is far more precise than the overlap of intervals.${state.split === 'all' ? '' : ' Differences and groups are over all queries.'}`
        : `Plain means of one stage. The verdict and its tests are on the last stage of every setting.${folded ? ' Settings that retrieve alike, or that have no such stage, are not listed again.' : ''}`),
      order.length > 1 && ' Choose a row to read what it gained and lost against the leader, query by query.'),
      boardTools(),
      shown.length ? table(boardColumns(leader, ticks, place), shown, {
        caption: 'Leader board', sort: 'mean', keep: 'board', most: 30,
        picked: (i) => i === state.chosen,
        open: (i, row) => pickSetting(i, leader, row),
        label: (i) => nameOf(i),
      }) : h('p.nothing', null, 'No setting fits.'),
    ];
  },
});
