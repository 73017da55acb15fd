// A grid painted in pixels, so that 50 settings × 1,000 queries stay quick; read by pointer and arrow keys.
//
// grid({label, rows: names, columns: count, fill(r, c): colour, text(r, c): what it says,
//       mark(r, c): text in the cell, open(r, c), start: [r, c], height, narrowest, widest, heads: names})

const PAPER = 430;

function grid(options) {
  const { rows, columns, height = rows.length > 30 ? 14 : 22 } = options;
  const canvas = h('canvas', {
    tabindex: 0, role: 'application', 'aria-roledescription': 'grid', 'aria-label': options.label,
    'data-keep': options.keep,
  });
  const cursor = h('div.cursor', { hidden: true });
  const readout = h('p.readout', { 'aria-live': 'polite' }, options.hint || '');
  const holder = h('div.grid-holder', null, canvas, cursor);
  const scroller = h('div.grid-scroll', null,
    options.heads && h('div.grid-heads.num', { 'aria-hidden': true }, options.heads.map((head) => h('span', null, head))),
    holder);
  const names = h('div.grid-names', null, rows.map((name) => h('div', { title: name, css: { height: `${height}px` } }, foreign(name))));
  const at = { r: options.start?.[0] ?? 0, c: options.start?.[1] ?? 0, width: 0 };

  const paint = () => {
    const room = scroller.clientWidth;
    if (!room || !columns) return;
    const printing = 'printing' in document.documentElement.dataset;
    // what is left of a sheet of A4 next to the names
    const width = printing ? Math.min(PAPER / columns, options.widest || 40) : Math.min(Math.max(room / columns, options.narrowest || 4), options.widest || 40);
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    at.width = width;
    canvas.width = Math.round(width * columns * sharp);
    canvas.height = Math.round(height * rows.length * sharp);
    canvas.style.width = `${width * columns}px`;
    canvas.style.height = `${height * rows.length}px`;
    holder.style.width = `${width * columns}px`;
    scroller.style.setProperty('--cell', `${width}px`);
    const pen = canvas.getContext('2d');
    pen.scale(sharp, sharp);
    const gap = width >= 6 ? 1 : 0;
    pen.font = '12px "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    const soft = color('ink-2');
    for (let r = 0; r < rows.length; r += 1) {
      for (let c = 0; c < columns; c += 1) {
        const fillStyle = options.fill(r, c);
        const mark = options.mark?.(r, c, width);
        if (fillStyle) {
          pen.fillStyle = fillStyle;
          // cells end on whole pixels, so that no seams show
          const left = Math.round(c * width);
          pen.fillRect(left, r * height, Math.round((c + 1) * width) - left - gap, height - 1);
        }
        if (mark) {
          pen.fillStyle = fillStyle ? inkOn(fillStyle) : soft;
          pen.fillText(mark, (c + 0.5) * width - gap / 2, (r + 0.5) * height);
        }
      }
    }
  };

  const move = (r, c, scroll = true) => {
    at.r = Math.min(Math.max(r, 0), rows.length - 1);
    at.c = Math.min(Math.max(c, 0), columns - 1);
    Object.assign(cursor.style, {
      width: `${Math.max(at.width, 4)}px`, height: `${height}px`, transform: `translate(${at.c * at.width}px, ${at.r * height}px)`,
    });
    cursor.hidden = false;
    [...names.children].forEach((name, i) => { name.classList.toggle('here', i === at.r); });
    swap(readout, options.text(at.r, at.c));
    options.moved?.(at.r, at.c);
    if (scroll && scroller.scrollWidth > scroller.clientWidth) {
      const middle = at.c * at.width - scroller.clientWidth / 2;
      if (Math.abs(middle - scroller.scrollLeft) > scroller.clientWidth / 2 - 2 * at.width) scroller.scrollLeft = middle;
    }
  };

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.floor((event.clientY - box.top) / height), Math.floor((event.clientX - box.left) / (box.width / columns))];
  };
  canvas.addEventListener('pointermove', (event) => { if (event.pointerType === 'mouse') move(...under(event), false); });
  canvas.addEventListener('click', (event) => {
    move(...under(event), false);
    options.open?.(at.r, at.c, canvas);
  });
  canvas.addEventListener('focus', () => move(at.r, at.c));
  canvas.addEventListener('blur', () => { cursor.hidden = true; });
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -columns], End: [0, columns], PageUp: [-rows.length, 0], PageDown: [rows.length, 0] }[event.key];
    if (step) {
      event.preventDefault();
      move(at.r + step[0], at.c + step[1]);
    } else if ((event.key === 'Enter' || event.key === ' ') && options.open) {
      event.preventDefault();
      options.open(at.r, at.c, canvas);
    }
  });
  new ResizeObserver(paint).observe(scroller);
  const node = h('div.grid', null, h('div.grid-body', null, names, scroller), readout, h('p.saves', null, svgButton(options.label.split('.')[0], () => gridText(options))));
  node.paint = paint;
  return node;
}
