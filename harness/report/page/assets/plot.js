// Plots with two axes, drawn anew for the width they have, so that text keeps its size.

// as wide as the text on a sheet of A4, in pixels of the style sheet
const SHEET = 640;

function plot(label, height, drawing) {
  const box = h('div.plot', { css: { 'min-height': `${height}px` } });
  let last = 0;
  const redraw = () => {
    const width = Math.min(Math.floor(box.clientWidth), 'printing' in document.documentElement.dataset ? SHEET : Infinity);
    if (!width || width === last) return;
    last = width;
    swap(box, g('svg', { viewBox: `0 0 ${width} ${height}`, width, role: 'img', 'aria-label': label }, drawing(width, height)));
  };
  new ResizeObserver(redraw).observe(box);
  box.redraw = redraw;
  return [box, h('p.saves', null, svgButton(label.split(';')[0], () => svgText(box.querySelector('svg'))))];
}

// Axes with lines of a grid; x and y are {ticks, at, title, text}.
function frame(width, height, margin, x, y) {
  const bottom = height - margin.bottom;
  return [
    y.ticks.map((tick) => [
      g('line.gridline', { x1: margin.left, x2: width - margin.right, y1: y.at(tick), y2: y.at(tick) }),
      g('text.tick', { x: margin.left - 8, y: y.at(tick), 'text-anchor': 'end', 'dominant-baseline': 'middle' }, y.text(tick)),
    ]),
    x.ticks.map((tick) => [
      g('line.gridline', { x1: x.at(tick), x2: x.at(tick), y1: bottom, y2: bottom + 5 }),
      g('text.tick', { x: x.at(tick), y: bottom + 19, 'text-anchor': 'middle' }, x.text(tick)),
    ]),
    g('line.axis-line', { x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom }),
    g('text.axis-title', { x: (margin.left + width - margin.right) / 2, y: height - 4, 'text-anchor': 'middle' }, x.title),
    g('text.axis-title', { x: margin.left - 8, y: 12, 'text-anchor': 'start', transform: `translate(${8 - margin.left}, 0)` }, y.title),
  ];
}

function path(points) {
  return points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
}

// One of six shapes, so that lines can be told apart without colour.
function shape(kind, x, y, r, attributes = {}) {
  const at = { transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, ...attributes };
  const polygon = (points) => g('polygon', { points: points.map(([a, b]) => `${(a * r).toFixed(2)},${(b * r).toFixed(2)}`).join(' '), ...at });
  switch (kind % 6) {
    case 1: return polygon([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]);
    case 2: return polygon([[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]);
    case 3: return polygon([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]);
    case 4: return polygon([[0, 1.2], [1.1, -0.8], [-1.1, -0.8]]);
    case 5: return polygon([[-1.2, -0.4], [-0.4, -0.4], [-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4]]);
    default: return g('circle', { r, ...at });
  }
}

// Labels next to points, moved apart so that none covers another; those without room are left out.
function labels(points, [least, most], { size = 12, taken = [] } = {}) {
  const boxes = [...taken];
  const out = [];
  for (const { x, y, text, kind } of points) {
    const short = text.length > 34 ? `${text.slice(0, 33)}…` : text;
    const long = short.length * size * 0.56;
    const places = [[10, 4], [-10 - long, 4], [-long / 2, -12], [-long / 2, 22], [10, -10], [10, 18], [-10 - long, -10], [-10 - long, 18]];
    const free = places.map(([dx, dy]) => ({ left: x + dx, right: x + dx + long, top: y + dy - size, bottom: y + dy + 3, dx, dy }))
      .find((box) => box.left > least && box.right < most && box.top > 14
        && boxes.every((other) => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom));
    if (!free) continue;
    boxes.push(free);
    out.push(g(`text.point-label${kind ? `.${kind}` : ''}`, { x: free.left, y: free.bottom - 3 }, short));
  }
  return out;
}
