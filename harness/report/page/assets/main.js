// Start: unpack, build the sections, draw them.

function stageOptions() {
  return [['final', 'last stage'], ...DATA.stages.map((name) => [name, name])];
}

function drawControls() {
  const splits = ['all', ...['train', 'validation'].filter((name) => DATA.summary[name])];
  swap(byId('controls'), h('div.wide.tools', null,
    select('measure', DATA.measures.map((name) => [name, name]), state.measure, (measure) => choose({ measure }), { id: 'measure' }),
    DATA.stages.length > 1 && select('stage', stageOptions(), state.stage, (stage) => choose({ stage }), { id: 'stage' }),
    splits.length > 2 && select('queries', splits.map((name) => [name, name]), state.split, (split) => choose({ split }), { id: 'split' })));
}

section({
  id: 'sync',
  on: ['stage'],
  render: () => { if (byId('stage')) byId('stage').value = state.stage; return null; },
});

function build() {
  const main = byId('main');
  const contents = byId('contents');
  swap(main);
  for (const one of sections) {
    one.body = h('div.body');
    one.node = h(`section${one.bare ? '.bare' : ''}`, { id: one.id, 'aria-label': one.title }, one.bare || !one.title ? null : h('h2', null, one.title), one.body);
    main.append(one.node);
    drawOne(one);
    if (!one.bare && one.title && !one.node.hidden) contents.append(h('li', null, h('a', { href: `#${one.id}` }, one.short || one.title)));
  }
}

async function start() {
  try {
    await unpack();
  } catch (error) {
    byId('loading').textContent = `This page cannot unpack its data: it needs a browser of 2023 or newer. (${error.message})`;
    return;
  }
  state.measure = DATA.headline || DATA.measures[0];
  const order = ranked();
  state.a = order[0] ?? 0;
  state.b = order[1] ?? state.a;
  byId('brand').append(foreign(DATA.name, 'b'), h('span.soft', null, ' retrieval benchmark'));
  startTheme();
  startDrill();
  drawControls();
  build();
  drawFooter();
  document.documentElement.dataset.ready = '';
}

start();
