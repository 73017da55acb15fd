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
    // a sentence among the items of a list
    first && first.n < asked && DATA.left_out ? `l${DATA.left_out.slice(1, -1)}` : null,
    DATA.documents.length ? count(DATA.documents.filter((d) => d.status !== 'skipped').length, 'document') : null,
    judge ? `graded by ${judge === 'human' ? 'people' : judge}` : null,
  ].filter(Boolean);
}

// The answer is of the last stage; while another one is shown it says so and steps back.
function verdict() {
  const found = statistics();
  const lines = found.verdict?.lines;
  if (!lines) {
    return [
      h('p.verdict', null, found.why || 'There is nothing to compare.'),
      DATA.warnings.length > 0 && h('dl.lines', null, DATA.warnings.map((text) => [h('dt', null, 'Warning'), h('dd', null, foreign(text, 'span'))])),
    ];
  }
  const [decision, ...rest] = lines;
  const aside = !atFinal();
  return [
    aside && h('p.small', null, h('b', null, `Stage ${state.stage} is chosen; the answer is of the last stage.`), ' The leader board below shows the chosen stage.'),
    h(`div${aside ? '.stepped-back' : ''}`, null,
      h('p.verdict', null, h('bdi', null, decision.text)),
      h('dl.lines', null, rest.map((line) => [h('dt', null, line.label), h('dd', null, foreign(line.text, 'span'))]))),
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
      verdict(),
      about && h('p.soft.small', null, `${state.measure}: ${about}. The verdict is on the last stage of every setting.`),
      DATA.notes.map((note) => h('p.soft.small', null, note)),
      DATA.missing.length ? h('p.soft.small', null, `Not in this folder, and so not shown: ${DATA.missing.map((name) => `${name}.csv`).join(', ')}.`) : null,
    ];
  },
});
