// Charts with one row per setting: the name as wrapping text on the left, a drawing in percent next to it.

function percentOf(from, to) {
  const at = linear(from, to, 0, 100);
  return (value) => `${Math.min(Math.max(at(value), -2), 102).toFixed(3)}%`;
}

// The axis below the rows, and lines through all of them.
function axis(ticks, place, text = tickText(ticks)) {
  return h('div.axis', { 'aria-hidden': true },
    ticks.map((tick) => h('span', { css: { left: place(tick) } }, text(tick))));
}

function gridlines(ticks, place) {
  return ticks.map((tick) => g('line.gridline', { x1: place(tick), x2: place(tick), y1: 0, y2: '100%' }));
}

// Mean as a dot, interval as a bar.
function whisker(row, place, { y = '50%', kind = '', r = 4.5 } = {}) {
  if (!row || !known(row.mean)) return null;
  return g(`g.whisker${kind ? `.${kind}` : ''}`, null,
    known(row.low) && g('line', { x1: place(row.low), x2: place(row.high), y1: y, y2: y }),
    g('circle', { cx: place(row.mean), cy: y, r }));
}

function strip(children, { height = 22, label = '' } = {}) {
  return g('svg.strip', { width: '100%', height, role: label ? 'img' : null, 'aria-label': label || null, 'aria-hidden': label ? null : true }, children);
}

// rows: [{setting, drawing, value, note}]; the value is in its own column as text
function rowChart(rows, { ticks, place, head = null, caption }) {
  const figure = h('figure.rows', { 'aria-label': caption },
    head,
    h('div.row-list', null, rows.map((row) => h('div.row', null,
      h('div.row-name', null, foreign(row.name, 'span'), row.badge || null),
      h('div.row-value.num', null, row.value),
      h('div.row-plot', null, row.drawing)))),
    h('div.row.row-axis', null, h('div.row-name'), h('div.row-value'), h('div.row-plot', null, axis(ticks, place))),
    h('p.saves.row-saves', null, svgButton(caption, () => rowsText(figure))));
  return figure;
}

function legend(entries) {
  return h('ul.legend', null, entries.map(([kind, text]) => h('li', null, h(`i.key.${kind}`, { 'aria-hidden': true }), text)));
}

function badge(kind, text, title) {
  return h(`span.badge.${kind}`, { title }, text);
}
