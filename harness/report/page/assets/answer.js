// The answer first: what the data allow to say, in words.

function facts() {
  const rows = DATA.settings.map((_, i) => summary(i)).filter(Boolean);
  const first = rows[0];
  const asked = DATA.queries.id.length;
  const judge = DATA.record.judge?.name;
  return [
    count(DATA.settings.length, 'setting'),
    count(asked, 'query', 'queries'),
    first && first.n < asked ? `${whole(first.n)} count in ${state.measure}` : null,
    DATA.documents.length ? count(DATA.documents.filter((d) => d.status !== 'skipped').length, 'document') : null,
    judge ? `graded by ${judge === 'human' ? 'people' : judge}` : null,
  ].filter(Boolean);
}

function headline() {
  const found = statistics();
  const advice = found.advice || {};
  if (!advice.sentences) {
    return [h('p.verdict', null, found.why || advice.why || 'There is nothing to compare.')];
  }
  const leader = foreign(DATA.settings[advice.leader], 'b');
  const mean = summary(advice.leader, { stage: 'final' });
  const value = mean && [' with ', h('b.num', null, fixed(mean.mean)), known(mean.low) ? h('span.soft.num', null, ` (${range(mean.low, mean.high)})`) : null];
  const verdict = advice.named !== null
    ? h('p.verdict', null, leader, ` is the best of ${DATA.settings.length} by `, h('b', null, state.measure), value, '.')
    : h('p.verdict', null, 'No setting is clearly best. ', leader, ` leads in `, h('b', null, state.measure), value, '.');
  return [verdict, h('ul.advice', null, advice.sentences.map((text) => h('li', null, foreign(text, 'span'))))];
}

section({
  id: 'answer',
  title: 'The answer',
  bare: true,
  on: ['measure'],
  render() {
    const about = aboutMeasure(state.measure);
    return [
      h('p.facts', null, facts().map((fact) => h('span', null, fact))),
      headline(),
      about && h('p.soft.small', null, `${state.measure}: ${about}. Advice and tests look at the last stage of every setting.`),
      DATA.notes.map((note) => h('p.soft.small', null, note)),
      DATA.missing.length ? h('p.soft.small', null, `Not in this folder, and so not shown: ${DATA.missing.map((name) => `${name}.csv`).join(', ')}.`) : null,
    ];
  },
});
