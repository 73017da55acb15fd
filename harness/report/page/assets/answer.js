// The verdict in full, and how it was reached.

function firstSummary() {
  return DATA.settings.map((_, i) => summary(i)).find(Boolean);
}

// documents.csv has a row for every parser that read a document
function documentsRead() {
  return DATA.counts.documents ?? DATA.documents.filter((one) => one.status !== 'skipped').length;
}

function facts() {
  const asked = DATA.queries.id.length;
  const first = firstSummary();
  const judge = DATA.record.judge?.name;
  return [
    count(DATA.settings.length, 'setting'),
    first && first.n < asked ? term(`${whole(first.n)} of ${count(asked, 'query', 'queries')} count`, DATA.left_out) : count(asked, 'query', 'queries'),
    DATA.documents.length ? count(documentsRead(), 'document') : null,
    judge ? gradedBy(judge) : null,
  ].filter(Boolean);
}

// Who graded, with what is to be known before its grades are trusted; of a file it is not known who did.
function gradedBy(judge) {
  if (judge === 'human') return term('grades from a label file', DATA.record.judge.file);
  return DATA.doubts.length ? [`graded by ${judge}, `, term('with warnings', DATA.doubts.join(' '))] : `graded by ${judge}`;
}

// How many queries count in the measure, and why others do not.
function counted() {
  const first = firstSummary();
  if (!first || first.n >= DATA.queries.id.length) return null;
  return `${whole(first.n)} of ${count(DATA.queries.id.length, 'query', 'queries')} count in ${state.measure}. ${DATA.left_out}`;
}

// The lines of the verdict beside its decision; the others say how it was reached.
const BESIDE = ['margin', 'next'];

function verdictLines(wanted, more = []) {
  const lines = [...(statistics().verdict?.lines || []).slice(1).filter((line) => wanted(line.role)), ...more];
  const { command, config } = statistics().glance?.next || {};
  const copied = (line) => line.role === 'next' && (config || command) && [' ', h('code', null, config || command)];
  return lines.length > 0 && h('dl.lines', null, lines.map((line) => [h('dt', null, line.label), h('dd.foreign', null, prose(line.text), copied(line))]));
}

// The verdict is of the last stage; while another one is shown it says so and steps back.
section({
  id: 'answer',
  title: 'The verdict',
  short: 'Verdict',
  on: ['measure', 'stage'],
  render() {
    const found = statistics();
    const decision = found.verdict?.lines[0];
    const about = aboutMeasure(state.measure);
    const aside = !atFinal() && decision;
    return [
      aside && h('p.small', null, h('b', null, `Stage ${state.stage} is chosen; the answer is of the last stage.`), ' The leader board below shows the chosen stage.'),
      h(`div${aside ? '.stepped-back' : ''}`, null,
        h('p.verdict', null, h('bdi', null, decision ? prose(decision.text) : found.why || 'There is nothing to compare.')),
        verdictLines((role) => BESIDE.includes(role))),
      about && h('p.soft.small', null, `${state.measure}: ${about}. The verdict is on the last stage of every setting.`),
    ];
  },
});

section({
  id: 'method',
  title: 'How it was tested',
  short: 'Method',
  on: ['measure'],
  render: () => [
    // the warnings of the verdict are those of the run that bear on its measure
    verdictLines(
      (role) => ![...BESIDE, 'warning'].includes(role),
      [['Queries', counted()], ...DATA.warnings.map((text) => ['Warning', text]), ...DATA.notes.map((text) => ['This page', text])]
        .filter(([, text]) => text).map(([label, text]) => ({ label, text })),
    ),
    DATA.missing.length ? h('p.soft.small', null, `Not in this folder, and so not shown: ${DATA.missing.map((name) => DATA.files[name]).join(', ')}.`) : null,
  ],
});
