import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';

const HARNESS = new URL('../../harness/', import.meta.url);
const text = (path) => readFileSync(new URL(path, HARNESS), 'utf8');
const source = (path) => text(path).replace(/^import .*/gm, '').replace(/^export /gm, '');
const imported = (path) => [...text(path).matchAll(/^import \{(.*)\}/gm)].flatMap((found) => found[1].split(',').map((name) => name.trim()));
const theme = source('report/page/assets/theme.js');

// A browser that knows the CSS function light-dark(), or does not, and a page in which nothing else works.
async function said(script, known) {
  const nodes = { loading: {}, main: {} };
  const context = createContext({
    ...Object.fromEntries(imported(script).map((name) => [name, () => {}])),
    nodes,
    CSS: { supports: (_name, value) => known || !value.includes('light-dark') },
    byId: (id) => nodes[id],
    section: () => {},
    unpack: () => { throw new Error('no data'); },
    shared: {},
    get: () => { throw new Error('no server'); },
    h: (_name, _attributes, words) => words,
    swap: (node, words) => { node.textContent = words; },
  });
  runInContext(`const { hasColours, NEEDS } = (() => { ${theme}\nreturn { hasColours, NEEDS }; })();\n${source(script)}`, context);
  await new Promise((resolve) => { setTimeout(resolve); });
  return nodes.loading.textContent ?? nodes.main.textContent;
}

test('the report asks a browser without its colours for a newer one', async () => {
  const main = 'report/page/assets/main.js';
  assert.equal(await said(main, false), 'This page cannot show its colours: it needs a browser from mid-2024 or later.');
  assert.equal(await said(main, true), 'This page cannot unpack its data: it needs a browser from mid-2024 or later. (no data)');
});

test('so does the labelling page', async () => {
  const main = 'labels/label_page/assets/main.js';
  assert.equal(await said(main, false), 'The page cannot start: it needs a browser from mid-2024 or later');
  assert.equal(await said(main, true), 'The page cannot start: no server');
});
