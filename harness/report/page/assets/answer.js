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

function names(settings, most = 6) {
  const shown = settings.slice(0, most).flatMap((i, k) => [k ? ', ' : '', foreign(DATA.settings[i], 'b')]);
  return [shown, settings.length > most ? ` and ${settings.length - most} more` : ''];
}

function advice(found) {
  const { leader, named, contenders, cheapest, tokens, more_queries: more, best_share: share } = found.advice;
  const others = contenders.filter((i) => i !== named);
  const out = DATA.settings.length - contenders.length;
  return [
    [`It is the best one in ${percent(share[leader])} of bootstrap resamples of ${count(found.n, 'query', 'queries')}.`],
    others.length > (named === null ? 1 : 0) && ['Cannot be ruled out as the best: ', names(others), '.'],
    out > 0 && [`Ruled out as the best, by a one-sided test: ${count(out, 'setting')}.`],
    cheapest !== null && ['Cheapest of those that may be best: ', names([cheapest]), known(tokens) ? `, ${whole(tokens)} tokens to read.` : '.'],
    named === null && [known(more)
      ? `About ${whole(more)} more queries would settle it, if the differences stay as they are.`
      : 'More queries are not likely to settle it: the leaders do about equally well.'],
  ].filter(Boolean);
}

// The headline is of the last stage; while another one is shown it says so and steps back.
function lastStage(leader) {
  const name = DATA.stages[stageOf(leader, 'final')];
  return name === 'rerank' ? 'after reranking' : `at the last stage, ${name}`;
}

function headline() {
  const found = statistics();
  if (!found.advice?.contenders) {
    return [h('p.verdict', null, found.why || found.advice?.why || 'There is nothing to compare.')];
  }
  const { leader, named } = found.advice;
  const mean = summary(leader, { stage: 'final' });
  const value = mean && [' with ', h('b', null, fixed(mean.mean)), known(mean.low) && h('span.soft', null, ` (${range(mean.low, mean.high)})`)];
  const name = foreign(DATA.settings[leader], 'b');
  const stage = atFinal() ? null : h('span.stage-note', null, ` ${lastStage(leader)}`);
  const told = named !== null
    ? [name, ' has the best ', h('b', null, state.measure), value, stage, '.']
    : [found.n < FEWEST ? `${count(found.n, 'query', 'queries')} cannot name a setting. ` : 'No setting is clearly best. ', name, ' leads in ', h('b', null, state.measure), value, stage, '.'];
  return [
    stage && h('p.small', null, h('b', null, `Stage ${state.stage} is chosen; the answer is of the last stage.`), ' The leader board below shows the chosen stage.'),
    h(`div${stage ? '.stepped-back' : ''}`, null,
      h('p.verdict', null, told), h('ul.advice', null, advice(found).map((parts) => h('li', null, parts)))),
  ];
}

section({
  id: 'answer',
  title: 'The answer',
  bare: true,
  on: ['measure', 'stage'],
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
