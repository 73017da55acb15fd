// The choices of the reader. A section says which choices it depends on and is drawn again when they change;
// its `shown` is called once it may be in sight.

const state = { view: '', measure: '', stage: 'final', split: 'all', find: '', type: '', order: 'spread', a: 0, b: 1, chosen: -1, worst: -1, named: '', factors: '', group: '', price: '', folded: '' };
const sections = [];

function section(one) {
  sections.push(one);
}

function choose(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  if (!changed.length) return;
  follow();
  draw((one) => one.on.some((key) => changed.includes(key)));
  remember(changed.every((key) => QUIET.includes(key)));
}

function draw(which = () => true) {
  for (const one of sections) if (one.body && which(one)) drawOne(one);
}

function drawOne(one) {
  const focused = one.body.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
  const content = one.render();
  const empty = content === null || content === undefined;
  one.node.hidden = empty;
  if (empty) return;
  swap(one.body, content);
  one.shown?.(one);
  // at once, and not when the observer gets to it: printing does not wait
  for (const grid of one.body.querySelectorAll('.grid')) grid.paint();
  if (focused) one.body.querySelector(`[data-keep="${focused}"]`)?.focus({ preventScroll: true });
}

function startTheme() {
  const repaint = () => draw((one) => one.painted);
  const show = (name) => {
    byId('theme').textContent = `Theme: ${name}`;
    repaint();
  };
  show(useTheme());
  byId('theme').addEventListener('click', () => show(turnTheme()));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  const redraw = () => {
    for (const one of document.querySelectorAll('.table')) one.showRows?.();
    for (const one of document.querySelectorAll('.plot')) one.redraw();
  };
  // paper is white: what is painted in pixels is painted anew for it; and it is narrow
  addEventListener('beforeprint', () => {
    document.documentElement.dataset.printing = '';
    for (const one of document.querySelectorAll('main details:not(.fold, [open])')) {
      one.open = true;
      one.dataset.opened = '';
    }
    repaint();
    redraw();
    for (const grid of document.querySelectorAll('.grid')) grid.paint();
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset.printing;
    for (const one of document.querySelectorAll('[data-opened]')) {
      one.open = false;
      delete one.dataset.opened;
    }
    repaint();
    redraw();
  });
}

// A colour of the theme in force, as rgb(): the variable itself holds those of both themes.
function color(name) {
  const probe = byId('probe');
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}
