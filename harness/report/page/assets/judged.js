// How much of what was ranked was judged at all, and how far that could move the headline.

function upperOf(measure) {
  const match = /^(ndcg_(?:exp|lin))(@\d+)$/.exec(measure);
  const name = match && `${match[1]}_upper${match[2]}`;
  return DATA.measures.includes(name) ? name : null;
}

section({
  id: 'judged',
  title: 'How much was judged',
  short: 'Judged',
  on: ['measure', 'stage', 'split'],
  render() {
    const judged = DATA.measures.filter((name) => name.startsWith('judged@'));
    const upper = upperOf(state.measure);
    if (!judged.length) return null;
    const order = ranked();
    const bounds = order.map((i) => [summary(i, { split: state.split }), upper && summary(i, { split: state.split, measure: upper })]);
    const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
    const place = percentOf(0, 1);
    const share = (i, name) => summary(i, { split: state.split, measure: name })?.mean;
    return [
      h('p.lede', null, 'Unjudged text gains nothing in the headline. ',
        upper ? `The line runs from ${state.measure} as reported to the highest value that any grading of the unjudged text could give it; where these lines overlap, more judging could change the order.`
          : 'Choose a measure with an upper bound among the measures, such as ndcg_exp_upper@10, to see how far that could move it.'),
      legend([['judged-bar', `${judged.join(', ')}: share of the ranks that was judged`], ...(upper ? [['bound', `${state.measure} to ${upper}`]] : [])]),
      rowChart(order.map((i, k) => {
        const [own, top] = bounds[k];
        return {
          name: DATA.settings[i],
          value: judged.map((name) => percent(share(i, name))).join(' · '),
          drawing: strip([
            gridlines(ticks, place),
            judged.map((name, n) => g('rect.judged-bar', { x: 0, width: place(share(i, name) || 0), y: upper ? 16 : 5 + n * 8, height: upper ? 5 : 8 })),
            own && top && known(top.mean) && g('line.bound', { x1: place(own.mean), x2: place(top.mean), y1: 8, y2: 8 }),
            own && top && g('circle.bound-dot', { cx: place(own.mean), cy: 8, r: 4 }),
          ], { height: 24, label: `judged ${percent(share(i, judged[0]))}${top ? `, ${fixed(own?.mean)} up to ${fixed(top.mean)}` : ''}` }),
        };
      }), { ticks, place, caption: 'Judged share by setting' }),
    ];
  },
});
