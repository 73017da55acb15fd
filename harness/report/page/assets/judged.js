// How much of what was ranked was judged at all, and how far that could move the headline.

// A share and a value of a measure are different things: each has a column and an axis of its own.
function judgedColumns(judged, upper) {
  const mean = (i, measure) => summary(i, { split: state.split, measure })?.mean;
  const ticks = [0, 0.5, 1];
  const place = percentOf(0, 1);
  const readOf = (name) => READ[name.split('@')[0]];
  const axes = (title, text) => h('div.plot-head', null, title, axis(ticks, place, text));
  return [
    settingColumn(),
    ...judged.flatMap((name) => [
      { key: name, title: breakable(name), num: true, about: `Share of the ${readOf(name)} that was judged`, value: (i) => mean(i, name), cell: (i) => percent(mean(i, name)) },
      { key: `${name}-bar`, pageOnly: true, title: axes(`% of the ${readOf(name)}`, (share) => fixed(100 * share, 0)), wide: true, cell: (i) => h('div.interval', null,
        strip([gridlines(ticks, place), g('rect.judged-bar', { x: 0, width: place(mean(i, name) || 0), y: 7, height: 8 })], { label: `judged ${percent(mean(i, name))}` })) },
    ]),
    ...(judged.includes(state.measure) ? [] : [
      { key: 'mean', title: breakable(state.measure), num: true, value: (i) => mean(i, state.measure), cell: (i) => fixed(mean(i, state.measure)) },
    ]),
    ...(upper ? [
      { key: 'upper', title: 'at most', num: true, about: upper, value: (i) => mean(i, upper), cell: (i) => fixed(mean(i, upper)) },
      { key: 'bounds', pageOnly: true, title: axes(`${state.measure} to ${upper}`), wide: true, cell: (i) => h('div.interval', null, strip([
        gridlines(ticks, place),
        known(mean(i, upper)) && g('line.bound', { x1: place(mean(i, state.measure)), x2: place(mean(i, upper)), y1: 11, y2: 11 }),
        known(mean(i, state.measure)) && g('circle.bound-dot', { cx: place(mean(i, state.measure)), cy: 11, r: 4 }),
      ], { label: `${fixed(mean(i, state.measure))} up to ${fixed(mean(i, upper))}` })) },
    ] : []),
  ];
}

section({
  id: 'judged',
  title: 'How much was judged',
  short: 'Judged',
  on: ['measure', 'stage', 'split'],
  render() {
    const { judged: known, labels } = statistics().verdict || {};
    const { measure, bound: upper } = known || {};
    const complete = labels?.hold === 'answers';
    const judged = DATA.measures.includes(measure) ? [measure] : DATA.measures.filter((name) => name.split('@')[0] in READ);
    if (!judged.length) return null;
    return [
      complete ? h('p.lede', null, 'The labels are taken to mark all that answers each query, so text without one is irrelevant, and these shares say nothing of quality.') : h('p.lede', null, 'Unjudged text gains nothing in the headline. ',
        upper ? `The line runs from ${state.measure} as reported to the highest value that any grading of the unjudged text could give it; where these lines overlap, more judging could change the order.`
          : 'An upper bound says how far that could move a measure: add it to the measures of the configuration, such as ndcg_exp_upper@10 for ndcg_exp@10.'),
      table(judgedColumns(judged, upper), ranked(), { caption: 'Judged share by setting', sort: 'mean', keep: 'judged', most: 30 }),
    ];
  },
});
