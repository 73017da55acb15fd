// Start: unpack, build the sections, draw them.

function stageOptions() {
  return [['final', 'last stage'], ...DATA.stages.map((name) => [name, name])];
}

// On paper the controls are gone: a line says what was chosen.
function sayChoices() {
  byId('choices').textContent = `${state.measure}, ${state.stage === 'final' ? 'last stage' : `stage ${state.stage}`}, ${state.split} queries`;
}

function drawControls() {
  const splits = ['all', ...['train', 'validation'].filter((name) => DATA.summary[name])];
  sayChoices();
  swap(byId('controls'), h('div.wide.tools', null,
    select('measure', DATA.measures.map((name) => [name, name]), state.measure, (measure) => choose({ measure }), { id: 'measure' }),
    DATA.stages.length > 1 && select('stage', stageOptions(), state.stage, (stage) => choose({ stage }), { id: 'stage' }),
    splits.length > 2 && select('queries', splits.map((name) => [name, name]), state.split, (split) => choose({ split }), { id: 'split' })));
}

section({
  id: 'sync',
  on: ['measure', 'stage', 'split'],
  render: () => {
    for (const key of ['measure', 'stage', 'split']) if (byId(key)) byId(key).value = state[key];
    sayChoices();
    return null;
  },
});

function build() {
  const main = byId('main');
  const contents = byId('contents');
  swap(main);
  for (const one of sections) {
    one.body = h('div.body');
    const folds = !one.bare && one.title;
    one.node = h(`section${one.bare ? '.bare' : ''}`, { id: one.id, 'aria-label': one.title }, folds
      ? h('details.fold', { open: true, ontoggle: (event) => noteFold(one.id, event.target.open) }, h('summary', null, h('h2', null, one.title)), one.body)
      : one.body);
    main.append(one.node);
    drawOne(one);
    if (!one.bare && one.title && !one.node.hidden) contents.append(h('li', null, h('a', { href: `#${one.id}`, onclick: (event) => goTo(event, one) }, one.short || one.title)));
  }
}

// Going to a section keeps the choices in the address.
function goTo(event, one) {
  event.preventDefault();
  const fold = one.node.querySelector(':scope > details.fold');
  if (fold) fold.open = true;
  one.node.scrollIntoView();
  fold?.querySelector('summary').focus({ preventScroll: true });
}

async function start() {
  if (!hasColours()) {
    byId('loading').textContent = `This page cannot show its colours: ${NEEDS}.`;
    return;
  }
  try {
    await unpack();
  } catch (error) {
    byId('loading').textContent = `This page cannot unpack its data: ${NEEDS}. (${error.message})`;
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
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('main').focus();
  });
  startAddress();
  document.documentElement.dataset.ready = '';
}

start();
