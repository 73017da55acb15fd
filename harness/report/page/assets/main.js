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
  swap(byId('controls'), h('div.wide.tools', null,
    select('measure', DATA.measures.map((name) => [name, name]), state.measure, (measure) => choose({ measure }), { id: 'measure' }),
    DATA.stages.length > 1 && select('stage', stageOptions(), state.stage, (stage) => choose({ stage }), { id: 'stage' }),
    splits.length > 2 && select('queries', splits.map((name) => [name, name]), state.split, (split) => choose({ split }), { id: 'split' })));
  follow();
}

// The controls and the view, after a choice.
function follow() {
  for (const key of ['measure', 'stage', 'split']) if (byId(key)) byId(key).value = state[key];
  sayChoices();
  showView();
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
  startNames();
  state.view = anyGlance() ? 'glance' : 'compare';
  state.measure = DATA.headline || DATA.measures[0];
  const order = ranked();
  state.a = order[0] ?? 0;
  state.b = order[1] ?? state.a;
  byId('brand').append(foreign(DATA.name, 'b'), h('span.soft', null, ' retrieval benchmark'));
  startTheme();
  startTips();
  startDrill();
  buildViews();
  drawControls();
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('main').focus();
  });
  startAddress();
  document.documentElement.dataset.ready = '';
}

start();
