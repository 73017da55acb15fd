// Tables as CSV and drawings as SVG, made here and handed to the browser as a file: nothing is sent.

function saveFile(name, type, text) {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(what, ending) {
  const plain = `${DATA.name}-${what}`.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 80);
  return `${plain || 'table'}.${ending}`;
}

function textIn(content) {
  const node = h('span', null, content);
  for (const one of node.querySelectorAll('.hidden')) one.remove();
  return node.textContent.trim();
}

// Numbers as they are; text as it is shown, behind an apostrophe where a spreadsheet would take it for a formula.
function csvCell(value) {
  if (!known(value)) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(columns, rows) {
  const shown = columns.filter((one) => !one.pageOnly);
  const cell = (one, row) => {
    if (one.file) return one.file(row);
    const value = one.value?.(row);
    if (one.num && (typeof value === 'number' || !known(value))) return value;
    const text = textIn(one.cell(row));
    return text === NONE ? '' : text;
  };
  const lines = [shown.map((one) => one.head ?? one.key), ...rows.map((row) => shown.map((one) => cell(one, row)))];
  return lines.map((line) => line.map(csvCell).join(',')).join('\n').concat('\n');
}

// A column that only files have.
function fileColumn(key, value) {
  return { key, fileOnly: true, file: value };
}

// The two bounds of what `row` returns, each a column.
function boundColumns(row, before = '') {
  return ['low', 'high'].map((end) => fileColumn(`${before}${end}`, (one) => row(one)?.[end]));
}

function csvButton(what, columns, rows) {
  return h('button.save', {
    type: 'button', 'aria-label': `Save the table ${what} as CSV`,
    onclick: () => saveFile(fileName(what, 'csv'), 'text/csv;charset=utf-8', csvOf(columns, rows())),
  }, 'CSV');
}

const STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'paint-order', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline'];

// color(srgb 0.5 0 1 / 0.3), as browsers compute mixed colours, in the older form that every program reads.
function olderColor(value) {
  return value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)/g, (_, r, v, b, a) => {
    const parts = [r, v, b].map((part) => Math.round(255 * Number(part)));
    return a === undefined ? `rgb(${parts.join(', ')})` : `rgba(${parts.join(', ')}, ${a})`;
  });
}

// A copy of a drawing that carries its style with it.
function styled(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const own = getComputedStyle(from[i]);
    node.removeAttribute('class');
    for (const name of STYLES) {
      const value = own.getPropertyValue(name);
      if (value) node.setAttribute(name, olderColor(value));
    }
  });
  return copy;
}

function serialised(svg, width, height) {
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) svg.setAttribute(key, value);
  svg.prepend(g('rect', { width, height, fill: color('surface') }));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

function svgText(svg) {
  const box = svg.getBoundingClientRect();
  const [width, height] = [Math.round(box.width), Math.round(box.height)];
  const [keys, top] = keysOf(svg, width);
  const copy = styled(svg);
  for (const [key, value] of Object.entries({ y: top, width, height })) copy.setAttribute(key, value);
  return serialised(g('svg', null, keys, copy), width, top + height);
}

function words(text, x, y, more = {}) {
  return g('text', { x, y, 'font-family': getComputedStyle(document.body).fontFamily, 'font-size': 12, fill: color('ink'), 'dominant-baseline': 'middle', ...more }, text);
}

// The width of a column of names: that of the widest, and at least `least`.
function roomFor(names, least) {
  const pen = h('canvas').getContext('2d');
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(Math.max(least, ...names.map((name) => pen.measureText(name).width + 24)));
}

// The mark of an entry of a legend: what the page paints by its style sheet, or draws.
function markOf(key, x, y) {
  const own = getComputedStyle(key);
  const copy = key.matches('svg') ? styled(key) : g('rect', {
    width: 13, height: 13, rx: own.borderRadius === '50%' ? 6.5 : 3, opacity: own.opacity, fill: olderColor(own.backgroundColor),
    stroke: olderColor(own.borderTopColor), 'stroke-width': parseFloat(own.borderTopWidth),
  });
  copy.setAttribute('x', x);
  copy.setAttribute('y', y - 7);
  return copy;
}

