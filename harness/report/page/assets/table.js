// Tables that sort by their headers, keep the first column in sight and walk by arrow keys.
//
// columns: {key, title, value(row): what to sort by, cell(row): what to show, file(row): what to save, head: its header there, fileOnly,
// pageOnly, num, about, wide}
// options: {caption, sort, down, open(row), label(row), picked(row): whether it is the chosen one, most, keep}

// A sheet has all settings, and of thousands of queries the first.
const PAPER_ROWS = 200;

function table(every, rows, options = {}) {
  const columns = every.filter((one) => !one.fileOnly);
  const kept = table.kept[options.keep] || { sort: options.sort ?? null, down: options.down ?? true, all: false };
  if (options.keep) table.kept[options.keep] = kept;
  const head = h('tr');
  const body = h('tbody');
  const more = h('p.more');
  const paper = h('p.on-paper.small');
  const save = h('p.saves', null, csvButton(options.caption, every, () => sorted()));

  const sorted = () => {
    const column = columns.find((one) => one.key === kept.sort);
    if (!column) return rows;
    const sign = kept.down ? -1 : 1;
    return rows.map((row, i) => [column.value(row), i, row]).sort((x, y) => {
      if (known(x[0]) !== known(y[0])) return known(x[0]) ? -1 : 1;
      const order = typeof x[0] === 'string' ? x[0].localeCompare(y[0], 'en', { numeric: true }) : x[0] - y[0];
      return sign * order || x[1] - y[1];
    }).map(([, , row]) => row);
  };

  const show = () => {
    const all = sorted();
    const some = 'printing' in document.documentElement.dataset ? PAPER_ROWS : options.most;
    const most = options.most && !kept.all ? Math.min(some, all.length) : all.length;
    swap(paper, most < all.length ? `The first ${whole(most)} of ${whole(all.length)} rows.` : '');
    swap(body, all.slice(0, most).map((row, i) => line(columns, row, i, options)));
    for (const cell of head.children) {
      const own = cell.dataset.key === kept.sort;
      cell.setAttribute('aria-sort', own ? (kept.down ? 'descending' : 'ascending') : 'none');
    }
    swap(more, most < all.length
      ? h('button.quiet', { type: 'button', onclick: () => { kept.all = true; show(); } }, `Show all ${whole(all.length)}`)
      : '');
    more.hidden = most >= all.length;
  };

  swap(head, columns.map((column) => h(`th${column.num ? '.num' : ''}`, { scope: 'col', 'data-key': column.key },
    column.value
      ? heading(column, h('button.sort', {
        type: 'button',
        'data-keep': `${options.keep || ''}-${column.key}`,
        onclick: () => {
          kept.down = kept.sort === column.key ? !kept.down : Boolean(column.num);
          kept.sort = column.key;
          show();
        },
      }, column.title))
      : column.title)));
  show();
  if (options.open) body.addEventListener('keydown', walk);
  const node = h('div.table', null,
    edged(h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Table: ${options.caption}` },
      h('table', null, h('caption.hidden', null, options.caption), h('thead', null, head), body))),
    more, paper, save);
  node.showRows = show;
  return node;
}

// A header that says what its column holds.
function heading({ about, title }, button) {
  const said = about || (typeof title === 'string' ? aboutTerm(title) : '');
  return said ? explained(button, said) : button;
}

// A hint where columns do not fit, a shadow at the right edge while some are hidden there, a line beside the first column
// once some are on the left.
function edged(scroller) {
  const hint = h('p.sideways', { hidden: true }, 'Scroll sideways for more columns');
  const box = h('div.edged', null, scroller);
  const look = () => {
    hint.hidden = scroller.scrollWidth <= scroller.clientWidth + 4;
    box.classList.toggle('goes-on', scroller.scrollLeft + scroller.clientWidth < scroller.scrollWidth - 4);
    box.classList.toggle('began', scroller.scrollLeft > 4);
  };
  scroller.addEventListener('scroll', look, { passive: true });
  const watch = new ResizeObserver(look);
  watch.observe(scroller);
  watch.observe(scroller.firstElementChild);
  return [hint, box];
}
table.kept = {};

// A long name of a measure may break before its cut-off.
function breakable(measure) {
  return measure.split(/(?=[@(])/).flatMap((part, k) => (k ? [h('wbr'), part] : [part]));
}

function line(columns, row, place, options) {
  const node = h('tr', options.open ? {
    class: options.picked?.(row) ? 'opens picked' : 'opens', tabindex: place === 0 ? 0 : -1, 'aria-label': options.label?.(row),
    onclick: (event) => { if (!event.target.closest('a, button')) options.open(row, node); },
  } : null,
  columns.map((column, i) => h(`${i === 0 ? 'th' : 'td'}${column.num ? '.num' : ''}${column.wide ? '.wide-cell' : ''}`,
    i === 0 ? { scope: 'row' } : null, column.cell(row))));
  if (options.open) node.openRow = () => options.open(row, node);
  return node;
}

function walk(event) {
  const row = event.target.closest('tr');
  if (!row || event.target !== row) return;
  const rows = [...row.parentNode.children];
  const at = rows.indexOf(row);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    row.openRow();
  } else if (to !== undefined) {
    event.preventDefault();
    const next = rows[Math.min(Math.max(to, 0), rows.length - 1)];
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
