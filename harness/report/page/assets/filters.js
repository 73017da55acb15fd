// The documents that filters left, and for how many queries that was wrong.

const FILTERS = {
  queries: ['queries', 'queries', whole],
  named: ['name something', 'queries that name a value of the table', whole],
  dropped: ['column set aside', 'queries for which no document has all that is named', whole],
  left: ['documents left', 'documents left, mean over the queries', (x) => fixed(x, 1)],
  of: ['of', 'documents searched without the filter', whole],
  labelled: ['labelled', 'queries with labelled documents', whole],
  wrong: ['wrong', 'queries for which a labelled document is left out', whole],
  failed: ['failed', 'queries without a usable answer of a language model', whole],
};

section({
  id: 'filters',
  title: 'Filters',
  on: [],
  render() {
    const rows = DATA.filters || [];
    if (!rows.length) return null;
    return [
      h('p.lede', null, `A filter keeps the search to the documents that a query names, or raises them. It is wrong where a document with labelled text is left out; ${DATA.files.filters} lists every query.`),
      table([
        settingColumn((r) => r.setting),
        { key: 'step', title: 'step', value: (r) => r.step, cell: (r) => r.step },
        ...Object.keys(FILTERS).map((key) => ({ key, title: FILTERS[key][0], about: FILTERS[key][1], num: true, value: (r) => r[key], cell: (r) => FILTERS[key][2](r[key]) })),
      ], rows, { caption: 'Filters by setting', keep: 'filters', most: 30 }),
    ];
  },
});
