// The verdict by people's labels, and the effect of more of them on the interval. Where they correct a model's
// grades this is the headline, and comes before the leader board, which is by the model alone.

section({
  id: 'people',
  title: 'By people’s labels',
  on: [],
  render() {
    const found = DATA.by_labels;
    if (!found) return null;
    return [
      found.leads && h('p.lede', null, 'The grades of the language model, corrected by those of people. The leader board below is by the model alone.'),
      found.tables.map(({ title, columns, rows }) => [h('h3', null, title), table(
        columns.map((name, i) => ({
          key: name, title: name, num: i > 0, value: (row) => (i ? Number.parseFloat(row[i].replace(/^[^\d-]+/, '')) : row[i]),
          cell: (row) => (i ? row[i] : foreign(row[i], 'span')),
        })),
        rows, { caption: title, label: (row) => row[0] },
      )]),
    ];
  },
});