// The legend in or before the figure of a drawing, and the height that it takes at this width.
function keysOf(drawing, width) {
  const figure = drawing.closest('figure, .two-rankings');
  const legend = [figure?.querySelector('.legend'), figure?.previousElementSibling].find((one) => one?.matches('.legend'));
  const parts = [];
  let [x, y] = [10, 16];
  for (const entry of legend?.children ?? []) {
    const mark = entry.firstElementChild;
    const [text, wide] = [textIn([...entry.cloneNode(true).childNodes]), Number(mark.getAttribute('width') ?? 13) + 7];
    const room = wide + roomFor([text], 0);
    if (x > 10 && x + room > width) [x, y] = [10, y + 20];
    parts.push(markOf(mark, x, y), words(text, x + wide, y));
    x += room;
  }
  return [parts, legend ? y + 16 : 0];
}

// A chart of rows: names and values as text, each strip in its place.
function rowsText(figure) {
  const rows = [...figure.querySelectorAll('.row-list > .row')];
  const nameOfRow = (row) => textIn([...row.querySelector('.row-name').cloneNode(true).childNodes].map((one) => [one, ' ']));
  const [names, values, drawn] = [roomFor(rows.map(nameOfRow), 230), 130, 520];
  const [parts, top] = keysOf(figure, names + values + drawn);
  let y = top + 14;
  for (const row of rows) {
    const strip = row.querySelector('svg.strip');
    const height = Math.max(26, (strip?.getBoundingClientRect().height || 22) + 6);
    parts.push(words(nameOfRow(row), 10, y + height / 2));
    parts.push(words(textIn([...row.querySelector('.row-value').cloneNode(true).childNodes]), names + values - 12, y + height / 2, { 'text-anchor': 'end' }));
    if (strip) {
      const copy = styled(strip);
      for (const [key, value] of Object.entries({ x: names + values, y: y + 3, width: drawn, height: height - 6, overflow: 'visible' })) copy.setAttribute(key, value);
      parts.push(copy);
    }
    y += height;
  }
  for (const tick of figure.querySelectorAll('.row-axis .axis span')) {
    parts.push(words(tick.textContent, names + values + (drawn * parseFloat(tick.style.left)) / 100, y + 12, { 'text-anchor': 'middle', fill: color('ink-2') }));
  }
  return serialised(g('svg', null, parts), names + values + drawn + 30, y + 28);
}

// A grid that is painted in pixels on the page, as rectangles.
function gridText({ rows, columns, fill, mark, heads }) {
  const names = roomFor(rows, 240);
  const cell = Math.min(Math.max(900 / columns, 4), 40);
  const top = heads ? 22 : 6;
  const parts = rows.map((name, r) => [
    words(name, 8, top + r * 22 + 11),
    Array.from({ length: columns }, (_, c) => {
      const [x, y] = [names + c * cell, top + r * 22];
      const paint = fill(r, c);
      const label = mark?.(r, c, cell);
      return [
        paint ? g('rect', { x, y, width: cell - (cell > 6 ? 1 : 0), height: 21, fill: paint }) : null,
        label ? words(label, x + cell / 2, y + 11, { 'text-anchor': 'middle', fill: paint ? inkOn(paint) : color('ink-2') }) : null,
      ];
    }),
  ]);
  const above = (heads || []).map((head, c) => words(head, names + (c + 0.5) * cell, 12, { 'text-anchor': 'middle' }));
  return serialised(g('svg', null, parts, above), Math.ceil(names + columns * cell + 10), top + rows.length * 22 + 8);
}

function svgButton(what, make) {
  return h('button.save', {
    type: 'button', 'aria-label': `Save the drawing ${what} as SVG`,
    onclick: () => saveFile(fileName(what, 'svg'), 'image/svg+xml', make()),
  }, 'SVG');
}
