// How the numbers came about: conventions, configuration, hashes, versions, models, time.

function pairs(entries, cell = (value) => foreign(String(value), 'span')) {
  return h('dl.pairs', null, entries.map(([key, value]) => h('div', null, h('dt', null, foreign(key, 'span')), h('dd', null, cell(value)))));
}

function fold(title, ...content) {
  return h('details', null, h('summary', null, title), content);
}

function documentsTitle() {
  const parsers = new Set(DATA.detail.parsers?.settings.filter(Boolean)).size;
  if (parsers < 2) return whole(DATA.documents.length);
  return `${whole(documentsRead() + (DATA.counts.documents_skipped ?? 0))}, read by ${parsers} parsers`;
}

function documentsTable() {
  if (!DATA.documents.length) return null;
  return table([
    { key: 'document', title: 'document', value: (d) => d.document, cell: (d) => foreign(String(d.document), 'span') },
    { key: 'status', title: 'status', value: (d) => d.status, cell: (d) => d.status },
    { key: 'pages', title: 'pages', num: true, value: (d) => d.pages, cell: (d) => whole(d.pages) },
    { key: 'characters', title: 'characters', num: true, value: (d) => d.characters, cell: (d) => whole(d.characters) },
    { key: 'reason', title: 'remarks', cell: (d) => foreign([d.reason, known(d.pages_without_text) ? `no text on pages ${d.pages_without_text}` : null].filter(Boolean).join('; '), 'span') },
  ], DATA.documents, { caption: 'Documents', keep: 'documents', most: 15 });
}

function labelsTable() {
  if (!DATA.labels.length) return null;
  return table([
    { key: 'query', title: 'query', value: (r) => r.query_id, cell: (r) => foreign(r.query_id) },
    { key: 'document', title: 'document', value: (r) => r.doc_id, cell: (r) => [foreign(r.doc_id), r.page ? ` p. ${r.page}` : ''] },
    { key: 'quote', title: 'quote', cell: (r) => foreign(r.quote, 'span') },
    { key: 'found', title: 'found in the text', cell: (r) => (r.accepted === 'no' ? h('b', null, 'not found') : foreign(r.found, 'span')) },
  ], DATA.labels, { caption: 'Labels to look at', keep: 'labels', most: 10 });
}

section({
  id: 'origin',
  title: 'How this came about',
  short: 'Origin',
  on: [],
  render() {
    const r = DATA.record;
    const labels = labelsTable();
    const models = Object.values(r.models || {}).map((m) => [
      m.name, [m.origin, m.dtype, m.backend, m.fingerprint].filter(Boolean).join(' '),
    ]);
    const flat = Object.entries(DATA.counts).filter(([, value]) => typeof value === 'number');
    return [
      h('p.lede', null, 'Everything that is needed to get these numbers again; ', h('code', null, 'record.json'), ' in the same folder has it in full.'),
      h('div.folds', null,
        fold(`Documents (${documentsTitle()})`, documentsTable()),
        labels && fold(`Labels to look at (${whole(DATA.labels.length)})`, h('p.small.soft', null, 'Not found in the extracted text, or found with other figures.'), labels),
        fold('Configuration', h('pre.config', null, foreign(JSON.stringify(r.config || {}, null, 2), 'span'))),
        fold('Files and their SHA-256', pairs(Object.entries(r.hashes || {}), (value) => h('code', null, value))),
        fold('Models', pairs(models, (value) => h('code', null, value))),
        fold('Versions and seeds', pairs([...Object.entries(r.versions || {}), ...Object.entries(r.seeds || {}).map(([key, value]) => [`seed: ${key}`, value]), ...(r.git?.commit ? [['commit', `${r.git.commit}${r.git.dirty ? ', with changes' : ''}`]] : [])])),
        fold('Time and counts', pairs([...Object.entries(r.timings || {}).map(([key, value]) => [key, seconds(value)]), ...flat.map(([key, value]) => [key.replaceAll('_', ' '), whole(value)])])),
        Object.keys(r.judge || {}).length ? fold('Judge', pairs(Object.entries({ ...r.judge, ...(r.cost || {}) }).map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : value]))) : null),
    ];
  },
});

section({
  id: 'conventions',
  title: 'Conventions behind every number',
  short: 'Conventions',
  on: [],
  render: () => h('ul.conventions', null, DATA.conventions.map((text) => h('li', null, text)),
    h('li', null, `intervals of means: ${confidence(DATA.level)} `, term('bootstrap'), ' over queries; of differences: ', term('paired'), `, t with a guard against skewness; none is drawn below ${FEWEST} queries`),
    h('li', null, 'a setting is called better or worse where the interval of the difference, of one ', term('sign-flip test'), ' of all pairs of settings at once, excludes 0, over at least 30 queries')),
});
